package simulation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// device is a target in memory that fails and is edited by hand. It holds every
// write against what must hold of a target.
type device struct {
	w     *world
	site  int
	marks bool

	mu      sync.Mutex
	entries []row
	ids     int
	// mode is how it fails until then.
	mode  mode
	until time.Duration
	// emptied: a hand has taken the last record away, and no write has put one
	// back yet.
	emptied bool
	// before are the answers before the last write, for a resolver that is late.
	before []netip.Addr
}

// row is an entry, and whether a hand wrote it.
type row struct {
	providers.Entry
	foreign bool
}

// mode is a way in which a device fails.
type mode int

const (
	refuses   mode = iota // nothing is done
	loses                 // it is done, and the reply is lost
	halves                // a part is done, and then nothing answers
	hangs                 // nothing is done, and nothing answers
	denies                // the password is wrong
	forgets               // it starts anew without its records
	modeCount int  = iota
)

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

// session is a provider on the device for one life of the controller.
type session struct {
	d    *device
	life *life
}

// begin waits as long as a call takes, and gives how it fails.
func (s *session) begin(ctx context.Context) (mode, bool, error) {
	d := s.d
	wait := 5*time.Millisecond + time.Duration(hash(d.w.plan.seed, uint64(d.site), uint64(d.w.since()))%30_000_000)
	if err := sleep(ctx, wait); err != nil {
		return 0, false, err
	}
	if s.life.dead() || !d.w.lineWorks(d.site) {
		<-ctx.Done()
		return 0, false, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	failing := d.w.since() < d.until
	return d.mode, failing, nil
}

// List gives what is there.
func (s *session) List(ctx context.Context, names []string) (l providers.Listing, err error) {
	mode, failing, err := s.begin(ctx)
	if err != nil {
		return l, err
	}
	if failing {
		switch mode {
		case hangs, halves:
			<-ctx.Done()
			return l, ctx.Err()
		case denies:
			return l, &providers.Error{Class: providers.Denied, Err: errors.New("wrong password")}
		case refuses:
			return l, errRefused
		default:
		}
	}
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.Marked || slices.Contains(names, e.Name) {
			l.Entries = append(l.Entries, e.Entry)
		}
	}
	return l, nil
}

// Apply carries out a change, or a part of it.
func (s *session) Apply(ctx context.Context, c providers.Change) error {
	mode, failing, err := s.begin(ctx)
	if err != nil {
		return err
	}
	d := s.d
	steps := d.steps(&c)
	if !failing {
		return d.write(&c, steps)
	}
	switch mode {
	case loses:
		if err := d.write(&c, steps); err != nil {
			return err
		}
		return errReset
	case halves:
		if err := d.write(&c, steps[:len(steps)/2]); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	default:
		return errRefused
	}
}

// steps are the writes of a change, one by one.
func (d *device) steps(c *providers.Change) (list []func() error) {
	at := func(e providers.Entry, f func(*row)) func() error {
		return func() error {
			i := slices.IndexFunc(d.entries, func(x row) bool { return x.ID == e.ID })
			if i < 0 {
				return &providers.Error{Class: providers.Changed, Err: errors.New("it is not there any more")}
			}
			f(&d.entries[i])
			return nil
		}
	}
	for _, e := range c.Adopt {
		list = append(list, at(e, func(x *row) { x.Marked, x.foreign = d.marks, false }))
	}
	for _, s := range c.Swap {
		list = append(list, at(s.From, func(x *row) {
			d.w.checkWrite(d, x, s.To.Addr)
			x.Record, x.Disabled = s.To, false
		}))
	}
	for _, r := range c.Add {
		list = append(list, func() error {
			d.w.checkWrite(d, nil, r.Addr)
			if slices.ContainsFunc(d.entries, func(x row) bool { return !x.foreign && !x.Disabled && x.Name == r.Name && x.Addr == r.Addr }) {
				d.w.fault("%s %s is written to the target of %s, which has it", r.Name, r.Addr, siteName(d.site))
			}
			d.insert(r, d.marks, false)
			return nil
		})
	}
	for _, e := range c.Remove {
		remove := at(e, func(x *row) { d.w.checkWrite(d, x, netip.Addr{}) })
		list = append(list, func() error {
			if err := remove(); err != nil {
				return err
			}
			d.entries = slices.DeleteFunc(d.entries, func(x row) bool { return x.ID == e.ID })
			return nil
		})
	}
	return list
}

// write does steps of a change, and holds each against P10.
func (d *device) write(c *providers.Change, steps []func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, step := range steps {
		had := d.answersLocked(c.Name)
		d.before = had
		if err := step(); err != nil {
			return err
		}
		has := d.answersLocked(c.Name)
		if len(has) > 0 {
			d.emptied = false
		}
		if len(has) == 0 && len(had) > 0 {
			d.w.fault("P10: %s at %s held %v, and a write has left nothing", c.Name, siteName(d.site), had)
		}
		d.w.say("target %s: %s is %v", siteName(d.site), c.Name, has)
		select {
		case d.w.written <- struct{}{}:
		default:
		}
	}
	return nil
}

func (d *device) insert(r providers.Record, marked, foreign bool) {
	d.ids++
	d.entries = append(d.entries, row{providers.Entry{
		Record: r, ID: fmt.Sprintf("%04d", d.ids), Marked: marked, Text: fmt.Sprintf("%s %s", r.Name, r.Addr),
	}, foreign})
}

// edit is what a human does to a device.
func (d *device) edit(chance uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch n := len(d.entries); {
	case chance%5 == 0:
		d.insert(providers.Record{Name: fmt.Sprintf("printer%d.example.lan", d.ids), Addr: alien}, false, true)
	case n == 0:
	default:
		i := int(chance >> 8 % uint64(n))
		if d.entries[i].foreign {
			return // their own are theirs to keep
		}
		switch chance % 5 {
		case 3:
			if d.marks { // elsewhere it would be theirs from then on
				d.entries[i].Addr = alien
				break
			}
			fallthrough
		case 1, 2:
			d.entries = slices.Delete(d.entries, i, i+1)
		case 4:
			d.entries[i].Disabled = true
		}
	}
	d.emptied = len(d.answersLocked(host)) == 0
	d.w.say("target %s: a hand leaves %v", siteName(d.site), d.answersLocked(host))
}

// reset is a device that starts anew, from its last saved configuration or none.
func (d *device) fail(m mode, until time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mode, d.until = m, until
	if m == forgets {
		d.entries = slices.DeleteFunc(d.entries, func(x row) bool { return !x.foreign })
		d.emptied = true
	}
}

func (d *device) answers(name string) []netip.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answersLocked(name)
}

func (d *device) answersLocked(name string) (list []netip.Addr) {
	for _, e := range d.entries {
		if e.Name == name && !e.Disabled {
			list = append(list, e.Addr)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return slices.Compact(list)
}

func (d *device) foreign() (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.foreign {
			list = append(list, e.Text)
		}
	}
	return list
}

// Inspect and Close have nothing to do.
func (s *session) Inspect(context.Context) (providers.Inspection, error) {
	return providers.Inspection{Product: "a device"}, nil
}

func (s *session) Close() error { return nil }
