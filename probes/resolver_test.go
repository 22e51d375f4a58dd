package probes

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// reply is a datagram or a TCP message for a query; nil for silence.
type reply func(q *dns.Msg) []byte

// dnsServer answers every query over UDP with all of udp, and over TCP with all
// of tcp. A transport without replies is closed.
func dnsServer(t *testing.T, udp, tcp []reply) (port int) {
	t.Helper()
	port = closedPort(t) // over UDP and TCP
	if tcp != nil {
		listenAt(t, port, func(c net.Conn) { serveDNSOverTCP(c, tcp) })
	}
	if udp == nil {
		return port
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFromUDP(buf)
			if err != nil {
				return
			}
			var q dns.Msg
			if q.Unpack(buf[:n]) != nil {
				continue
			}
			for _, r := range udp {
				if m := r(&q); m != nil {
					_, _ = conn.WriteToUDP(m, from)
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return port
}

func serveDNSOverTCP(c net.Conn, replies []reply) {
	defer c.Close()
	co := dns.Conn{Conn: c}
	q, err := co.ReadMsg()
	if err != nil {
		return
	}
	for _, r := range replies {
		m := r(q)
		if m == nil {
			_, _ = c.Read(make([]byte, 1)) // until the prober goes
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(m))), m...)); err != nil {
			return
		}
	}
}

// answered makes a reply with an rcode and addresses, changed by f.
func answered(rcode int, f func(*dns.Msg), addrs ...string) reply {
	return func(q *dns.Msg) []byte {
		m := new(dns.Msg)
		m.SetRcode(q, rcode)
		for _, a := range addrs {
			rr, err := dns.NewRR(q.Question[0].Name + " 60 IN " + dns.TypeToString[q.Question[0].Qtype] + " " + a)
			if err != nil {
				panic(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		if f != nil {
			f(m)
		}
		b, err := m.Pack()
		if err != nil {
			panic(err)
		}
		return b
	}
}

func silence(*dns.Msg) []byte { return nil }

func garbage(*dns.Msg) []byte { return bytes.Repeat([]byte{0xC0}, 100) }

// A resolver that answers would count as silent and stop all failover of its
// site, or something else that answers in its place would stand as proof that
// the line works (O3).
func TestResolver(t *testing.T) {
	right := answered(dns.RcodeSuccess, nil, "127.0.0.1")
	ours := answered(dns.RcodeSuccess, nil, "10.1.0.11", "10.1.0.12")
	wrongID := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Id++ }, "127.0.0.1")
	wrongQuestion := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Question[0].Name = "example.com." }, "127.0.0.1")
	wrongType := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeMX })
	noQuestion := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Question = nil })
	query := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Response = false })
	truncated := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Truncated = true; m.Answer = nil })
	cut := func(q *dns.Msg) []byte {
		m := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Truncated = true }, "10.1.0.11")(q)
		return m[:len(m)-5]
	}
	onlyOurs := []netip.Addr{netip.MustParseAddr("10.1.0.11"), netip.MustParseAddr("10.1.0.12"), netip.MustParseAddr("10.1.0.13")}
	tests := []struct {
		name     string
		udp, tcp []reply
		expect   []netip.Addr
		timeout  time.Duration
		want     want
	}{
		{"answers", []reply{right}, nil, nil, soon, want{sites.Up, ""}},
		{"SERVFAIL", []reply{answered(dns.RcodeServerFailure, nil)}, nil, nil, soon, want{sites.Up, ""}},
		{"REFUSED", []reply{answered(dns.RcodeRefused, nil)}, nil, nil, soon, want{sites.Up, ""}},
		{"rcode without a name", []reply{answered(15, nil)}, nil, nil, soon, want{sites.Up, ""}},
		{"in other letters", []reply{answered(0, func(m *dns.Msg) { m.Question[0].Name = "LocalHost." })}, nil, nil, soon, want{sites.Up, ""}},
		{"truncated will do", []reply{truncated}, nil, nil, soon, want{sites.Up, ""}},
		{"closed", nil, nil, nil, soon, want{sites.Down, CauseRefused}},
		{"silent", []reply{silence}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"silent, TCP closed", []reply{silence}, nil, nil, 2 * never, want{sites.Down, CauseTimeout}},
		{"TCP only", nil, []reply{right}, nil, soon, want{sites.Up, ""}},
		{"silent over UDP", []reply{silence}, []reply{right}, nil, 6 * time.Second, want{sites.Up, ""}},
		{"TCP closes", nil, []reply{}, nil, soon, want{sites.Down, CauseEOF}},
		{"wrong ID", []reply{wrongID}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"wrong question", []reply{wrongQuestion}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"wrong type", []reply{wrongType}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"no question", []reply{noQuestion}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"the query itself", []reply{query}, []reply{silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"garbage", []reply{garbage}, []reply{garbage, silence}, nil, never, want{sites.Down, CauseTimeout}},
		{"wrong answers, then the right one", []reply{wrongID, garbage, wrongQuestion, right}, nil, nil, soon, want{sites.Up, ""}},
		{"the same over TCP", nil, []reply{wrongID, garbage, wrongQuestion, right}, nil, soon, want{sites.Up, ""}},
		{"addresses of ours", []reply{ours}, nil, onlyOurs, soon, want{sites.Up, ""}},
		{"an address of others", []reply{answered(0, nil, "10.1.0.11", "192.0.2.1")}, nil, onlyOurs, soon, want{sites.Down, CauseDNSAnswer}},
		{"no address", []reply{answered(0, nil)}, nil, onlyOurs, soon, want{sites.Down, CauseDNSAnswer}},
		{"no such name", []reply{answered(dns.RcodeNameError, nil)}, nil, onlyOurs, soon, want{sites.Down, CauseDNSRcode}},
		{"truncated", []reply{truncated}, []reply{ours}, onlyOurs, soon, want{sites.Up, ""}},
		{"cut in a record", []reply{cut}, []reply{ours}, onlyOurs, soon, want{sites.Up, ""}},
		{"truncated, TCP closed", []reply{truncated}, nil, onlyOurs, soon, want{sites.Down, CauseRefused}},
		{"truncated, TCP silent", []reply{truncated}, []reply{silence}, onlyOurs, 2 * never, want{sites.Down, CauseTimeout}},
		{"truncated over TCP as well", []reply{truncated}, []reply{answered(0, func(m *dns.Msg) { m.Truncated = true }, "10.1.0.11")}, onlyOurs, soon, want{sites.Up, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Resolver{Port: dnsServer(t, tt.udp, tt.tcp), Expect: tt.expect}
			if c := ask(t, p, "127.0.0.1", tt.timeout); verdict(c) != tt.want {
				t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
			}
		})
	}
}

// An answer that somebody else sends would prove a line that is cut.
func TestResolverSpoofedSource(t *testing.T) {
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := server.ReadFromUDP(buf)
			if err != nil {
				return
			}
			var q dns.Msg
			if q.Unpack(buf[:n]) == nil {
				_, _ = other.WriteToUDP(answered(0, nil, "127.0.0.1")(&q), from)
			}
		}
	}()
	t.Cleanup(func() {
		_, _ = server.Close(), other.Close()
		<-done
	})
	c := ask(t, Resolver{Port: server.LocalAddr().(*net.UDPAddr).Port}, "127.0.0.1", never)
	if c.Outcome != sites.Down {
		t.Errorf("%+v", c)
	}
}

// One lost packet would count as a silent resolver.
func TestResolverSendsAgain(t *testing.T) {
	var queries atomic.Int32
	lossy := func(q *dns.Msg) []byte {
		if queries.Add(1) < 3 {
			return nil
		}
		return answered(0, nil, "::1")(q)
	}
	p := Resolver{Ask: "localhost", Type: "aaaa", Port: dnsServer(t, []reply{lossy}, []reply{silence})}
	if c := ask(t, p, "127.0.0.1", 6*time.Second); c.Outcome != sites.Up {
		t.Errorf("%+v after %d queries", c, queries.Load())
	}
}

// What is asked would not be what the configuration says.
func TestResolverQuestion(t *testing.T) {
	tests := []struct {
		name  string
		probe Resolver
		want  string
		bad   bool
	}{
		{"default", Resolver{}, ";localhost.\tIN\t A", false},
		{"given", Resolver{Ask: "app.example.lan", Type: "AAAA"}, ";app.example.lan.\tIN\t AAAA", false},
		{"unknown type", Resolver{Type: "QQ"}, "", true},
		{"unusable name", Resolver{Ask: "a..b"}, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := make(chan string, 3)
			port := dnsServer(t, []reply{func(q *dns.Msg) []byte {
				asked <- q.Question[0].String()
				return answered(0, nil)(q)
			}}, nil)
			tt.probe.Port = port
			c := ask(t, tt.probe, "127.0.0.1", soon)
			got := ""
			if !tt.bad {
				got = <-asked
			}
			if got != tt.want || (c.Cause == string(CauseLocalConfig)) != tt.bad {
				t.Errorf("got %q, want %q; %+v", got, tt.want, c)
			}
		})
	}
	ids := map[uint16]bool{}
	for range 20 {
		var x exchange
		if err := x.question("localhost.", ""); err != nil {
			t.Fatal(err)
		}
		ids[x.query.Id] = true
	}
	if len(ids) < 15 {
		t.Errorf("only %d IDs in 20 queries: others could guess them", len(ids))
	}
}

// TCP would be asked too late to answer within the deadline, or without need.
func TestExchangeAwaitsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := exchange{timeout: 2 * time.Second}
		start := time.Now()
		if err := x.awaitTurn(t.Context(), make(chan struct{})); err != nil || time.Since(start) != time.Second {
			t.Errorf("with silence over UDP: %v after %v", err, time.Since(start))
		}
		failed := make(chan struct{})
		close(failed)
		start = time.Now()
		if err := x.awaitTurn(t.Context(), failed); err != nil || time.Since(start) != 0 {
			t.Errorf("with UDP refused: %v after %v", err, time.Since(start))
		}
	})
}

// A panic in a goroutine of the probe would end the controller, where one in
// the probe itself would not.
func TestExchangeCarriesPanics(t *testing.T) {
	port := dnsServer(t, []reply{answered(0, nil)}, nil)
	x := exchange{timeout: soon, server: serverOf(netip.MustParseAddr("127.0.0.1"), port)} // without a judge
	if err := x.question("localhost.", ""); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the panic did not reach the caller")
		}
	}()
	_, _ = x.run(t.Context())
}

// A message made to break the parser would break the controller, or prove a
// line that nobody has answered on.
func FuzzResolverAnswer(f *testing.F) {
	query := new(dns.Msg)
	query.SetQuestion("localhost.", dns.TypeA)
	query.Id = 4711
	expect := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	for _, r := range []reply{
		answered(0, nil, "127.0.0.1"), answered(dns.RcodeServerFailure, nil), garbage,
		answered(0, func(m *dns.Msg) { m.Truncated = true }, "127.0.0.1", "192.0.2.1"),
	} {
		f.Add(r(query), true)
		f.Add(r(query), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, udp bool) {
		for _, e := range [][]netip.Addr{nil, expect} {
			x := exchange{query: query, judge: Resolver{Expect: e}.judge, whole: len(e) > 0}
			c, err := x.message(t.Context(), data, udp)
			if err == nil && (len(data) < 12 || binary.BigEndian.Uint16(data) != query.Id || data[2]&0x80 == 0) {
				t.Fatalf("a verdict %+v by what is no response of ours", c)
			}
			if err == nil && (c.Outcome == sites.Up) != (c.Cause == "") {
				t.Fatalf("%+v", c)
			}
			if err == nil && len(e) == 0 && c.Outcome != sites.Up {
				t.Fatalf("a response to our question does not count: %+v", c)
			}
		}
	})
}
