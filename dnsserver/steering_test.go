package dnsserver

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// addressesOf gives an answer's addresses in their order.
func addressesOf(m *dns.Msg) (out []string) {
	for _, rr := range m.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			out = append(out, rr.A.String())
		case *dns.AAAA:
			out = append(out, rr.AAAA.String())
		}
	}
	return out
}

// If this fails, clients are sent to another site's nodes.
func TestViews(t *testing.T) {
	berlin, hamburg := []string{"10.1.0.11", "10.1.0.12"}, []string{"10.2.0.11"}
	tests := []struct {
		name, from, host string
		want             []string
	}{
		{"by prefix", "10.1.0.1", "app.example.lan.", berlin},
		{"by IPv6 prefix", "fd00:1::1", "app.example.lan.", berlin},
		{"by the longest prefix: another site's resolver", "10.1.0.99", "app.example.lan.", hamburg},
		{"resolver over IPv6", "fd00:1::99", "app.example.lan.", hamburg},
		{"resolver inside another site", "10.2.0.1", "app.example.lan.", berlin},
		{"IPv4 in IPv6", "::ffff:10.1.0.1", "app.example.lan.", berlin},
		{"nobody's client gets the default site", "192.0.2.1", "app.example.lan.", hamburg},
		{"a site without the service gets the first that serves", "10.3.0.1", "app.example.lan.", berlin},
		{"a service of one site alone", "10.2.0.5", "tv.example.lan.", []string{"10.1.0.21"}},
		{"two services share a host: here", "10.1.0.1", "split.example.lan.", []string{"10.1.0.21"}},
		{"two services share a host: there", "10.2.0.5", "split.example.lan.", hamburg},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := lanServer(t)
			m := exchange(t, s, tt.from, ask(tt.host, dns.TypeA), false)
			got := addressesOf(m)
			if len(got) == 2 && got[0] > got[1] {
				got[0], got[1] = got[1], got[0]
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// If this fails, clients of a site without the service are sent to nodes that
// are a last resort while others serve.
func TestForeignSitePrefersPoolsThatServe(t *testing.T) {
	s := lanServer(t)
	dead := answer("10.1.0.11")
	dead.Source = sites.LastResort
	s.SetAnswer("berlin", "default", dead)
	if got := addressesOf(exchange(t, s, "10.3.0.1", ask("app.example.lan.", dns.TypeA), false)); !cmp.Equal(got, []string{"10.2.0.11"}) {
		t.Errorf("got %v, want hamburg's", got)
	}
	dead = answer("10.2.0.11")
	dead.Source = sites.LastResort
	s.SetAnswer("hamburg", "default", dead)
	if got := addressesOf(exchange(t, s, "10.3.0.1", ask("app.example.lan.", dns.TypeA), false)); !cmp.Equal(got, []string{"10.1.0.11"}) {
		t.Errorf("got %v, want the last resort of the first", got)
	}
}

// If this fails, one node gets all the load, or answers outgrow a packet.
func TestRotation(t *testing.T) {
	s := lanServer(t)
	var list []string
	for i := range 11 {
		list = append(list, fmt.Sprintf("10.1.1.%d", i))
	}
	s.SetAnswer("berlin", "default", answer(list...))
	first, seen := map[string]int{}, map[string]int{}
	for range 110 {
		got := addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false))
		if len(got) != maxAddresses {
			t.Fatalf("%d addresses in an answer", len(got))
		}
		first[got[0]]++
		for _, a := range got {
			seen[a]++
		}
	}
	for _, a := range list {
		if first[a] < 8 || seen[a] < 70 {
			t.Errorf("%s was first %d times of 110 and seen %d times, want about 10 and 80", a, first[a], seen[a])
		}
	}
	if found := s.Lookup("berlin", "app.example.lan", dns.TypeA); len(found.Addresses) != len(list) {
		t.Errorf("Lookup gives %d addresses, want all %d", len(found.Addresses), len(list))
	}
}

// If this fails, clients that ask for both families get the same first node every
// time.
func TestRotationWithBothFamilies(t *testing.T) {
	s := lanServer(t)
	s.SetAnswer("berlin", "default", answer("10.1.0.11", "10.1.0.12", "fd00:1::11", "fd00:1::12"))
	first := map[string]int{}
	for range 100 {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
			first[addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", qtype), false))[0]]++
		}
	}
	for _, a := range []string{"10.1.0.11", "10.1.0.12", "fd00:1::11", "fd00:1::12"} {
		if first[a] < 40 {
			t.Errorf("%s was first %d times of 100", a, first[a])
		}
	}
}

// If this fails, the dashboard says that a client belongs to another site than
// its answers.
func TestSiteOf(t *testing.T) {
	s := lanServer(t)
	for client, want := range map[string]struct {
		site  string
		known bool
	}{
		"10.1.0.1": {"berlin", true}, "10.1.0.99": {"hamburg", true}, "::ffff:10.3.0.1": {"munich", true}, "192.0.2.1": {"hamburg", false},
	} {
		if site, known := s.SiteOf(netip.MustParseAddr(client)); site != want.site || known != want.known {
			t.Errorf("%s: %s, %t, want %v", client, site, known, want)
		}
	}
	if site, known := newServer(t, &Config{}).SiteOf(netip.MustParseAddr("10.1.0.1")); site != "" || !known {
		t.Errorf("without views: %q, %t", site, known)
	}
}

// If this fails, caches keep answers longer than they may, or ask more often
// than is needed.
func TestServiceTTL(t *testing.T) {
	tests := []struct {
		name           string
		ttl, unsettled time.Duration
		horizon        time.Duration
		want           uint32 // of the moment
		quiet          uint32 // what secondaries get
	}{
		{"quiet", 30 * time.Second, 5 * time.Second, sites.Forever, 30, 30},
		{"a change is near", 30 * time.Second, 5 * time.Second, 20 * time.Second, 5, 30},
		{"a change is just one TTL away", 30 * time.Second, 5 * time.Second, 30 * time.Second, 30, 30},
		{"unsettled above the TTL", 3 * time.Second, 5 * time.Second, 0, 3, 3},
		{"never 0", 0, 0, 0, 1, 1},
		{"less than a second", 200 * time.Millisecond, 100 * time.Millisecond, 0, 1, 1},
		{"never above an hour", 48 * time.Hour, 5 * time.Second, sites.Forever, 3600, 3600},
		{"nor while a change is near", 48 * time.Hour, 24 * time.Hour, 0, 3600, 3600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := lanConfig(t)
			cfg.Services[0].Sites[0].TTL, cfg.Services[0].Sites[0].TTLUnsettled = tt.ttl, tt.unsettled
			s := newServer(t, cfg)
			a := answer("10.1.0.11")
			a.Horizon = tt.horizon
			s.SetAnswer("berlin", "default", a)
			m := exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false)
			if got := m.Answer[0].Header().Ttl; got != tt.want {
				t.Errorf("TTL %d, want %d", got, tt.want)
			}
			if got := s.Lookup("berlin", "app.example.lan", dns.TypeA).TTL; got != time.Duration(tt.want)*time.Second {
				t.Errorf("Lookup gives %s, want %d s", got, tt.want)
			}
			quiet := (&serviceEntry{ttl: tt.ttl, unsettled: tt.unsettled}).quiet()
			if quiet != tt.quiet {
				t.Errorf("secondaries get a TTL of %d, want %d", quiet, tt.quiet)
			}
		})
	}
}

// If this fails, a decision does not reach the very next answer of every name of
// its pool.
func TestSetAnswerIsInTheNextAnswer(t *testing.T) {
	const names = 10_000
	cfg := lanConfig(t)
	for i := range names {
		cfg.Services[0].Hosts = append(cfg.Services[0].Hosts, fmt.Sprintf("h%d.example.lan", i))
	}
	s := newServer(t, cfg)
	for i := range 200 {
		want := fmt.Sprintf("10.1.2.%d", i)
		s.SetAnswer("berlin", "default", answer(want))
		host := fmt.Sprintf("h%d.example.lan.", i*names/200)
		if got := addressesOf(exchange(t, s, "10.1.0.1", ask(host, dns.TypeA), false)); !cmp.Equal(got, []string{want}) {
			t.Fatalf("%s: got %v, want %s", host, got, want)
		}
	}
}

// If this fails, an answer without addresses is given as a failure, or a removed
// record lives on.
func TestEmptyPool(t *testing.T) {
	s := lanServer(t)
	s.SetAnswer("berlin", "default", sites.Answer{Source: sites.Empty, Horizon: sites.Forever})
	m := exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false)
	if m.Rcode != 0 || len(m.Answer) != 0 || len(m.Ns) != 1 || m.Ns[0].Header().Ttl != maxServiceNeg {
		t.Errorf("got %v, want no data for a minute", m)
	}
}

// If this fails, `explain` and rehearsals say something else than the clients
// of a site get.
func TestLookup(t *testing.T) {
	s := lanServer(t)
	tests := []struct {
		name, site, host string
		qtype            uint16
		want             Found
	}{
		{"own site", "berlin", "app.example.lan", dns.TypeA, Found{Addresses: addrs("10.1.0.11", "10.1.0.12"), TTL: 30 * time.Second, Site: "berlin", Pool: "default"}},
		{"IPv6", "berlin", "app.example.lan", dns.TypeAAAA, Found{Addresses: addrs("fd00:1::11"), TTL: 30 * time.Second, Site: "berlin", Pool: "default"}},
		{"another site's", "hamburg", "tv.example.lan", dns.TypeA, Found{Addresses: addrs("10.1.0.21"), TTL: 30 * time.Second, Site: "berlin", Pool: "streaming"}},
		{"no site", "atlantis", "app.example.lan.", dns.TypeA, Found{Addresses: addrs("10.1.0.11", "10.1.0.12"), TTL: 30 * time.Second, Site: "berlin", Pool: "default"}},
		{"by a CNAME", "hamburg", "toservice.example.lan", dns.TypeA, Found{Addresses: addrs("10.2.0.11"), TTL: 30 * time.Second, Site: "hamburg", Pool: "default"}},
		{"the zone's own", "berlin", "mail.example.lan", dns.TypeA, Found{Addresses: addrs("10.0.0.25"), TTL: 300 * time.Second}},
		{"no name", "berlin", "nothing.example.lan", dns.TypeA, Found{Rcode: dns.RcodeNameError}},
		{"not told yet", "berlin", "unset.example.lan", dns.TypeA, Found{Rcode: dns.RcodeServerFailure}},
		{"not ours", "berlin", "example.org", dns.TypeA, Found{Rcode: dns.RcodeRefused}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Lookup(tt.site, tt.host, tt.qtype)
			if d := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
				t.Error(d)
			}
		})
	}
}
