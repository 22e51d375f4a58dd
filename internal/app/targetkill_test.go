package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/sites"
)

// kills is how often the process is killed.
const kills = 24

// foreignRows are the rows of somebody else, byte for byte.
func foreignRows(r *routersim.Router) (list []string) {
	for _, rec := range r.Records() {
		if strings.HasPrefix(rec.Fields["comment"], "managed-by=dnsteer/") {
			continue
		}
		var b strings.Builder
		b.WriteString(rec.ID)
		for _, k := range slices.Sorted(maps.Keys(rec.Fields)) {
			fmt.Fprintf(&b, " %s=%q", k, rec.Fields[k])
		}
		list = append(list, b.String())
	}
	return list
}

// seedRows puts rows of somebody else on a router, and gives them.
func seedRows(t *testing.T, r *routersim.Router) []string {
	t.Helper()
	for _, args := range [][]string{
		{"name=printer.example.lan", "address=198.51.100.7", "comment=f\xfcr alle", "ttl=1h"},
		{"name=nas.example.lan", "address=198.51.100.8", "disabled=yes"},
		{"regexp=^ads[0-9]+\\.", "address=0.0.0.0"},
		{"name=cdn.example.lan", "type=CNAME", "cname=a.example"},
	} {
		if _, err := r.Do("/ip/dns/static/add", args...); err != nil {
			t.Fatal(err)
		}
	}
	return foreignRows(r)
}

// onlookers ask for names until they are stopped, and hold that every answer has
// addresses of nodes alone, and at least one.
type onlookers struct {
	stop  context.CancelFunc
	all   sync.WaitGroup
	count atomic.Int64
	mu    sync.Mutex
	bad   []string
}

func onlook(at string, names []string, nodes string) *onlookers {
	ctx, stop := context.WithCancel(context.Background())
	o := &onlookers{stop: stop}
	o.all.Go(func() {
		c := dns.Client{Timeout: time.Second}
		for ctx.Err() == nil {
			for _, name := range names {
				o.look(ctx, &c, at, name, nodes)
			}
		}
	})
	return o
}

func (o *onlookers) look(ctx context.Context, c *dns.Client, at, name, nodes string) {
	in, _, err := c.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name+".", dns.TypeA), at)
	if err != nil {
		return // a packet was lost, or it is over
	}
	o.count.Add(1)
	good := len(in.Answer) > 0
	for _, rr := range in.Answer {
		a, ok := rr.(*dns.A)
		good = good && ok && slices.Contains(strings.Fields(nodes), a.A.String())
	}
	if !good {
		o.mu.Lock()
		o.bad = append(o.bad, fmt.Sprintf("%s: %v", name, in.Answer))
		o.mu.Unlock()
	}
}

// end stops them and reports.
func (o *onlookers) end(t *testing.T) {
	t.Helper()
	o.stop()
	o.all.Wait()
	if len(o.bad) > 0 {
		t.Errorf("%d of %d answers were empty or foreign, such as %s", len(o.bad), o.count.Load(), o.bad[0])
	}
	t.Logf("%d answers, %d empty or foreign", o.count.Load(), len(o.bad))
}

// A crash in the middle of a push would leave names empty, half moved or stuck, or
// change what somebody else has on the router. The process is killed at a request
// of each push, the first, the second and so on.
func TestKilledInAPush(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	before := seedRows(t, router)
	w.write(w.routed(router,
		"pools: [{name: turned, nodes: [b]}]", "pools: [{name: turned, nodes: [b]}, {name: one, mode: active_passive, nodes: [a, b]}]",
		"services:\n", "services:\n  - {hosts: [one.example.lan, \"*.one.example.lan\"], pool: one}\n  - {hosts: [two.example.lan], ttl: 11s}\n"))
	p := w.sites[0]
	ask := api.NewClient(filepath.Join(w.dir, "state", api.SocketName))
	defer ask.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 15*patience)
	defer cancel()

	k := &killer{t: t, ctx: ctx, w: w, router: router, ask: ask}
	k.p = w.spawn()
	k.until("it is filled", p.all(11, 12), p.all(11))
	names := []string{"app.example.lan", "one.example.lan", "x.one.example.lan", "two.example.lan"}
	o := onlook(router.DNSAddr().String(), names, p.all(11, 12))
	hit := 0
	for i := range kills {
		what, all, one := "it has moved away", p.all(12), p.all(12)
		if i%2 == 1 {
			what, all, one = "it has moved back", p.all(11, 12), p.all(11)
		}
		if k.kill(i, all, one) {
			hit++
		}
		k.until(what, all, one)
		if now := foreignRows(router); !slices.Equal(now, before) {
			t.Fatalf("after kill %d somebody's rows are\n%s\nbefore\n%s", i, strings.Join(now, "\n"), strings.Join(before, "\n"))
		}
	}
	o.end(t)
	t.Logf("%d kills, %d of them within a push", kills, hit)
	if hit < kills*3/4 {
		t.Error("most kills missed the push")
	}
}

// killer is a controller that is killed again and again.
type killer struct {
	t      *testing.T
	ctx    context.Context
	w      *world
	router *routersim.Router
	ask    *api.Client
	p      *process
}

// kill has the answers move, kills the process at a request of the push that
// follows, and starts it anew. It says whether the push got so far, or was done in
// fewer requests: then the router has what it is to have.
func (k *killer) kill(i int, all, one string) bool {
	k.t.Helper()
	p, died := k.p, make(chan struct{})
	at := i / 2 % 8
	seen := 0
	k.router.SetFaults(routersim.Faults{Each: func(routersim.Request) routersim.Fate {
		if seen++; seen == at+1 {
			_ = p.cmd.Process.Kill()
			close(died)
			if i%4 >= 2 {
				return routersim.LostReply // it arrived, and nobody hears of it
			}
			return routersim.Cut
		}
		return routersim.Answered
	}})
	verb := sites.Maintenance
	if i%2 == 1 {
		verb = sites.MaintenanceEnd
	}
	order := sites.Command{Verb: verb, Site: "berlin", Node: "a", Reason: "test"}
	reply, given := k.ask.Command(k.ctx, order)
	if reply.Refused {
		k.t.Fatal(reply)
	}
	hit, over := false, false
	limit := time.Now().Add(patience)
	for tick := time.NewTicker(5 * time.Millisecond); !hit && !over; <-tick.C {
		select {
		case <-died:
			hit = true
		default:
			if over = k.has(all, one); !over && time.Now().After(limit) {
				k.t.Fatalf("push %d neither gets to request %d nor to its end", i, at+1)
			}
		}
	}
	k.router.SetFaults(routersim.Faults{})
	k.p.kill()
	k.ask.Close()
	k.p = k.w.spawn()
	if given != nil {
		// Nobody was told that it is in force, so it need not be; where it is, it is
		// refused now. What follows is asked of the router in both cases.
		if _, err := k.ask.Command(k.ctx, order); err != nil {
			k.t.Fatal(err)
		}
	}
	return hit
}

// has says whether the router answers as it should and the controller says so.
func (k *killer) has(all, one string) bool {
	if resolves(k.router, "app.example.lan") != all || resolves(k.router, "two.example.lan") != all ||
		resolves(k.router, "one.example.lan") != one || resolves(k.router, "x.one.example.lan") != one {
		return false
	}
	list, err := k.ask.Targets(k.ctx)
	return err == nil && len(list) == 1 && list[0].State == api.TargetCurrent
}

// until waits until it does.
func (k *killer) until(what, all, one string) {
	k.t.Helper()
	limit := time.Now().Add(patience)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if k.has(all, one) {
			return
		}
		if time.Now().After(limit) {
			list, err := k.ask.Targets(k.ctx)
			k.t.Fatalf("it does not come to be that %s: app is %s, one is %s; %+v %v", what, resolves(k.router, "app.example.lan"), resolves(k.router, "one.example.lan"), list, err)
		}
	}
}
