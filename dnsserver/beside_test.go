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
func besideQuestions(zone []dns.RR, hosts ...string) (out []dns.Question) {
	var names []string
	for _, rr := range zone {
		for name := rr.Header().Name; name != "lan."; _, name, _ = strings.Cut(name, ".") {
			names = append(names, name, "x."+name, "x.y."+name, "*."+name)
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
		return out
	}
	out := fmt.Sprintf("%s aa=%v\n%s", dns.RcodeToString[m.Rcode], m.Authoritative, strings.Join(sorted(m.Answer), "\n"))
	if len(m.Answer) == 0 {
		out += "\nauthority:\n" + strings.Join(sorted(m.Ns), "\n")
	}
	return out
}

// If this fails, this server answers some question as neither NSD nor Knot does
// from the same zone: it or the transfer is wrong.
func TestBesideOthers(t *testing.T) {
	const limit = time.Minute // for a start on a busy machine
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
	client := &dns.Client{Net: "tcp", Timeout: time.Minute} // no answer is cut off
	var conns []*dns.Conn
	for _, addr := range []netip.AddrPort{primary, nsd, knot} {
		conn, err := client.DialContext(t.Context(), addr.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // nothing is lost
		conns = append(conns, conn)
	}
	questions := besideQuestions(zone, "app.example.lan.", "x.apps.example.lan.", "apps.example.lan.", "tv.example.lan.")
	for _, q := range questions {
		var all []string
		for i, conn := range conns {
			m := &dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id()}, Question: []dns.Question{q}}
			in, _, err := client.ExchangeWithConnContext(t.Context(), m, conn)
			if err != nil {
				t.Fatalf("server %d: %s %s: %v", i, q.Name, dns.Type(q.Qtype), err)
			}
			all = append(all, gist(in))
		}
		if all[0] != all[1] && all[0] != all[2] {
			t.Errorf("%s %s\nhere %s\nNSD %s\nKnot %s", q.Name, dns.Type(q.Qtype), all[0], all[1], all[2])
		}
	}
	t.Logf("%d questions", len(questions))
}
