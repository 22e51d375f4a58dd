package contract

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dnsteer/dnsteer/providers"
)

// watch asks the target's DNS for names until it is stopped. It holds that each
// answer has an address of a node, and no other.
type watch struct {
	stop  context.CancelFunc
	done  sync.WaitGroup
	count atomic.Int64

	mu  sync.Mutex
	bad []string
}

func (d *driver) watch(names ...string) *watch {
	ctx, stop := context.WithCancel(d.t.Context())
	w := &watch{stop: stop}
	w.done.Go(func() {
		for ctx.Err() == nil {
			for _, name := range names {
				w.look(d, name)
			}
		}
	})
	return w
}

func (w *watch) look(d *driver, name string) {
	addrs, _, ok := d.stand.Ask(d.name(name), false)
	if !ok {
		return // a packet was lost
	}
	w.count.Add(1)
	ours := !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a != nodeA && a != nodeB && a != nodeC })
	if len(addrs) > 0 && ours {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = append(w.bad, fmt.Sprintf("%s: %v", name, addrs))
}

// end stops asking and reports what was wrong.
func (w *watch) end(t *testing.T) {
	t.Helper()
	w.stop()
	w.done.Wait()
	if len(w.bad) > 0 {
		t.Errorf("%d of %d answers were empty or foreign, such as %s", len(w.bad), w.count.Load(), w.bad[0])
	}
}

// The figures of the switches.
const (
	switchCount = 200
	answerCount = 10000
)

func (d *driver) switches() {
	d.seed(aliens(d.b.Traits.Disable)...)
	d.push(join(d.set(app, nodeA), d.set(other, nodeA, nodeB)))
	w := d.watch(app, other)
	for i := range switchCount {
		node, pair := nodeA, []netip.Addr{nodeA, nodeB}
		if i%2 == 0 {
			node, pair = nodeB, []netip.Addr{nodeC}
		}
		d.push(join(d.set(app, node), d.set(other, pair...)))
		d.answers(app, node)
		for w.count.Load() < int64((i+1)*answerCount/switchCount) && !d.t.Failed() {
			w.look(d, app)
		}
	}
	w.end(d.t)
	d.t.Logf("%d switches of two names, %d answers, %d empty or foreign", switchCount, w.count.Load(), len(w.bad))
}

// mortal is a provider whose process is killed at the n-th call.
type mortal struct {
	providers.Provider
	left  int  // calls that are made still
	after bool // the last call is made, and its answer is not heard
	dead  bool
}

var errKilled = errors.New("killed")

// call says whether a call is made, and whether it is heard.
func (m *mortal) call() (made, heard bool) {
	if m.left > 0 {
		m.left--
		return true, true
	}
	first := !m.dead
	m.dead = true
	return first && m.after, false
}

func (m *mortal) List(ctx context.Context, names []string) (l providers.Listing, err error) {
	made, heard := m.call()
	if made {
		l, err = m.Provider.List(ctx, names)
	}
	if !heard {
		return providers.Listing{}, errKilled
	}
	return l, err
}

func (m *mortal) Apply(ctx context.Context, c providers.Change) (err error) {
	made, heard := m.call()
	if made {
		err = m.Provider.Apply(ctx, c)
	}
	if !heard {
		return errKilled
	}
	return err
}

// move is a push that has something of everything.
func (d *driver) move() (from, to []providers.Record) {
	from = join(d.set(app, nodeA, nodeA6), d.set(other, nodeB), d.set("gone.example.lan", nodeA))
	to = join(d.set(app, nodeB, nodeC, nodeB6), d.set(other, nodeC), d.set("new.example.lan", nodeA, nodeB))
	return from, to
}

// moved holds that the move has come to its end.
func (d *driver) moved(to []providers.Record, before []string) {
	d.t.Helper()
	d.answers(app, nodeB, nodeC, nodeB6)
	d.answers(other, nodeC)
	d.answers("new.example.lan", nodeA, nodeB)
	d.quiet(to)
	d.untouched(before)
}

func (d *driver) killed() {
	for _, after := range []bool{false, true} {
		ended := false
		for n := 0; !ended; n++ {
			if n > 100 {
				d.t.Fatal("a push does not come to its end")
			}
			d.t.Run(fmt.Sprintf("call %d, after it %v", n, after), func(t *testing.T) {
				d := start(t, d.b)
				before := d.seed(aliens(d.b.Traits.Disable)...)
				from, to := d.move()
				d.push(from)
				w := d.watch(app, other)
				m := &mortal{Provider: d.p, left: n, after: after}
				_, err := d.round(t.Context(), m, to)
				ended = err == nil && !m.dead
				d.connect()
				d.settle(to)
				w.end(t)
				d.moved(to, before)
			})
			if d.t.Failed() {
				return
			}
		}
	}
}

// refusal moves while the target does not take one name, the first in order.
func (d *driver) refusal() {
	if !slices.Contains(d.b.Faults, Refuse) {
		return // a real one
	}
	const first = "aaa.example.lan"
	before := d.seed(aliens(d.b.Traits.Disable)...)
	from, to := d.move()
	from, to = join(d.set(first, nodeA), from), join(d.set(first, nodeB), to)
	d.push(from)
	d.stand.Shun(d.t, d.name(first))
	out, err := d.round(d.t.Context(), d.p, to)
	if class, _ := providers.ClassOf(err); class != providers.Declined || len(out.Refused) != 1 || out.Refused[0].Name != d.name(first) {
		d.t.Errorf("what is refused is told as class %d, %+v: %v", class, out.Refused, err)
	}
	d.answers(first, nodeA)
	d.answers(app, nodeB, nodeC, nodeB6)
	d.answers(other, nodeC)
	d.answers("new.example.lan", nodeA, nodeB)
	if _, err = d.round(d.t.Context(), d.p, to); err == nil {
		d.t.Error("what is refused still is no error the second time")
	}
	d.stand.Mend(d.t)
	d.push(to)
	d.answers(first, nodeB)
	d.moved(to, before)
}

func (d *driver) faults() {
	for _, f := range d.b.Faults {
		struck := true
		for n := 0; struck; n++ {
			if n > 100 {
				d.t.Fatal("a fault strikes again and again")
			}
			d.t.Run(fmt.Sprintf("%s, request %d", f, n), func(t *testing.T) {
				d := start(t, d.b)
				struck = d.suffer(f, n)
			})
			if d.t.Failed() {
				return
			}
		}
		d.t.Logf("%s: passed", f)
	}
}

// suffer moves while a fault waits for the n-th writing request, and says
// whether it met it.
func (d *driver) suffer(f Fault, n int) (struck bool) {
	before := d.seed(aliens(d.b.Traits.Disable)...)
	from, to := d.move()
	d.push(from)
	w := d.watch(app, other)
	hit := d.stand.Break(d.t, f, n)
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	if f == Hang {
		// Time is up once it hangs: no test waits for a real deadline.
		go func() {
			select {
			case <-hit:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	_, err := d.round(ctx, d.p, to)
	select {
	case <-hit:
		struck = true
	default:
		d.stand.Mend(d.t)
	}
	if err != nil && !struck {
		d.t.Errorf("a push fails with no fault: %v", err)
	}
	d.settle(to)
	if f == Gone {
		w.stop() // the hand that deletes may leave nothing for a moment
		w.done.Wait()
	} else {
		w.end(d.t)
	}
	d.moved(to, before)
	return struck
}
