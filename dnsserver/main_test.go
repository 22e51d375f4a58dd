package dnsserver

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/proptest"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) {
	proptest.Fix()
	goleak.VerifyTestMain(m)
}

// lanZone has one of everything that a zone can hold.
const lanZone = `
$ORIGIN example.lan.
$TTL 300
@        3600 IN SOA ns1 admin 7 3600 600 86400 900
@             IN NS  ns1
@             IN NS  ns.elsewhere.test.
@             IN MX  10 mail
ns1           IN A   10.0.0.53
ns1           IN AAAA fd00::53
mail          IN A   10.0.0.25
Printer       IN A   10.0.0.9
*.ptr         IN PTR Host.Example.LAN.
ptr           IN PTR elsewhere.test.
*.wild        IN MX  7 xexample.lan.
*.wild        IN MX  9 example.lan.
text          IN TXT "first" "second"
svcb          IN HTTPS 1 . alpn=h2
odd           IN TYPE65280 \# 3 010203
alias         IN CNAME mail
chain         IN CNAME alias
toservice     IN CNAME app
away          IN CNAME www.elsewhere.test.
lost          IN CNAME nothing
loop1         IN CNAME loop2
loop2         IN CNAME loop1
intosub       IN CNAME host.sub
innext        IN CNAME www.inner
viadname      IN CNAME x.moved
a.b.c         IN A   10.0.0.3
*.wild        IN A   10.0.0.77
*.wild        IN MX  5 mail
host.wild     IN TXT "beside the wildcard"
*.cwild       IN CNAME mail
sub           IN NS  ns.sub
sub           IN NS  ns1
ns.sub        IN A   10.0.9.1
ns.sub        IN AAAA fd00:9::1
signed        IN NS  ns.signed
signed        IN DS  4711 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
inner         IN NS  ns.inner
moved         IN DNAME mail
moved         IN TXT "beside the DNAME"
under.moved   IN A   10.0.0.66
`

const innerZone = `
$ORIGIN inner.example.lan.
@    60 IN SOA ns admin 1 3600 600 86400 30
@    60 IN NS  ns
ns   60 IN A   10.0.8.1
www  60 IN A   10.0.8.2
up   60 IN CNAME ns1.example.lan.
`

// records reads master-file text.
func records(t testing.TB, text string) []dns.RR {
	t.Helper()
	p := dns.NewZoneParser(strings.NewReader(text), "", "")
	var out []dns.RR
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		out = append(out, rr)
	}
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// lanConfig is a configuration with both zones, two sites and a third without
// clients.
func lanConfig(t testing.TB) *Config {
	t.Helper()
	at := func(names ...string) (out []ServiceSite) {
		for _, n := range names {
			out = append(out, ServiceSite{Site: n, TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second})
		}
		return out
	}
	return &Config{
		Zones: []Zone{
			{Name: "example.lan", Records: records(t, lanZone)},
			{Name: "inner.example.lan", Records: records(t, innerZone)},
		},
		Views: []View{
			{Site: "berlin", Clients: prefixes("10.1.0.0/16", "fd00:1::/48"), Resolvers: addrs("10.2.0.1")},
			{Site: "hamburg", Clients: prefixes("10.2.0.0/16"), Resolvers: addrs("10.1.0.99", "fd00:1::99")},
			{Site: "munich", Clients: prefixes("10.3.0.0/16")},
		},
		DefaultSite: "hamburg",
		Services: []Service{
			{Hosts: []string{"app.example.lan", "*.apps.example.lan"}, Pool: "default", Sites: at("berlin", "hamburg")},
			{Hosts: []string{"tv.example.lan"}, Pool: "streaming", Sites: at("berlin")},
			{Hosts: []string{"weighted.example.lan"}, Pool: "weighted", Sites: at("berlin")},
			{Hosts: []string{"hashed.example.lan"}, Pool: "hashed", Sites: at("berlin")},
			{Hosts: []string{"uneven.example.lan"}, Pool: "uneven", Sites: at("berlin")},
			{Hosts: []string{"unset.example.lan"}, Pool: "unset", Sites: at("berlin")},
			{Hosts: []string{"split.example.lan"}, Pool: "streaming", Sites: at("berlin")},
			{Hosts: []string{"split.example.lan"}, Pool: "default", Sites: at("hamburg")},
		},
	}
}

// answer is one of a pool in quiet times.
func answer(list ...string) sites.Answer {
	a := sites.Answer{Source: sites.Own, Horizon: sites.Forever}
	for _, ip := range addrs(list...) {
		if ip.Is4() {
			a.IPv4 = append(a.IPv4, ip)
		} else {
			a.IPv6 = append(a.IPv6, ip)
		}
	}
	return a
}

// byNode is an answer of a policy that chooses among nodes: "name weight address…".
func byNode(policy sites.Policy, nodes ...string) sites.Answer {
	a := answer()
	a.Policy = policy
	for _, text := range nodes {
		f := strings.Fields(text)
		weight, err := strconv.Atoi(f[1])
		if err != nil {
			panic(err)
		}
		one := answer(f[2:]...)
		a.Nodes = append(a.Nodes, sites.AnswerNode{Name: f[0], Weight: weight, IPv4: one.IPv4, IPv6: one.IPv6})
		a.IPv4, a.IPv6 = append(a.IPv4, one.IPv4...), append(a.IPv6, one.IPv6...)
	}
	return a
}

// lanServer serves lanConfig with answers for its pools.
func lanServer(t testing.TB) *Server {
	t.Helper()
	return lanServerOf(t, lanConfig(t))
}

func lanServerOf(t testing.TB, cfg *Config) *Server {
	t.Helper()
	s := newServer(t, cfg)
	s.SetAnswer("berlin", "default", answer("10.1.0.11", "10.1.0.12", "fd00:1::11"))
	s.SetAnswer("hamburg", "default", answer("10.2.0.11"))
	s.SetAnswer("berlin", "streaming", answer("10.1.0.21"))
	s.SetAnswer("berlin", "weighted", byNode(sites.PolicyWeighted, "a 3 10.1.0.31 10.1.0.32 fd00:1::31", "b 1 10.1.0.33", "c 0 10.1.0.34 fd00:1::34", "d 2 10.1.0.35"))
	s.SetAnswer("berlin", "hashed", byNode(sites.PolicyIPHash, "a 1 10.1.0.41 10.1.0.42 fd00:1::41", "b 1 10.1.0.43", "c 1 fd00:1::44"))
	s.SetAnswer("berlin", "uneven", byNode(sites.PolicyIPHash, "a 3 10.1.0.51", "b 1 10.1.0.53 fd00:1::53", "c 2 10.1.0.54 fd00:1::54"))
	return s
}

func newServer(t testing.TB, cfg *Config) *Server {
	t.Helper()
	s, err := New(cfg, Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// ask makes a query as a client would.
func ask(name string, qtype uint16, edns ...uint16) []byte {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.Id, m.RecursionDesired = 4711, true
	if len(edns) > 0 {
		m.SetEdns0(edns[0], false)
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// exchange asks without sockets; nil where there is no answer.
func exchange(t testing.TB, s *Server, from string, msg []byte, tcp bool) *dns.Msg {
	t.Helper()
	raw := s.Query(msg, netip.AddrPortFrom(netip.MustParseAddr(from), 4242), tcp)
	if raw == nil {
		return nil
	}
	m := new(dns.Msg)
	if err := m.Unpack(raw); err != nil {
		t.Fatalf("the answer does not parse: %v", err)
	}
	return m
}

// brief writes records without class, with single spaces.
func brief(rrs []dns.RR) (out []string) {
	for _, rr := range rrs {
		if rr.Header().Rrtype == dns.TypeOPT {
			continue
		}
		f := strings.Fields(rr.String())
		out = append(out, strings.Join(append(f[:2:2], f[3:]...), " "))
	}
	return out
}
