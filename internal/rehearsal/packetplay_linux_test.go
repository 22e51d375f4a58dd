package rehearsal

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/realnet"
	"github.com/dnsteer/dnsteer/sites"
)

// packets plays a rehearsal in a real network.
type packets struct {
	t       *testing.T
	r       *Rehearsal
	graces  int
	world   *realnet.World
	c       *realnet.Controller
	watches map[string]*watched
	// ends are what ends the faults that last, by the action that ends them.
	ends   map[string]func()
	faults int
	// since is the last event of before the window that expectations look at.
	since uint64
	// changed is when a node last went down or came up.
	changed map[string]time.Time
	// off is when, in the rehearsal's time, the controller is started again.
	off     time.Duration
	stopped bool
}

// watched is a question that is asked all the time. Answers before seen were expected
// already.
type watched struct {
	*realnet.Watch
	seen int
}

// most is how long nothing is done at most: longer than a threshold with its timeouts.
const most = 7 * time.Second

func (p *packets) play(configuration string) {
	p.changed = map[string]time.Time{}
	p.world = realnet.New(p.t, p.places()...)
	configuration, zones := p.windows(configuration)
	p.c = p.world.Serve(configuration, zones...)
	for _, q := range p.questions() {
		site, host, typ := question(q)
		p.watches[q] = &watched{Watch: p.world.Site(site).Watch(host, typ, 50*time.Millisecond)}
	}
	p.c.Acquainted()
	for _, w := range p.watches { // from here on, every answer is one that is expected
		w.Answered()
		w.seen = w.Mark()
	}
	p.since = p.c.Last()
	last, began := time.Duration(0), p.since
	for i := range p.r.steps {
		s := &p.r.steps[i]
		pause := time.NewTimer(min((s.At.V-last)/faster, most))
		<-pause.C
		last = s.At.V
		if p.stopped && s.At.V >= p.off {
			p.stopped = false
			p.c.Start()
		}
		for j := range s.Do {
			p.act(&s.Do[j])
		}
		p.expect(s)
	}
	p.early(began)
	for q, want := range p.r.steps[len(p.r.steps)-1].Expect.Answers {
		p.watches[q].Await(want.V...) // it is so now, and was not before alone
	}
}

// act carries out one action.
func (p *packets) act(a *action) {
	p.t.Helper()
	for _, c := range a.changes() {
		if c.value.Set {
			p.change(c.name, c.value.V)
			return
		}
	}
	if a.Restart.Set {
		p.faults++
		if p.off, p.stopped = p.r.steps[p.step(a)].At.V+a.Restart.V, true; p.faults%2 == 0 {
			p.c.Stop()
		} else {
			p.c.Kill()
		}
		return
	}
	cmd, ok := a.command()
	if !ok {
		p.t.Fatalf("%s: packets cannot play this", a.Pos)
	}
	if reply := p.c.Command(*cmd); reply.Refused != a.Refused.V {
		p.t.Errorf("%s: %s: refused %v: %s", a.Pos, a.name(), reply.Refused, reply.Text)
	}
}

// step is the number of the step that an action is in.
func (p *packets) step(a *action) int {
	return slices.IndexFunc(p.r.steps, func(s step) bool {
		return slices.ContainsFunc(s.Do, func(x action) bool { return x.Pos == a.Pos })
	})
}

// change begins or ends a fault. Nodes die in another way each time.
func (p *packets) change(name, what string) {
	p.t.Helper()
	end := map[string]string{"down": "up ", "resolver_down": "resolver_up ", "cut": "heal "}[name] + what
	switch name {
	case "down":
		kinds := slices.DeleteFunc(realnet.NodeFaults(), func(f realnet.NodeFault) bool { return f.Connects })
		p.changed["down "+what] = time.Now()
		p.ends[end] = kinds[p.faults%len(kinds)].Begin(p.world.Node(what))
		p.faults++
	case "resolver_down":
		p.ends[end] = p.world.Site(what).Silence()
	case "cut":
		p.ends[end] = p.world.Site(what).Cut()
	default:
		end := p.ends[name+" "+what]
		if end == nil {
			p.t.Fatalf("packets cannot play %s %s here", name, what)
		}
		p.changed["up "+what] = time.Now()
		end()
	}
}

// expect waits until what a step expects has come to be. What lasts for a moment
// alone, such as that a node is failing, may be over when it is looked at: then it is
// enough that it was so.
func (p *packets) expect(s *step) {
	p.t.Helper()
	e := &s.Expect
	for _, q := range slices.Sorted(maps.Keys(e.Answers)) {
		p.answered(s, q, e.Answers[q].V)
	}
	if p.stopped {
		return
	}
	for name, want := range e.Nodes {
		realnet.Until(p.t, fmt.Sprintf("%s: node %s is %s", want.At, name, want.V), func() string { return p.node(name, want.V) })
	}
	for name, want := range e.Sites {
		realnet.Until(p.t, fmt.Sprintf("%s: site %s is %s", want.At, name, want.V), func() string {
			for _, v := range p.c.Status().Sites {
				if v.Name == name && string(v.Condition) != want.V {
					return v.Explain
				}
			}
			return ""
		})
	}
	for name, want := range e.Pools {
		realnet.Until(p.t, fmt.Sprintf("%s: pool %s is %s", want.At, name, want.V), func() string { return p.pool(name, want.V) })
	}
	var names []string
	for _, want := range e.Events {
		names = append(names, want.V)
	}
	p.c.Await(p.since, names...)
	events := p.c.Events(p.since)
	for _, not := range e.NoEvents {
		for i := range events {
			if matches(&events[i], not.V) {
				p.t.Errorf("%s: %s was not expected: %s", not.At, not.V, realnet.Told(events[i : i+1])[0])
			}
		}
	}
	if len(names) > 0 && len(events) > 0 {
		p.since = events[len(events)-1].ID
	}
}

// answered waits until clients get an answer, and holds that they got no other since
// the one that was expected last, but for one between two actions.
func (p *packets) answered(s *step, q string, addresses []string) {
	p.t.Helper()
	var want []string
	for _, text := range addresses {
		want = append(want, netip.MustParseAddr(text).String())
	}
	slices.Sort(want)
	w := p.watches[q]
	at, others := w.AwaitAfter(w.seen, strings.Join(want, " "))
	if w.seen = at; others > 1 {
		p.t.Errorf("%s: %s was answered otherwise %d times before [%s]", s.Pos, q, others, strings.Join(want, " "))
	}
}

// transient are the words of a node that a moment ends, and the event that comes with
// them or after them.
func transient() map[string]sites.Kind {
	return map[string]sites.Kind{
		"failing": sites.NodeOffline, "recovering": sites.NodeOnline, "maintenance": sites.FailoverMaintenance,
	}
}

func (p *packets) node(name, want string) string {
	site, node, _ := strings.Cut(name, "/")
	for _, v := range p.c.Status().Sites {
		for i := range v.Nodes {
			if n := &v.Nodes[i]; v.Name == site && n.Name == node {
				if string(n.Word) == want {
					return ""
				}
				for _, e := range p.c.Events(p.since) {
					if e.Kind == transient()[want] && e.Subject() == name {
						return ""
					}
				}
				return n.Explain
			}
		}
	}
	return "there is none"
}

func (p *packets) pool(name, want string) string {
	site, pool, _ := strings.Cut(name, "/")
	for _, v := range p.c.Status().Sites {
		for i := range v.Pools {
			if x := &v.Pools[i]; v.Name == site && x.Name == pool && x.Serves != want {
				return x.Explain
			}
		}
	}
	return ""
}

// early holds that nothing went out or came back before its time, by the times that
// the controller has written down. (It counts from the start of a probe, which is a
// timeout before the node went at most.)
func (p *packets) early(since uint64) {
	p.t.Helper()
	// A scenario may have the same node go several times; the last is looked at.
	for i, events := 0, p.c.Events(since); i < len(events); i++ {
		e := &events[i]
		n := nodeOf(p.r, e.Subject())
		if n == nil || e.Time.Before(p.changed["down "+e.Subject()]) {
			continue
		}
		if lasted := e.Time.Sub(p.changed["down "+e.Subject()]); e.Kind == sites.FailoverOutage && lasted < n.Threshold/faster-time.Second {
			p.t.Errorf("taken out after %s: %s", lasted, realnet.Told(events[i : i+1])[0])
		}
	}
}

func nodeOf(r *Rehearsal, name string) *sites.Node {
	return newWorld(r.config).node(cut(name))
}

func cut(name string) (site, node string) {
	site, node, _ = strings.Cut(name, "/")
	return site, node
}
