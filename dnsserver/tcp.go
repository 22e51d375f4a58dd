package dnsserver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// Limits of TCP (RFC 7766 section 6.2, RFC 9210 section 4).
const (
	maxTCPQuery  = 4096 // octets of a query
	firstTimeout = 2 * time.Second
	idleTimeout  = 10 * time.Second
	// messageTimeout is absolute: octets that trickle in do not lengthen it.
	messageTimeout = 5 * time.Second
	writeTimeout   = 5 * time.Second
	// stopTimeout is for writes while the server stops.
	stopTimeout = time.Second
	// flushAt is how many octets of answers are gathered for pipelined queries.
	flushAt = 16 << 10
)

// newAnswers makes the buffer of a connection's answers on their way out. It has
// one only while it answers.
func newAnswers() any {
	b := make([]byte, flushAt+2+maxMessage)
	return &b
}

// accept takes connections until the listener is stopped.
func (s *Server) accept(l *listener) {
	var wait time.Duration
	for {
		conn, err := l.streams.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || !s.pause(&wait, l.done, err) {
				return
			}
			continue
		}
		wait = 0
		var from netip.Addr
		if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
			from = a.AddrPort().Addr().Unmap()
		}
		if sn := s.snap.Load(); sn.allow.filled && sn.allow.find(from) == none {
			s.tcpCounts.drop(dropStranger)
			_ = conn.Close() // a stranger is told nothing
			continue
		}
		c := &stream{conn: conn, from: from}
		s.conns.add(c)
		s.net.wg.Go(func() {
			defer s.conns.remove(c)
			s.serveStream(c)
		})
	}
}

// serveStream answers a connection's messages one after another; those that have
// come in together are answered together.
func (s *Server) serveStream(c *stream) {
	w := &worker{server: s, count: s.tcpCounts, turn: s.turn.Add(1)}
	w.signs.turn = &s.signing.turn
	r := bufio.NewReaderSize(c.conn, 2+maxTCPQuery)
	timeout := firstTimeout
	for {
		n, err := s.await(c, r, timeout)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && r.Buffered() > 0 {
				w.count.drop(dropLate)
			}
			return
		}
		if n > maxTCPQuery {
			w.count.drop(dropOversize)
			return
		}
		if !s.answerStream(c, r, w) {
			return
		}
		timeout = idleTimeout
	}
}

// await waits for a whole message and gives its length.
func (s *Server) await(c *stream, r *bufio.Reader, idle time.Duration) (int, error) {
	if err := s.conns.deadline(c, idle); err != nil {
		return 0, err
	}
	if _, err := r.Peek(1); err != nil {
		return 0, err
	}
	if n := whole(r); n > 0 {
		return n, nil
	}
	if err := s.conns.deadline(c, messageTimeout); err != nil {
		return 0, err
	}
	head, err := r.Peek(2)
	if err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint16(head))
	if n > maxTCPQuery {
		return n, nil
	}
	_, err = r.Peek(2 + n)
	return n, err
}

// whole gives the length of the next message where all of it has been read, else
// 0.
func whole(r *bufio.Reader) int {
	if r.Buffered() < 2 {
		return 0
	}
	head, err := r.Peek(2)
	if err != nil {
		return 0
	}
	n := int(binary.BigEndian.Uint16(head))
	if r.Buffered() < 2+n {
		return 0
	}
	return n
}

// answerStream answers the whole messages that have been read. It says whether
// to go on.
func (s *Server) answerStream(c *stream, r *bufio.Reader, w *worker) bool {
	buf, ok := s.answers.Get().(*[]byte)
	if !ok {
		return false
	}
	defer s.answers.Put(buf)
	out, used, more, sent := *buf, 0, true, false
	for n := peekLen(r); more && n > 0 && used < flushAt; n = whole(r) {
		msg, err := r.Peek(2 + n)
		if err != nil {
			return false
		}
		size := w.respond(out[used+2:used+2+maxMessage], msg[2:], c.from, true)
		if _, err := r.Discard(2 + n); err != nil {
			return false
		}
		if w.sending != nil {
			if !s.sendZone(c, w, out, used) {
				return false
			}
			used, sent = 0, true
			continue
		}
		if size == 0 {
			more = false // nothing that deserves an answer will follow
			break
		}
		binary.BigEndian.PutUint16(out[used:], uint16(size))
		used += 2 + size
	}
	if used > 0 && s.write(c, out[:used]) != nil {
		return false
	}
	return more && (sent || used > 0)
}

// peekLen gives the length of the message that has been waited for.
func peekLen(r *bufio.Reader) int {
	head, err := r.Peek(2)
	if err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint16(head))
}
