package dnsserver

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"time"
)

// Sizes of the messages of a transfer, in octets: when the next one is begun, and
// how long one can be.
const (
	transferFull = 16 << 10
	transferMost = maxMessage
)

// errTooLong: a record does not fit into a message with its signature.
var errTooLong = errors.New("a record is too long for a message")

// messages packs records into the messages of a transfer.
type messages struct {
	t     *transfer
	zone  *zone
	buf   []byte
	n     int
	count uint16
	write func(msg []byte) error
	err   error
	total int // records
}

// fits says whether a record leaves a message within a limit.
func (m *messages) fits(r raw, limit int) bool {
	return m.n+len(r.owner)-len(m.zone.wire)+2+len(r.rest) <= limit
}

// put writes a record: its owner is compressed against the zone's name, which is
// the question's.
func (m *messages) put(r raw) {
	m.n += copy(m.buf[m.n:], r.owner[:len(r.owner)-len(m.zone.wire)])
	binary.BigEndian.PutUint16(m.buf[m.n:], ownerPointer)
	m.n += 2 + copy(m.buf[m.n+2:], r.rest)
	m.count++
	m.total++
}

// add takes a record, and sends the message that is full. It is false when
// nothing more can be sent.
func (m *messages) add(r raw) bool {
	most := transferMost - m.t.fixed
	if m.n > len(m.t.head) && (m.n > transferFull || !m.fits(r, most)) {
		m.flush()
	}
	if m.err == nil && !m.fits(r, most) {
		m.err = errTooLong
	}
	if m.err != nil {
		return false
	}
	m.put(r)
	return true
}

// flush sends the message.
func (m *messages) flush() {
	if m.err != nil {
		return
	}
	binary.BigEndian.PutUint16(m.buf[6:], m.count)
	n := m.n
	if opt := m.t.opt; opt != nil {
		n += copy(m.buf[n:], opt)
		m.buf[11], m.t.opt = 1, nil
	}
	if s := m.t.signer; s != nil {
		n = s.sign(m.buf, n, &signature{time: uint64(m.t.server.now().Unix()), fudge: fudge})
	}
	if m.err = m.write(m.buf[:n]); m.err == nil {
		m.begin()
	}
}

func (m *messages) begin() { m.n, m.count = copy(m.buf, m.t.head), 0 }

// sendZone sends the zone that was granted over a connection, in messages built
// in buf, where used octets wait of what was asked before it. It says whether the
// connection is to go on.
func (s *Server) sendZone(c *stream, w *worker, buf []byte, used int) bool {
	t := w.sending
	w.sending = nil
	defer s.transfer.now.Add(-1)
	if used > 0 && s.write(c, buf[:used]) != nil {
		return false
	}
	kind, counter := "whole", &s.transfer.full
	if t.diffs != nil {
		kind, counter = "changes", &s.transfer.incremental
	}
	octets := 0
	records, err := t.send(buf[2:2+maxMessage], func(msg []byte) error {
		binary.BigEndian.PutUint16(buf, uint16(len(msg)))
		octets += len(msg)
		if s.conns.stopping() {
			return net.ErrClosed // a long transfer must not hold up the end
		}
		return s.write(c, buf[:2+len(msg)])
	})
	log := s.log.With("zone", zoneKey(t.zone), "to", c.from, "serial", t.serial, "kind", kind, "records", records, "octets", octets)
	if err != nil {
		s.transfer.failed.Add(1)
		log.Warn("sending a zone failed", "error", err)
		return false
	}
	counter.Add(1)
	w.count.reply(0)
	log.Info("sent a zone")
	return true
}

// write sends octets that the client must take in time.
func (s *Server) write(c *stream, b []byte) error {
	timeout := writeTimeout
	if s.conns.stopping() {
		timeout = stopTimeout
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	c.touch()
	_, err := c.conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.tcpCounts.drop(dropLate)
	}
	c.touch()
	return err
}

// errEnough ends a transfer of which no more is wanted.
var errEnough = errors.New("enough")

// firstOf gives the first message of the zone that was granted.
func (w *worker) firstOf(dst []byte) (msg []byte) {
	t := w.sending
	w.sending = nil
	defer w.server.transfer.now.Add(-1)
	_, _ = t.send(dst, func(b []byte) error { msg = b; return errEnough }) // it always ends so
	return msg
}
