package adguard

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/contract"
)

// A push would lose, double or empty somebody's records on one of the versions
// of AdGuard Home, or after one of its failures.
func TestContract(t *testing.T) {
	faults := []contract.Fault{contract.LostReply, contract.Cut, contract.Hang, contract.Refuse, contract.Duplicate, contract.Gone}
	profiles := adguardsim.Profiles()
	if contract.Raced { // what differs between the others is no matter of goroutines
		profiles = []adguardsim.Profile{adguardsim.V52, adguardsim.V79}
		t.Logf("with the race detector only %s and %s", profiles[0].Version, profiles[1].Version)
	}
	for _, p := range profiles {
		passed := t.Run(p.Version, func(t *testing.T) {
			contract.Run(t, contract.Bench{
				Traits: traits(p.Version), Faults: faults,
				New: func(t *testing.T) contract.Stand { return newStand(t, p) },
			})
		})
		for _, f := range faults {
			t.Logf("AdGuard Home × %-10s × %-24s passed: %v", p.Version, f, passed)
		}
	}
}

func traits(version string) providers.Traits {
	t := (*Provider)(nil).Traits()
	t.Disable = version >= adguardsim.V68.Version
	return t
}

const (
	user = "dnsteer"
	word = "pass"
)

// stand is a simulated server under the suite.
type stand struct {
	*adguardsim.Server
	asker
}

func newStand(t *testing.T, p adguardsim.Profile) *stand {
	t.Helper()
	s := start(t, adguardsim.Options{Profile: p})
	return &stand{s, asker{at: s.DNS().String()}}
}

// start runs a simulator until the test ends.
func start(t *testing.T, opt adguardsim.Options) *adguardsim.Server {
	t.Helper()
	opt.Username, opt.Password = user, word
	s, err := adguardsim.Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// dial gives a provider of a server, which is closed when the test ends.
func dial(t *testing.T, cfg Config) *Provider {
	t.Helper()
	if cfg.Username == "" {
		cfg.Username, cfg.Password = user, word
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (s *stand) Connect(t *testing.T) providers.Provider { return dial(t, Config{URL: s.URL()}) }

// others are rewrites of kinds that are no records.
var others = []adguardsim.Rewrite{
	{Domain: "alias.example.lan", Answer: "target.example.lan", Enabled: true},
	{Domain: "through.example.lan", Answer: "AAAA", Enabled: true},
}

func (s *stand) Seed(t *testing.T, records ...contract.Foreign) {
	err := s.Server.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		if len(list) == 0 {
			list = append(list, others...)
		}
		for _, r := range records {
			list = append(list, adguardsim.Rewrite{Domain: r.Name, Answer: r.Addr.String(), Enabled: !r.Disabled})
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stand) Dump(*testing.T) (rows []string) {
	for _, r := range s.Rewrites() {
		rows = append(rows, fmt.Sprintf("%q → %q %v", r.Domain, r.Answer, r.Enabled))
	}
	return rows
}

func (s *stand) Edit(t *testing.T, e contract.Edit) {
	err := s.Server.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		i := slices.IndexFunc(list, func(r adguardsim.Rewrite) bool { return r.Domain == e.Name && r.Answer == e.Addr.String() })
		if i < 0 {
			t.Fatalf("nothing to edit: %v", e)
		}
		switch e.Verb {
		case contract.Delete:
			return slices.Delete(list, i, i+1)
		case contract.Disable:
			list[i].Enabled = false
		default:
			list[i].Answer = e.To.String()
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stand) Break(t *testing.T, f contract.Fault, n int) <-chan struct{} {
	fault, ok := map[contract.Fault]adguardsim.Fault{
		contract.LostReply: adguardsim.LostReply, contract.Cut: adguardsim.Cut, contract.Hang: adguardsim.Hang,
		contract.Refuse: adguardsim.Error, contract.Duplicate: adguardsim.Duplicate, contract.Gone: adguardsim.Gone,
	}[f]
	if !ok {
		t.Fatalf("no such fault: %s", f)
	}
	return s.Server.Break(fault, n, false)
}

func (s *stand) Shun(_ *testing.T, name string) { s.Server.Shun(name) }

func (s *stand) Mend(*testing.T) { s.Server.Mend() }

// asker asks a DNS server, over one socket.
type asker struct {
	at string
	mu sync.Mutex
}

func (a *asker) Ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
	if v6 {
		q.Question[0].Qtype = dns.TypeAAAA
	}
	in, _, err := (&dns.Client{Timeout: time.Minute}).Exchange(q, a.at)
	if err != nil {
		return nil, 0, false
	}
	for _, rr := range in.Answer {
		ttl = time.Duration(rr.Header().Ttl) * time.Second
		switch rr := rr.(type) {
		case *dns.A:
			addr, _ := netip.AddrFromSlice(rr.A.To4())
			addrs = append(addrs, addr)
		case *dns.AAAA:
			addr, _ := netip.AddrFromSlice(rr.AAAA)
			addrs = append(addrs, addr)
		}
	}
	return addrs, ttl, true
}
