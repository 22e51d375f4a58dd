package app

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// newRouter gives a router that answers DNS.
func newRouter(t *testing.T) *routersim.Router {
	t.Helper()
	r, err := routersim.New(routersim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// routed is the usual configuration, in which the first site's answers go to a
// router that is its resolver.
func (w *world) routed(r *routersim.Router, change ...string) string {
	p := w.sites[0]
	usual := w.config(
		fmt.Sprintf("resolver: %q\n    clients: [%s/24]\n", netip.AddrPortFrom(p.host(1), w.dns), p.net),
		fmt.Sprintf("resolver: %q\n    clients: [%s/24]\n    targets: [builtin, router]\n", r.DNSAddr(), p.net))
	usual += fmt.Sprintf("targets:\n  - {name: router, type: routeros, address: %q, username: dnsteer, password: secret, plain: true}\n", r.Addr())
	return strings.NewReplacer(change...).Replace(usual)
}

// resolves gives the addresses that the router answers, sorted.
func resolves(r *routersim.Router, host string) string {
	answer, _ := r.Resolve(dns.Question{Name: host + ".", Qtype: dns.TypeA, Qclass: dns.ClassINET})
	var list []string
	for _, rr := range answer {
		if a, ok := rr.(*dns.A); ok {
			list = append(list, a.A.String())
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (r *running) target() api.TargetView {
	r.t.Helper()
	list, err := r.Targets(context.Background())
	if err != nil || len(list) == 0 {
		r.t.Fatal("there is no target", err)
	}
	return list[0]
}

func (r *running) witness() string {
	r.t.Helper()
	st, err := r.Status(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return st.Sites[0].Witnesses[0].Outcome + " " + st.Sites[0].Witnesses[0].Text
}

// Clients of a router would not get the answer that the rules give, or lose a
// name; the witness would take an answer of something on the way for the router's,
// or fail because an answer moves.
func TestARouterFollows(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	w.write(w.routed(router))
	r := w.start()
	p := w.sites[0]
	const app = "app.example.lan"
	r.until("the router has the answer", func() bool { return resolves(router, app) == p.all(11, 12) })
	r.until("it is seen there", func() bool { return r.target().Visible > 0 })
	r.until("the witness asks for it", func() bool { return strings.HasPrefix(r.witness(), "up answers 127.") })
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	r.until("the router follows", func() bool { return resolves(router, app) == p.all(12) })
	p.nodes["a"].on(t)
	r.until("the router follows back", func() bool { return resolves(router, app) == p.all(11, 12) })
	r.until("it is as it should be", func() bool { return r.target().State == api.TargetCurrent })
	if v := r.target(); v.Product == "" || len(v.Records) != 1 || len(v.NoFailover) != 0 {
		t.Errorf("%+v", v)
	}
	if plans, err := r.Plan(t.Context(), ""); err != nil || len(plans) != 1 || len(plans[0].Changes) != 0 || plans[0].Error != "" {
		t.Errorf("%+v %v", plans, err)
	}
	changes := func() (n int) { return strings.Count(strings.Join(router.Log(), "\n"), "static dns entry") }
	before := changes()
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.settled()
	r.until("it is compared", func() bool { return !r.target().Compared.IsZero() })
	if n := changes() - before; n != 0 {
		t.Errorf("a restart has changed %d records", n)
	}
	for _, kind := range r.kinds() {
		if strings.HasPrefix(kind, "resolver_down") || strings.HasPrefix(kind, "publish_failed") || strings.HasPrefix(kind, "drift") {
			t.Errorf("told: %s", kind)
		}
	}
	// A target that leaves keeps what it has, and that is said.
	w.write(w.config())
	report, err := r.Reload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, "The target router has left") }) && report.Changed {
		t.Errorf("%+v", report)
	}
	if resolves(router, app) != p.all(11, 12) {
		t.Error("records are gone")
	}
}

// A controller that has just started, and sees nothing of a site, would push what
// it remembers over what is right.
func TestNothingIsPushedBeforeASiteIsSeen(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	router := newRouter(t)
	p := w.sites[0]
	p.cut.Store(true)
	own := fmt.Sprintf("resolver: %q", netip.AddrPortFrom(p.host(1), w.dns))
	w.write(w.routed(router, fmt.Sprintf("resolver: %q", router.DNSAddr()), own))
	r := w.start()
	r.await("site_down berlin")
	if calls := router.Counts().Calls; calls != 0 {
		t.Errorf("the router was asked %d times", calls)
	}
	if v := r.target(); v.State != api.TargetWaiting {
		t.Errorf("%+v", v)
	}
	p.cut.Store(false)
	r.until("the router has the answer", func() bool { return resolves(router, "app.example.lan") == p.all(11, 12) })
	if v := r.target(); v.Visible != 0 {
		t.Error("what the site's resolver does not give passes for visible")
	}
	reply, err := r.Operate(t.Context(), api.TargetRequest{Verb: api.TargetDisable, Target: "router"})
	if err != nil || reply.Refused || r.target().State != api.TargetDisabled {
		t.Errorf("%+v %v", reply, err)
	}
	reply, err = r.Operate(t.Context(), api.TargetRequest{Verb: api.TargetPurge, Target: "router", Confirmed: true})
	if err != nil || reply.Refused || len(reply.Changes) != 2 || resolves(router, "app.example.lan") != "" {
		t.Errorf("%+v %v", reply, err)
	}
	if _, err = r.Operate(t.Context(), api.TargetRequest{Verb: api.TargetEnable, Target: "printer"}); err == nil {
		t.Error("a target that is not there is enabled")
	}
}

// Names of a pool that takes its records away would stay, or the witness fail
// because they are gone.
func TestARouterIsEmptiedOnPurposeAlone(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	w.write(w.routed(router, "  - name: berlin\n", "  - name: berlin\n    on_empty: remove\n"))
	r := w.start()
	p := w.sites[0]
	const app = "app.example.lan"
	r.until("the router has the answer", func() bool { return resolves(router, app) == p.all(11, 12) })
	r.until("it is seen there", func() bool { return r.target().Visible > 0 })
	p.nodes["a"].off()
	p.nodes["b"].off()
	r.await("pool_outage_started berlin")
	r.until("the records are taken away", func() bool { return resolves(router, app) == "" })
	p.nodes["b"].on(t)
	r.until("they are back", func() bool { return resolves(router, app) == p.all(12) })
	for _, kind := range r.kinds() {
		if strings.HasPrefix(kind, "resolver_down") {
			t.Errorf("told: %s", kind)
		}
	}
}

// stuck is a provider that never returns, whatever it is told.
type stuck struct{ forever chan struct{} }

func (s stuck) List(context.Context, []string) (providers.Listing, error) {
	<-s.forever
	return providers.Listing{}, context.Canceled
}

func (s stuck) Apply(context.Context, providers.Change) error {
	<-s.forever
	return context.Canceled
}

func (s stuck) Inspect(context.Context) (providers.Inspection, error) {
	<-s.forever
	return providers.Inspection{}, context.Canceled
}

func (s stuck) Close() error { <-s.forever; return nil }

// A router that hangs would hold up the start, a decision, a reload or the stop.
func TestAStuckTargetHoldsNothingUp(t *testing.T) {
	w := newWorld(t, "berlin")
	s := stuck{make(chan struct{})}
	defer close(s.forever)
	w.opt.provider = func(t *publish.Target) {
		t.Servers[0].Connect = func() (providers.Provider, error) { return s, nil }
	}
	router := newRouter(t)
	w.write(w.routed(router))
	r := w.start()
	p := w.sites[0]
	r.settled()
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	if got := r.asks(p, "app.example.lan"); got != p.all(12) {
		t.Errorf("the built-in server answers %s", got)
	}
	w.write(w.routed(router, "ttl: 10s", "ttl: 11s"))
	r.await("config_reloaded")
	if err := r.stopped(); err != nil { // in what time: TestStopWhileEverythingHangs
		t.Error(err)
	}
}

// Somebody would be told the answer of another site for the clients of one that
// the built-in server does not publish.
func TestExplainWhatATargetHolds(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	router := newRouter(t)
	w.write(w.routed(router, "[builtin, router]", "[router]"))
	r := w.start()
	p, other := w.sites[0], w.sites[1]
	const app = "app.example.lan"
	r.until("the router has the answer", func() bool { return resolves(router, app) == p.all(11, 12) && r.target().State == api.TargetCurrent })
	x, err := r.Explain(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(x.Sentences, "\n")
	for _, part := range []string{
		"Clients of berlin get what router (" + router.Addr() + ") holds: ",
		" for app.example.lan (TTL 10 s), as it should be.",
		"Clients of hamburg get " + other.host(11).String(),
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not said in\n%s", part, text)
		}
	}
	if len(x.Answers) != 2 || strings.Join(x.Answers[0].Addresses, " ") != p.all(11, 12) || x.Answers[0].TTL != 10 || x.Answers[0].Serves != "own" {
		t.Errorf("%+v", x.Answers)
	}
}

// Clients of a router would get another answer than those of the built-in server:
// for a service of another site, or one whose site serves no more.
func TestTargetsGetWhatTheServerWouldGive(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg", "munich")
	router := newRouter(t)
	w.write(w.routed(router, "services:\n", "services:\n  - {hosts: [\"*.far.example.lan\", far.example.lan], sites: [hamburg, munich]}\n  - {hosts: [near.example.lan], sites: [munich, berlin], pool: turned}\n"))
	r := w.start()
	r.settled()
	same := func() bool {
		v := r.target()
		if len(v.Records) != 4 {
			return false
		}
		for _, rec := range v.Records {
			host := strings.Replace(rec.Name, "*", "x", 1)
			var want []string
			for _, a := range r.names.get().Lookup("berlin", host, dns.TypeA).Addresses {
				want = append(want, a.String())
			}
			slices.Sort(want)
			if !slices.Equal(rec.Desired, want) || !slices.Equal(rec.Actual, want) {
				return false
			}
		}
		return v.State == api.TargetCurrent
	}
	r.until("the router holds what the server gives", same)
	if got, want := resolves(router, "x.far.example.lan"), w.sites[1].all(11, 12); got != want {
		t.Errorf("the wildcard is %s, want %s", got, want)
	}
	w.sites[1].nodes["a"].off()
	w.sites[1].nodes["b"].off()
	r.await("pool_outage_started hamburg")
	r.until("another site's nodes are there", func() bool { return resolves(router, "far.example.lan") == w.sites[2].all(11, 12) })
	r.until("the router holds what the server gives", same)
}
