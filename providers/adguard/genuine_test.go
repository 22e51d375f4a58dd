package adguard

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/adguardsim/genuine"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/contract"
)

// What holds with the simulator would not hold with the real one.
func TestContractGenuine(t *testing.T) {
	for _, program := range programs(t) {
		s := begin(t, program)
		in, err := s.Connect(t).Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Run(in.Product, func(t *testing.T) {
			contract.Run(t, contract.Bench{
				Traits: traits(in.Product[len("AdGuard Home "):]),
				New: func(t *testing.T) contract.Stand {
					s.t = t
					s.empty()
					return s
				},
			})
			s.t = t
			s.latency()
		})
	}
}

func programs(t *testing.T) []string {
	list := genuine.Programs()
	if len(list) == 0 {
		t.Skip("no real AdGuard Home: " + genuine.Variable + " names none")
	}
	return list
}

// real is a real server under the suite. A second provider is the hand.
type real struct {
	asker
	t    *testing.T
	url  string
	hand *client
}

func begin(t *testing.T, program string) *real {
	t.Helper()
	s, err := genuine.Start(t.Context(), program, t.TempDir(), netip.MustParseAddrPort("127.0.0.1:9"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	p := dial(t, Config{URL: s.URL, Username: genuine.Username, Password: genuine.Password})
	return &real{asker: asker{at: s.DNS.String()}, t: t, url: s.URL, hand: p.client}
}

func (r *real) do(method, path string, body any) []byte {
	r.t.Helper()
	a, err := r.hand.do(r.t.Context(), method, path, body)
	if err == nil {
		err = a.fault()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return a.body
}

func (r *real) rows() []row {
	rows, err := parseRows(r.do("GET", "/rewrite/list", nil))
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

func (r *real) empty() {
	for _, x := range r.rows() {
		r.do("POST", "/rewrite/delete", x.rewrite)
	}
}

func (r *real) Connect(t *testing.T) providers.Provider {
	return dial(t, Config{URL: r.url, Username: genuine.Username, Password: genuine.Password})
}

func (r *real) add(domain, answer string, on bool) {
	r.do("POST", "/rewrite/add", enabled{rewrite{domain, answer}, on})
}

func (r *real) Seed(_ *testing.T, records ...contract.Foreign) {
	if len(r.rows()) == 0 {
		for _, o := range others {
			r.add(o.Domain, o.Answer, true)
		}
	}
	for _, f := range records {
		r.add(f.Name, f.Addr.String(), !f.Disabled)
	}
}

func (r *real) Dump(*testing.T) (list []string) {
	for _, x := range r.rows() {
		list = append(list, fmt.Sprintf("%q → %q %v", x.Domain, x.Answer, !x.off))
	}
	return list
}

func (r *real) Edit(_ *testing.T, e contract.Edit) {
	from := rewrite{e.Name, e.Addr.String()}
	to := enabled{from, e.Verb != contract.Disable}
	switch e.Verb {
	case contract.Delete:
		r.do("POST", "/rewrite/delete", from)
		return
	case contract.Change:
		to.Answer = e.To.String()
	default:
	}
	r.do("PUT", "/rewrite/update", map[string]any{"target": from, "update": to})
}

func (r *real) Break(t *testing.T, _ contract.Fault, _ int) <-chan struct{} {
	t.Fatal("a real one has no faults")
	return nil
}

func (r *real) Shun(t *testing.T, _ string) { t.Fatal("a real one has no faults") }

func (r *real) Mend(*testing.T) {}

// Writes of a real one cannot be counted; that none are tried is seen in what a
// round says of itself.
func (*real) Writes() int { return 0 }

// latency measures how long it takes from a change until DNS answers it.
func (r *real) latency() {
	r.empty()
	p := r.Connect(r.t)
	a, b := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("192.0.2.11")
	rec := func(x netip.Addr) providers.Record { return providers.Record{Name: "app.lan", Addr: x} }
	if err := p.Apply(r.t.Context(), providers.Change{Key: rec(a).Key(), Add: []providers.Record{rec(a)}}); err != nil {
		r.t.Fatal(err)
	}
	var took []time.Duration
	for i := range 200 {
		to := []netip.Addr{b, a}[i%2]
		begun := time.Now()
		l, err := p.List(r.t.Context(), []string{"app.lan"})
		if err == nil {
			err = p.Apply(r.t.Context(), providers.Change{Key: rec(a).Key(), Swap: []providers.Swap{{From: l.Entries[0], To: rec(to)}}, Before: l.Entries})
		}
		if err != nil {
			r.t.Fatal(err)
		}
		for {
			if got, _, ok := r.Ask("app.lan", false); ok && slices.Equal(got, []netip.Addr{to}) {
				break
			}
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	r.t.Logf("200 switches, from the listing until DNS answers: median %s, 99 %% %s", took[100], took[198])
}
