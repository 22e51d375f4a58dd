//go:build unix

package dnsserver

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// besideZone has what authoritative servers answer alike. Others see a name below
// a DNAME, or a zone inside another, in ways of their own, and know nothing of
// the shorter negative TTL of services' names.
func besideZone(t *testing.T) []dns.RR {
	t.Helper()
	return slices.DeleteFunc(records(t, strings.Replace(lanZone, "86400 900", "86400 60", 1)), func(rr dns.RR) bool {
		name := rr.Header().Name
		return strings.HasPrefix(name, "under.moved.") || strings.HasPrefix(name, "inner.")
	})
}

// besideQuestions are all names of a zone, names beside and below them, each with
// all types.
func besideQuestions(apex string, zone []dns.RR, hosts ...string) (out []dns.Question) {
	var names []string
	for _, rr := range zone {
		for name := rr.Header().Name; dns.IsSubDomain(apex, name); {
			for _, below := range []string{"", "x.", "x.y.", "*."} {
				if _, ok := dns.IsDomainName(below + name); ok {
					names = append(names, below+name)
				}
			}
			next, end := dns.NextLabel(name, 0)
			if end {
				break
			}
			name = name[next:]
		}
	}
	names = append(names, hosts...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, t := range []uint16{
			dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDNAME,
			dns.TypeMX, dns.TypeTXT, dns.TypeDS, dns.TypePTR, dns.TypeHTTPS, 65280,
		} {
			out = append(out, dns.Question{Name: name, Qtype: t, Qclass: dns.ClassINET})
		}
	}
	return out
}

// gist writes what counts of an answer: rcode, AA, answers, and the authority of
// negative answers and referrals, where servers agree.
func gist(m *dns.Msg) string {
	sorted := func(rrs []dns.RR) []string {
		out := lines(rrs)
		slices.Sort(out)
		return slices.Compact(out) // others repeat some records of chains
	}
	out := fmt.Sprintf("%s aa=%v\n%s", dns.RcodeToString[m.Rcode], m.Authoritative, strings.Join(sorted(m.Answer), "\n"))
	if len(m.Answer) == 0 {
		out += "\nauthority:\n" + strings.Join(sorted(m.Ns), "\n")
	}
	return out
}

// tcpServer is a server that is asked over one connection: no answer is cut off.
type tcpServer struct {
	addr netip.AddrPort
	conn *dns.Conn
}

func dialTCP(t *testing.T, addr netip.AddrPort) *tcpServer {
	t.Helper()
	c := &dns.Client{Net: "tcp", Timeout: time.Minute}
	conn, err := c.DialContext(t.Context(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // nothing is lost
	return &tcpServer{addr, conn}
}

func (s *tcpServer) ask(t *testing.T, q dns.Question) *dns.Msg {
	t.Helper()
	c := &dns.Client{Net: "tcp", Timeout: time.Minute}
	m := &dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id()}, Question: []dns.Question{q}}
	in, _, err := c.ExchangeWithConnContext(t.Context(), m, s.conn)
	if err != nil {
		t.Fatalf("%s: %s %s: %v", s.addr, q.Name, dns.Type(q.Qtype), err)
	}
	return in
}

// withGlue is gist and, of a referral, the addresses that go with it.
func withGlue(m *dns.Msg) string {
	if m.Authoritative {
		return gist(m)
	}
	glue := lines(m.Extra)
	slices.Sort(glue)
	return gist(m) + "\nglue:\n" + strings.Join(glue, "\n")
}

// If this fails, this server answers some question as neither NSD nor Knot does
// from the same zone: it or the transfer is wrong.
func TestBesideOthers(t *testing.T) {
	const limit = 3 * time.Minute // for a start on a busy machine
	cfg := transferConfig(t)
	zone := besideZone(t)
	cfg.Zones = []Zone{{Name: "example.lan", Records: zone, Transfer: &Transfer{Allow: prefixes("127.0.0.0/8"), Keys: []string{"xfr.example.lan"}, Site: "berlin"}}}
	cfg.DefaultSite = "berlin"
	cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	cfg.Services = slices.DeleteFunc(cfg.Services, func(s Service) bool { return s.Pool != "default" && s.Pool != "streaming" })
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11", "10.1.0.12", "fd00:1::11"))
	s.SetAnswer("berlin", "streaming", answer("10.1.0.21"))
	s.SetAnswer("hamburg", "default", answer("10.2.0.11"))
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	primary, nsd, knot := s.Addrs()[0], daemontest.Addr(t), daemontest.Addr(t)
	startNSD(t, nsd, primary, "example.lan")
	startKnot(t, knot, primary, "example.lan")
	give(t, "NSD", nsd, "tv.example.lan.", limit, "tv.example.lan. 30 A 10.1.0.21")
	give(t, "Knot", knot, "tv.example.lan.", limit, "tv.example.lan. 30 A 10.1.0.21")
	here, atNSD, atKnot := dialTCP(t, primary), dialTCP(t, nsd), dialTCP(t, knot)
	questions := besideQuestions("example.lan.", zone, "app.example.lan.", "x.apps.example.lan.", "apps.example.lan.", "tv.example.lan.")
	for _, q := range questions {
		us, other, third := withGlue(here.ask(t, q)), withGlue(atNSD.ask(t, q)), withGlue(atKnot.ask(t, q))
		if us != other && us != third {
			t.Errorf("%s %s\nhere %s\nNSD %s\nKnot %s", q.Name, dns.Type(q.Qtype), us, other, third)
		}
	}
	t.Logf("%d questions", len(questions))
}
