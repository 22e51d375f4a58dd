package probes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// exchange asks a server one question, over UDP and TCP.
type exchange struct {
	query   *dns.Msg
	packed  []byte // the query
	expect  []netip.Addr
	server  netip.AddrPort
	timeout time.Duration
}

// run asks over UDP and, after half of the time or as soon as UDP has failed,
// over TCP as well. The first verdict ends both; no goroutine outlives the
// call. The error says why there was no verdict.
func (x *exchange) run(ctx context.Context) (sites.Check, error) {
	ctx, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	var udp, tcp sites.Check
	var udpErr, tcpErr error
	udpEnded := make(chan struct{})
	var wg sync.WaitGroup
	var panics [2]any
	wg.Go(func() {
		defer close(udpEnded)
		defer carry(&panics[0])
		if udp, udpErr = x.udp(ctx); udpErr == nil {
			cancel()
		}
	})
	wg.Go(func() {
		defer carry(&panics[1])
		if tcpErr = x.awaitTurn(ctx, udpEnded); tcpErr != nil {
			return
		}
		if tcp, tcpErr = x.tcp(ctx); tcpErr == nil {
			cancel()
		}
	})
	wg.Wait()
	for _, v := range panics {
		if v != nil {
			panic(v) // in the caller's goroutine, which may recover from it
		}
	}
	switch {
	case udpErr == nil:
		return udp, nil
	case tcpErr == nil:
		return tcp, nil
	case timedOut(tcpErr) && !errors.Is(udpErr, errTruncated):
		return sites.Check{}, udpErr // it may say more
	default:
		return sites.Check{}, tcpErr
	}
}

// carry keeps a panic of a goroutine for the one that waits for it.
func carry(into *any) { *into = recover() }

// awaitTurn waits until it is time for TCP.
func (x *exchange) awaitTurn(ctx context.Context, udpEnded <-chan struct{}) error {
	half := time.NewTimer(x.timeout / 2)
	defer half.Stop()
	select {
	case <-half.C:
	case <-udpEnded:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// errTruncated: the answer has to be fetched over TCP.
var errTruncated = errors.New("the answer over UDP is truncated")

// errForeign: a message does not answer our question.
var errForeign = errors.New("the message does not belong to the question")

// udp sends the question up to three times, so that a lost packet is not taken
// for a silent resolver. The socket is connected: the kernel drops what comes
// from elsewhere.
func (x *exchange) udp(ctx context.Context) (sites.Check, error) {
	var d net.Dialer
	conn, err := d.DialUDP(ctx, "udp", netip.AddrPort{}, x.server)
	if err != nil {
		return sites.Check{}, err
	}
	defer conn.Close()
	const sends = 3
	buf := make([]byte, 4096)
	for i := 1; ; i++ {
		if _, err := conn.Write(x.packed); err != nil {
			return sites.Check{}, err
		}
		wait := x.timeout / 4
		if i == sends {
			wait = x.timeout
		}
		c, err := x.listenUDP(ctx, conn, wait, buf)
		if err == nil || !timedOut(err) || i == sends || ctx.Err() != nil {
			return c, err
		}
	}
}

// listenUDP reads until a verdict, an error, or the end of the wait.
func (x *exchange) listenUDP(ctx context.Context, conn *net.UDPConn, wait time.Duration, buf []byte) (sites.Check, error) {
	if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return sites.Check{}, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return sites.Check{}, err
		}
		c, err := judgeDNS(x.query, buf[:n], x.expect, true)
		if !errors.Is(err, errForeign) {
			return c, err
		}
	}
}

func (x *exchange) tcp(ctx context.Context) (sites.Check, error) {
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, x.server)
	if err != nil {
		return sites.Check{}, err
	}
	defer conn.Close()
	_ = conn.SetLinger(0) // leaves no port waiting; nothing is lost by it
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	msg := binary.BigEndian.AppendUint16(nil, uint16(len(x.packed)))
	if _, err := conn.Write(append(msg, x.packed...)); err != nil {
		return sites.Check{}, err
	}
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return sites.Check{}, err
		}
		buf := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, buf); err != nil {
			return sites.Check{}, err
		}
		c, err := judgeDNS(x.query, buf, x.expect, false)
		if !errors.Is(err, errForeign) {
			return c, err
		}
	}
}

// judgeDNS judges one message that came from the server. It gives errForeign
// for one that is not a response to the query, and errTruncated for one whose
// addresses are needed and may be cut (over UDP).
func judgeDNS(query *dns.Msg, data []byte, expect []netip.Addr, udp bool) (sites.Check, error) {
	var m dns.Msg
	unpackErr := m.Unpack(data)
	if !answers(query, &m) {
		return sites.Check{}, errForeign
	}
	if unpackErr != nil && udp && m.Truncated {
		return sites.Check{}, errTruncated // cut in the middle of a record
	}
	if unpackErr != nil {
		return sites.Check{}, errForeign
	}
	rcode := rcodeName(m.Rcode)
	if len(expect) == 0 {
		return up("answers with " + rcode), nil
	}
	if udp && m.Truncated {
		return sites.Check{}, errTruncated
	}
	if m.Rcode != dns.RcodeSuccess {
		return down(CauseDNSRcode, "answers with %s where addresses of ours are expected", rcode), nil
	}
	return judgeAddresses(addresses(&m), expect), nil
}

// answers says whether m is a response to the query (RFC 5452 section 9.1).
func answers(query, m *dns.Msg) bool {
	if !m.Response || m.Id != query.Id || m.Opcode != query.Opcode || len(m.Question) != 1 {
		return false
	}
	q, want := m.Question[0], query.Question[0]
	return q.Qtype == want.Qtype && q.Qclass == want.Qclass &&
		dns.CanonicalName(q.Name) == dns.CanonicalName(want.Name)
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", rcode)
}

func addresses(m *dns.Msg) []netip.Addr {
	var found []netip.Addr
	for _, rr := range m.Answer {
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A
		case *dns.AAAA:
			ip = rr.AAAA
		}
		if a, ok := netip.AddrFromSlice(ip); ok {
			found = append(found, a.Unmap())
		}
	}
	return found
}

// judgeAddresses holds what was answered against what may be.
func judgeAddresses(found, expect []netip.Addr) sites.Check {
	if len(found) == 0 {
		return down(CauseDNSAnswer, "answers without an address")
	}
	for _, a := range found {
		ours := false
		for _, e := range expect {
			ours = ours || e.Unmap() == a
		}
		if !ours {
			return down(CauseDNSAnswer, "answers %s, which is none of the expected addresses", a)
		}
	}
	return up(fmt.Sprintf("answers %s", found[0]))
}
