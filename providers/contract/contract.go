// Package contract is the suite of tests that every kind of target must pass. A
// provider's own tests call [Run] with a [Bench]; the suite drives the provider
// by [providers.Round], as the controller does.
package contract

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Bench is a kind of target in one profile.
type Bench struct {
	Traits providers.Traits
	// New makes a stand-in that holds nothing of ours. It ends with t.
	New func(t *testing.T) Stand
	// Faults are those that the stand-in can be given.
	Faults []Fault
	// Names turns a name of the suite ("app.example.lan") into one that the
	// target may hold; nil takes it as it is.
	Names func(string) string
}

// Stand is a target that tests can look at and meddle with, past the provider.
type Stand interface {
	// Connect gives a provider as a new process would make it. It is closed by
	// the caller.
	Connect(t *testing.T) providers.Provider
	// Seed puts records of somebody else there, beside others of kinds that
	// only this target has. Fixed ones are left out where it has none.
	Seed(t *testing.T, records ...Foreign)
	// Dump gives all that it holds, ours and others', one text for each row as
	// it stands, in its own order, without what the target changes by itself.
	Dump(t *testing.T) []string
	// Edit is a person's hand on a record, whoever's it is.
	Edit(t *testing.T, e Edit)
	// Ask asks its DNS and gives the addresses and the TTL of the answer; none
	// for a name that is not there or is answered by others. ok is false where no
	// answer came.
	Ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool)
	// Break has the n-th request from now that could write (0 is the next) meet
	// a fault, once. The channel is closed when it does.
	Break(t *testing.T, f Fault, n int) <-chan struct{}
	// Shun has each request that writes a record of a name be refused, with the error
	// of a target whose storage is full, until Mend.
	Shun(t *testing.T, name string)
	// Mend takes back a fault that has not struck, and what is shunned.
	Mend(t *testing.T)
	// Writes counts the requests so far that changed or tried to change records.
	Writes() int
}

// Foreign is a record of somebody else.
type Foreign struct {
	Name     string
	Addr     netip.Addr
	TTL      time.Duration // 0: what the target gives by itself
	Disabled bool          // only where [providers.Traits.Disable]
}

// Verb is what a hand does.
type Verb uint8

// What a hand does.
const (
	Delete  Verb = iota
	Disable      // only where [providers.Traits.Disable]
	Change       // to another address; its mark, if there is one, stays
)

// Edit is one deed of a hand.
type Edit struct {
	Verb Verb
	Name string
	Addr netip.Addr
	To   netip.Addr // of Change
}

// Fault is a way in which a target fails.
type Fault string

// The faults.
const (
	LostReply Fault = "the reply is lost"  // the write is done, and the connection cut before the answer
	Cut       Fault = "the line is cut"    // before anything is done
	Hang      Fault = "the target hangs"   // it takes the request and never answers, and does nothing
	Refuse    Fault = "the target refuses" // an error of its own, nothing is done
	Duplicate Fault = "somebody is faster" // the record that is to be written is put there just before, somebody else's; a write of nothing new goes on
	Gone      Fault = "the record is gone" // what is to be written to is deleted just before; a write to nothing goes on
	Half      Fault = "half of it is done" // a part of the request is carried out, then an error
)

// Run runs the suite.
func Run(t *testing.T, b Bench) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*driver)
	}{
		{"an empty target is filled", (*driver).firstPush},
		{"nothing is written when nothing has changed", (*driver).idle},
		{"sets grow and shrink, A and AAAA", (*driver).sets},
		{"a TTL changes", (*driver).ttls},
		{"a wildcard moves", (*driver).wildcard},
		{"what others have stays as it is", (*driver).foreign},
		{"another's record in the way is a conflict", (*driver).conflicts},
		{"an equal record of another is enough", (*driver).satisfied},
		{"records of others are taken over", (*driver).adoption},
		{"what a hand has changed is found and put right", (*driver).drift},
		{"names that left are removed", (*driver).leaving},
		{"a target that lost everything is filled again", (*driver).lost},
		{"what we know is from an old backup", (*driver).oldBackup},
		{"a listing lacks most of it", (*driver).shrunk},
		{"a thousand records", (*driver).thousand},
		{"switches under continuous queries", (*driver).switches},
		{"killed at every call", (*driver).killed},
		{"one record is refused", (*driver).refusal},
		{"every fault at every request", (*driver).faults},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) { c.run(start(t, b)) })
	}
}

// The addresses of the suite. The first ones are nodes', the last are foreign.
var (
	nodeA  = netip.MustParseAddr("192.0.2.10")
	nodeB  = netip.MustParseAddr("192.0.2.11")
	nodeC  = netip.MustParseAddr("192.0.2.12")
	nodeA6 = netip.MustParseAddr("2001:db8::10")
	nodeB6 = netip.MustParseAddr("2001:db8::11")
	alien  = netip.MustParseAddr("198.51.100.77")
	alien6 = netip.MustParseAddr("2001:db8:ffff::77")
)

const ttl = 15 * time.Second

// driver is the controller's part: what it keeps between rounds and processes.
type driver struct {
	t     *testing.T
	b     Bench
	stand Stand
	p     providers.Provider

	owned, last []providers.Record // as stored
	adopt       []providers.Record
	policy      providers.Policy
}

func start(t *testing.T, b Bench) *driver {
	t.Helper()
	s := b.New(t)
	d := &driver{t: t, b: b, stand: s, policy: providers.Policy{DeleteGuard: 100}}
	d.connect()
	t.Cleanup(func() { _ = d.p.Close() })
	return d
}

// connect gives the driver a provider of a new process.
func (d *driver) connect() {
	if d.p != nil {
		_ = d.p.Close()
	}
	d.p = d.stand.Connect(d.t)
}

func (d *driver) name(n string) string {
	if d.b.Names != nil {
		return d.b.Names(n)
	}
	return n
}

// set makes records of one name.
func (d *driver) set(name string, addrs ...netip.Addr) (list []providers.Record) {
	for _, a := range addrs {
		r := providers.Record{Name: d.name(name), Addr: a}
		if d.b.Traits.TTL {
			r.TTL = ttl
		}
		list = append(list, r)
	}
	return list
}

func join(lists ...[]providers.Record) []providers.Record { return slices.Concat(lists...) }

// round runs one round and keeps what the controller would keep.
func (d *driver) round(ctx context.Context, p providers.Provider, desired []providers.Record) (providers.Outcome, error) {
	r := providers.Round{
		Provider: p,
		Input: providers.Input{
			Desired: desired, Traits: d.b.Traits, Owned: d.owned, Last: d.last, Adopt: d.adopt, Policy: d.policy,
		},
		Deadline: time.Minute,
		Keep: func(_ context.Context, owned []providers.Record) error {
			d.owned = owned
			return nil
		},
	}
	out, err := r.Sync(ctx)
	if out.Verified != nil {
		d.last = out.Verified
	}
	return out, err
}

// push brings the target to what is desired, at the first try.
func (d *driver) push(desired []providers.Record) providers.Outcome {
	d.t.Helper()
	out, err := d.round(d.t.Context(), d.p, desired)
	if err != nil {
		d.t.Fatalf("push: %v", err)
	}
	return out
}

// tries is how many rounds a target may take after a fault.
const tries = 6

// settle brings it there in a few tries, as the controller's backoff does.
func (d *driver) settle(desired []providers.Record) {
	d.t.Helper()
	var err error
	for range tries {
		if _, err = d.round(d.t.Context(), d.p, desired); err == nil {
			return
		}
	}
	d.t.Fatalf("the target does not come to hold what it should: %v", err)
}

// answers holds that the target answers a name with exactly these addresses.
func (d *driver) answers(name string, want ...netip.Addr) {
	d.t.Helper()
	for _, v6 := range []bool{false, true} {
		var of []netip.Addr
		for _, a := range want {
			if a.Is6() == v6 {
				of = append(of, a)
			}
		}
		if v6 && of == nil {
			continue // some targets ask others then
		}
		got, _, ok := d.ask(name, v6)
		slices.SortFunc(got, netip.Addr.Compare)
		got = slices.Compact(got) // where two have the same record, some answer it twice
		slices.SortFunc(of, netip.Addr.Compare)
		if !ok || !slices.Equal(got, of) {
			d.t.Errorf("the target answers %s (v6 %v) with %v (answered %v), want %v", name, v6, got, ok, of)
		}
	}
}

// ask asks, again where a packet was lost.
func (d *driver) ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool) {
	for range tries {
		if addrs, ttl, ok = d.stand.Ask(d.name(name), v6); ok {
			return addrs, ttl, true
		}
	}
	return nil, 0, false
}

// quiet holds that another round finds nothing to do and writes nothing.
func (d *driver) quiet(desired []providers.Record) {
	d.t.Helper()
	before := d.stand.Writes()
	out := d.push(desired)
	if n := d.stand.Writes() - before; n != 0 || out.Writes != 0 || len(out.First.Changes) != 0 {
		d.t.Errorf("a round with nothing to do sent %d writes: %+v", n, out.First.Changes)
	}
}

// untouched holds that every row of before is there still, byte for byte.
func (d *driver) untouched(before []string) {
	d.t.Helper()
	after := d.stand.Dump(d.t)
	for _, row := range before {
		i := slices.Index(after, row)
		if i < 0 {
			d.t.Errorf("a record of somebody else was changed or removed: %s\nnow there:\n%s", row, strings.Join(after, "\n"))
			continue
		}
		after = slices.Delete(after, i, i+1)
	}
}

// seed puts records of others there, and gives what the target holds then.
func (d *driver) seed(records ...Foreign) []string {
	for i := range records {
		records[i].Name = d.name(records[i].Name)
	}
	d.stand.Seed(d.t, records...)
	return d.stand.Dump(d.t)
}
