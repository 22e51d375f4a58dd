package providers

import (
	"context"
	"errors"
	"net/netip"
	"testing"
)

// wary refuses what concerns one name; other calls from a certain one on are cut off.
type wary struct{ calls, cut int }

var errCutOff = errors.New("connection reset")

func (w *wary) List(context.Context, []string) (Listing, error) {
	w.calls++
	if w.calls > w.cut {
		return Listing{}, errCutOff
	}
	return Listing{}, nil
}

func (w *wary) Apply(_ context.Context, c Change) error {
	w.calls++
	switch {
	case c.Name == "bad":
		return &Error{Class: Permanent, Err: errors.New("a value that it does not take")}
	case w.calls > w.cut:
		return errCutOff
	}
	return nil
}

func (w *wary) Inspect(context.Context) (Inspection, error) { return Inspection{}, nil }
func (w *wary) Close() error                                { return nil }

// A target that refuses one record and is then cut off would be left alone for five
// minutes, moves of its other records too: nothing is known of it, so it is to be read
// again soon.
func TestWhatEndsARoundSaysWhenItIsTriedAgain(t *testing.T) {
	a := netip.MustParseAddr("192.0.2.10")
	for cut, what := range map[int]string{2: "the next change", 3: "the reading back"} {
		r := Round{Provider: &wary{cut: cut}, Input: Input{Traits: Traits{Marks: true}, Desired: []Record{{Name: "bad", Addr: a}, {Name: "www", Addr: a}}}}
		_, err := r.Sync(t.Context())
		if class, _ := ClassOf(err); class != Transient || !errors.Is(err, errCutOff) {
			t.Errorf("%s is cut off: class %d, %v", what, class, err)
		}
	}
}

// A record that the target will take once it has room again would wait with one that it
// never takes.
func TestRefusalsAreTriedAgainWithTheFirstThatMayPass(t *testing.T) {
	never, now := &Error{Class: Permanent, Err: errors.New("never")}, &Error{Class: Declined, Err: errors.New("not now")}
	for _, list := range [][]error{{never, now}, {now, never}, {never, now, never}} {
		var err error
		for _, e := range list {
			err = refusedToo(err, e)
		}
		if class, _ := ClassOf(err); class != Declined {
			t.Errorf("%v: class %d", list, class)
		}
	}
}
