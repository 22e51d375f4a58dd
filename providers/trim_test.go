package providers

import (
	"context"
	"errors"
	"net/netip"
	"testing"
)

// table is a target without marks that does what it is told.
type table map[netip.Addr]bool

func (t table) List(_ context.Context, names []string) (l Listing, _ error) {
	for a := range t {
		l.Entries = append(l.Entries, Entry{Record: Record{Name: names[0], Addr: a}, ID: a.String()})
	}
	return l, nil
}

func (t table) Apply(_ context.Context, c Change) error {
	for _, s := range c.Swap {
		delete(t, s.From.Addr)
		t[s.To.Addr] = true
	}
	return nil
}

func (table) Inspect(context.Context) (Inspection, error) { return Inspection{}, nil }
func (table) Close() error                                { return nil }

// A disk that hangs after a record was moved would have people told that clients still
// get the old address.
func TestJournalThatCannotBeTrimmed(t *testing.T) {
	before, after := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	kept := 0
	r := Round{
		Provider: table{before: true},
		Input:    Input{Desired: []Record{{Name: "app.lan", Addr: after}}, Owned: []Record{{Name: "app.lan", Addr: before}}},
		Keep: func(context.Context, []Record) error {
			if kept++; kept > 1 {
				return errors.New("disk full")
			}
			return nil
		},
	}
	out, err := r.Sync(t.Context())
	if err != nil || len(out.Verified) != 1 || out.Verified[0].Addr != after {
		t.Errorf("%v: verified %v", err, out.Verified)
	}
	if len(out.Owned) != 2 || kept != 2 {
		t.Errorf("after %d times the journal is %v", kept, out.Owned)
	}
}
