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
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// exchange asks a server one question, over UDP and TCP.
type exchange struct {
	query   *dns.Msg
	packed  []byte // the query
	server  netip.AddrPort
	timeout time.Duration
	// judge gives the verdict on a response to the query. whole says that it
	// needs all of the response, so that a truncated one is fetched over TCP.
	judge func(*dns.Msg) sites.Check
	whole bool
}

// serverOf gives the server at an address; port 0 means 53.
func serverOf(addr netip.Addr, port int) netip.AddrPort {
	if port == 0 {
		port = 53
	}
	return netip.AddrPortFrom(addr, uint16(port))
}

// question makes the query, with a random ID. The error is one of the
// configuration.
func (x *exchange) question(name, typ string) error {
	rrtype, err := recordType(typ)
	if err != nil {
		return err
	}
	x.query = new(dns.Msg)
	x.query.SetQuestion(dns.Fqdn(name), rrtype)
	if x.packed, err = x.query.Pack(); err != nil {
		return fmt.Errorf("ask for the name %q: %w", name, err)
	}
	return nil
}

// run asks over UDP and, after half of the time or as soon as UDP has failed,
// over TCP as well. The first verdict ends both; no goroutine outlives the
// call. The error says why there was no verdict.
func (x *exchange) run(ctx context.Context) (sites.Check, error) {
	watch(ctx).address(x.server)
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
		step := watch(ctx).begin("udp")
		if udp, udpErr = x.udp(ctx); udpErr == nil {
			cancel()
		}
		step.end(udpErr)
	})
	wg.Go(func() {
		defer carry(&panics[1])
		if tcpErr = x.awaitTurn(ctx, udpEnded); tcpErr != nil {
			return
		}
		step := watch(ctx).begin("tcp")
		if tcp, tcpErr = x.tcp(ctx); tcpErr == nil {
			cancel()
		}
		step.end(tcpErr)
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
	default:
		return sites.Check{}, telling(udpErr, tcpErr)
	}
}

// telling gives the one of two errors that says more: UDP's where this machine has not
// let the question out, for a server need not listen for TCP (O1), and where it is about
// time, for a port that is closed to TCP says little.
func telling(udp, tcp error) error {
	errno, ok := errors.AsType[syscall.Errno](udp)
	switch {
	case errors.Is(udp, errTruncated):
		return tcp
	case ok && ours(faultOf(errno)), timedOut(tcp), timedOut(udp):
		return udp
	default:
		return tcp
	}
}

// ours says whether a fault is this machine's own, whatever address is asked.
func ours(f fault) bool {
	switch f {
	case noDescriptor, noBuffer, noPort, forbidden:
		return true
	default:
		return false
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
		c, err := x.message(ctx, buf[:n], true)
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
		c, err := x.message(ctx, buf, false)
		if !errors.Is(err, errForeign) {
			return c, err
		}
	}
}

// message judges one message that came from the server. It gives errForeign
// for one that is not a response to the query, and errTruncated for one that is
// needed as a whole and may be cut (over UDP).
func (x *exchange) message(ctx context.Context, data []byte, udp bool) (sites.Check, error) {
	var m dns.Msg
	unpackErr := m.Unpack(data)
	if !answers(x.query, &m) {
		return sites.Check{}, errForeign
	}
	if udp && m.Truncated && (x.whole || unpackErr != nil) {
		return sites.Check{}, errTruncated // perhaps in the middle of a record
	}
	if unpackErr != nil {
		return sites.Check{}, errForeign
	}
	watch(ctx).message(&m)
	return x.judge(&m), nil
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
