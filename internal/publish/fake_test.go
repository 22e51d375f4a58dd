package publish

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// device is a scripted target in memory.
type device struct {
	marks bool

	mu      sync.Mutex
	entries []providers.Entry
	ids     int
	calls   int
	writes  int
	// fail, if not nil, is asked before each call; after has it fail though it
	// was done.
	fail  func(call int) error
	after bool
	// refuse, if not nil, is asked before each change; what it refuses is not done.
	refuse func(c providers.Change) error
	// hang blocks every call, whatever its context says, until it is closed.
	hang    chan struct{}
	closed  int
	settled int
	unset   error // of a setting beside the records, which the device would not take
	// silent is not nil where it does not answer for that setting.
	silent  chan struct{}
	written func() // is called at each write
	shadows []providers.Shadow
}

func (d *device) call(ctx context.Context, do func()) error {
	hang, err := d.met()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil || d.after {
		do()
	}
	return err
}

// met gives what a call meets. It may panic.
func (d *device) met() (hang chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.calls
	d.calls++
	if d.fail != nil {
		err = d.fail(n)
	}
	return d.hang, err
}

func (d *device) List(ctx context.Context, names []string) (l providers.Listing, err error) {
	err = d.call(ctx, func() {
		for _, e := range d.entries {
			if e.Marked || slices.Contains(names, e.Name) {
				l.Entries = append(l.Entries, e)
			}
		}
		l.Shadows = d.shadows
	})
	return l, err
}

func (d *device) Apply(ctx context.Context, c providers.Change) error {
	var refused error
	err := d.call(ctx, func() {
		if d.written != nil {
			d.written()
		}
		d.writes++
		if d.refuse != nil {
			if refused = d.refuse(c); refused != nil {
				return
			}
		}
		for _, e := range c.Adopt {
			d.at(e, func(x *providers.Entry) { x.Marked = true })
		}
		for _, s := range c.Swap {
			d.at(s.From, func(x *providers.Entry) { x.Record, x.Disabled = s.To, false })
		}
		for _, r := range c.Add {
			d.insert(providers.Entry{Record: r, Marked: d.marks})
		}
		for _, e := range c.Remove {
			d.entries = slices.DeleteFunc(d.entries, func(x providers.Entry) bool { return x.ID == e.ID })
		}
	})
	return cmp.Or(refused, err)
}

func (d *device) at(e providers.Entry, f func(*providers.Entry)) {
	for i := range d.entries {
		if d.entries[i].ID == e.ID {
			f(&d.entries[i])
		}
	}
}

func (d *device) insert(e providers.Entry) {
	d.ids++
	e.ID = fmt.Sprintf("%04d", d.ids)
	e.Text = fmt.Sprintf("%s %s", e.Name, e.Addr)
	d.entries = append(d.entries, e)
}

func (d *device) Inspect(context.Context) (providers.Inspection, error) {
	return providers.Inspection{Product: "a device"}, nil
}

func (d *device) Settle(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settled++
	if silent := d.silent; silent != nil {
		d.mu.Unlock()
		defer d.mu.Lock()
		select {
		case <-silent:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	return d.unset
}

func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
	return nil
}

// hand does something to the device, past the provider.
func (d *device) hand(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *device) answers(name string) (list []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.Name == name && !e.Disabled {
			list = append(list, e.Addr)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}

func (d *device) count() (calls, writes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls, d.writes
}

// world is a publisher with one target on one device.
type world struct {
	t      *testing.T
	d      *device
	s      *shelf
	p      *Publisher
	target Target

	mu     sync.Mutex
	events []sites.Event
	ask    func(name string) []netip.Addr
	asked  int
}

// newWorld makes a world with what an earlier one has stored.
func newWorld(t *testing.T, d *device, s *shelf) *world {
	t.Helper()
	w := newWorldWithout(t, d, s)
	w.use(func(*Target) {})
	return w
}

// newWorldWithout makes one without a configuration.
func newWorldWithout(t *testing.T, d *device, s *shelf) *world {
	t.Helper()
	w := &world{t: t, d: d, s: s}
	w.p = New(Deps{
		Store: s, Last: s.last, Log: slog.New(slog.DiscardHandler), Jitter: func() float64 { return 1 },
		Tell: func(f func() (sites.Event, bool)) {
			e, ok := f()
			if !ok {
				return
			}
			w.mu.Lock()
			e.ID = uint64(len(w.events) + 1)
			w.events = append(w.events, e)
			w.s.last = max(w.s.last, e.ID)
			w.mu.Unlock()
			w.p.Note([]sites.Event{e})
		},
		Ask: func(_ context.Context, _ netip.AddrPort, name string, _ bool) ([]netip.Addr, error) {
			w.mu.Lock()
			ask := w.ask
			w.asked++
			w.mu.Unlock()
			if ask == nil {
				return d.answers(name), nil
			}
			return ask(name), nil
		},
	})
	w.target = Target{
		Name: "router", Site: "berlin", Kind: "model", Traits: providers.Traits{Marks: d.marks, Disable: true},
		DeleteGuard: 50, Reconcile: every5, Resolvers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.53:53")},
	}
	return w
}

func (w *world) use(f func(*Target)) {
	w.t.Helper()
	f(&w.target)
	w.target.Servers = []Server{{Name: "192.0.2.1:8729", Connect: func() (providers.Provider, error) { return w.d, nil }, Config: w.target.Kind}}
	if err := w.p.Use([]Target{w.target}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.p.Close(ctx); err != nil {
		w.t.Error(err)
	}
}

func (w *world) view() View { return w.p.Views()[0] }

// kinds lists the kinds of the events so far.
func (w *world) kinds() (list []sites.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		list = append(list, e.Kind)
	}
	return list
}

func (w *world) last() sites.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		return sites.Event{}
	}
	return w.events[len(w.events)-1]
}

func (w *world) told(want ...sites.Kind) {
	w.t.Helper()
	if got := w.kinds(); !slices.Equal(got, want) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.t.Errorf("told %v, want %v\n%+v", got, want, w.events)
	}
}

// edit has a hand give a name another address at the device.
func (w *world) edit(name string, to netip.Addr) {
	w.d.hand(func() {
		for i := range w.d.entries {
			if w.d.entries[i].Name == name {
				w.d.entries[i].Addr = to
			}
		}
	})
}

func (w *world) holds(name string, want ...netip.Addr) {
	w.t.Helper()
	if got := w.d.answers(name); !slices.Equal(got, want) {
		w.t.Errorf("the device answers %s with %v, want %v", name, got, want)
	}
}
