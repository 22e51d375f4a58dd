package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// disk plays the disk: what was committed when, and what goes wrong.
type disk struct {
	mu      sync.Mutex
	start   time.Time
	fails   error
	takes   time.Duration
	tried   []time.Duration // since start
	stored  []Batch
	notices []string
}

func (d *disk) commit(b Batch) error {
	d.mu.Lock()
	d.tried = append(d.tried, time.Since(d.start))
	takes := d.takes
	d.mu.Unlock()
	time.Sleep(takes) // virtual: the tests run in bubbles
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails == nil {
		d.stored = append(d.stored, b)
	}
	return d.fails
}

func (d *disk) notify(s Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notices = append(d.notices, fmt.Sprintf("%v: %v, %d lost", time.Since(d.start), s.Err, s.Lost))
}

func (d *disk) set(fails error, takes time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails, d.takes = fails, takes
}

// bubble runs fn with a Writer on a disk in virtual time.
func bubble(t *testing.T, fn func(t *testing.T, d *disk, w *Writer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{start: time.Now()}
		w := NewWriter(d.commit, d.notify)
		fn(t, d, w)
		d.set(nil, 0)
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// madeStates compares the states that batches make.
var madeStates = cmp.Transformer("made", func(s SiteState) string {
	if s == nil {
		return "none"
	}
	return string(s())
})

func state(n string) Batch { return Batch{Sites: map[string]SiteState{"berlin": stored(n)}} }

// If this fails, the decision loop waits for the disk, or what came while the
// disk worked is lost or comes in a wrong order.
func TestWriterMergesWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, d *disk, w *Writer) {
		d.set(nil, time.Second)
		w.Queue(state("1"))
		synctest.Wait() // the first commit is under way
		w.Queue(Batch{Sites: map[string]SiteState{"berlin": stored("2"), "paris": stored("1")}, Events: []sites.Event{event(1, "")}, Global: []byte("g1"), Wall: epoch})
		w.Queue(Batch{Sites: map[string]SiteState{"berlin": nil}, Events: []sites.Event{event(2, "")}, Serials: map[string]uint32{"z": 1}})
		w.Queue(Batch{Events: []sites.Event{event(3, "")}, Serials: map[string]uint32{"z": 2}, Global: []byte("g2")})
		if since := time.Since(d.start); since != 0 {
			t.Errorf("queueing took %v", since)
		}
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		want := []Batch{state("1"), {
			Sites: map[string]SiteState{"berlin": nil, "paris": stored("1")}, Global: []byte("g2"), Wall: epoch,
			Serials: map[string]uint32{"z": 2}, Events: []sites.Event{event(1, ""), event(2, ""), event(3, "")},
		}}
		if diff := cmp.Diff(want, d.stored, madeStates); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string(nil), d.notices); diff != "" {
			t.Error(diff)
		}
	})
}

// If this fails, a full disk is hammered, or not tried again, or nobody is told,
// or a newer state is overwritten by the older one that failed.
func TestWriterTriesAgain(t *testing.T) {
	bubble(t, func(t *testing.T, d *disk, w *Writer) {
		d.set(errors.New("disk full"), 0)
		w.Queue(Batch{Sites: map[string]SiteState{"berlin": stored("old")}, Events: []sites.Event{event(1, "")}})
		for i := range 100 { // what is queued meanwhile hurries nothing
			time.Sleep(time.Second)
			if i == 10 {
				w.Queue(Batch{Sites: map[string]SiteState{"berlin": stored("new")}, Events: []sites.Event{event(2, "")}})
			}
			if i == 70 {
				d.set(errors.New("disk read-only"), 0)
			}
		}
		d.set(nil, 0)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		seconds := func(n ...int) (times []time.Duration) {
			for _, s := range n {
				times = append(times, time.Duration(s)*time.Second)
			}
			return times
		}
		if diff := cmp.Diff(seconds(0, 1, 3, 7, 15, 31, 61, 91, 121), d.tried); diff != "" {
			t.Error(diff)
		}
		want := []Batch{{Sites: map[string]SiteState{"berlin": stored("new")}, Events: []sites.Event{event(1, ""), event(2, "")}}}
		if diff := cmp.Diff(want, d.stored, madeStates); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"0s: disk full, 0 lost", "1m31s: disk read-only, 0 lost", "2m1s: <nil>, 0 lost"}, d.notices); diff != "" {
			t.Error(diff)
		}
	})
}

// If this fails, an answer is pushed to a router before the decision is stored,
// or a disk that works again is not noticed by who asks.
func TestCommitNow(t *testing.T) {
	bubble(t, func(t *testing.T, d *disk, w *Writer) {
		w.Queue(state("1"))
		if err := w.CommitNow(t.Context(), Batch{Events: []sites.Event{event(1, "")}}); err != nil {
			t.Error(err)
		}
		full := errors.New("disk full")
		d.set(full, 0)
		if err := w.CommitNow(t.Context(), state("2")); !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
		time.Sleep(100 * time.Millisecond)
		d.set(nil, 0)
		if err := w.CommitNow(t.Context(), Batch{Events: []sites.Event{event(2, "")}}); err != nil {
			t.Error(err)
		}
		if last := d.tried[len(d.tried)-1]; last != 100*time.Millisecond {
			t.Errorf("the last attempt came at %v, though somebody waited", last)
		}
		want := Batch{Sites: map[string]SiteState{"berlin": stored("2")}, Events: []sites.Event{event(2, "")}}
		if diff := cmp.Diff(want, d.stored[len(d.stored)-1], madeStates); diff != "" {
			t.Error(diff)
		}
	})
}

// If this fails, a disk that hangs holds the loop or the shutdown up for ever, or
// nobody is told.
func TestDiskThatHangs(t *testing.T) {
	bubble(t, func(t *testing.T, d *disk, w *Writer) {
		d.set(nil, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.CommitNow(ctx, state("1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if since := time.Since(d.start); since != 5*time.Second {
			t.Errorf("held up for %v", since)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"10s: the disk has not taken the last commit for 10s, 0 lost", "1m0s: <nil>, 0 lost"}
		if diff := cmp.Diff(want, d.notices); diff != "" {
			t.Error(diff)
		}
	})
}

// If this fails, a disk that stays full lets the memory fill up, or events go
// without a word.
func TestPendingEventsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, d *disk, w *Writer) {
		d.set(errors.New("disk full"), 0)
		for id := uint64(1); id <= maxPending+5; id++ {
			w.Queue(Batch{Events: []sites.Event{event(id, "")}})
		}
		time.Sleep(time.Hour)
		d.set(nil, 0)
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		got := d.stored[0].Events
		if len(got) != maxPending || got[0].ID != 6 || got[maxPending-1].ID != maxPending+5 {
			t.Errorf("%d events, from %d to %d", len(got), got[0].ID, got[len(got)-1].ID)
		}
		if last := d.notices[len(d.notices)-1]; last != "1h0m0s: <nil>, 5 lost" {
			t.Errorf("the last notice is %q of %d", last, len(d.notices))
		}
		// What another failure has cost is told without it.
		d.set(errors.New("disk full"), 0)
		w.Queue(state("1"))
		time.Sleep(time.Minute)
		d.set(nil, 0)
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		want := []string{"1h0m0s: disk full, 0 lost", "1h1m0s: <nil>, 0 lost"}
		if diff := cmp.Diff(want, d.notices[len(d.notices)-2:]); diff != "" {
			t.Error(diff)
		}
	})
}

// If this fails, the shutdown loses the last decision, or hangs, or what comes
// after it does.
func TestWriterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{start: time.Now()}
		w := NewWriter(d.commit, d.notify)
		w.Queue(state("1"))
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]Batch{state("1")}, d.stored, madeStates); diff != "" {
			t.Error(diff)
		}
		w.Queue(state("2"))
		if err := w.CommitNow(t.Context(), state("3")); !errors.Is(err, ErrClosed) {
			t.Errorf("error %v", err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Errorf("a second close: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := &disk{start: time.Now(), fails: errors.New("disk full")}
		w := NewWriter(d.commit, d.notify)
		w.Queue(state("1"))
		if err := w.Close(t.Context()); err == nil || err.Error() != "disk full" {
			t.Errorf("error %v", err)
		}
	})
}

// If this fails, an outage of a large site keeps a processor busy with states that are
// never stored, since others have come after them.
func TestOnlyTheLastStateIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		first := true
		w := NewWriter(func(b Batch) error {
			if first {
				first = false
				<-held
			}
			for _, state := range b.Sites {
				state()
			}
			return nil
		}, func(Status) {})
		made := 0
		for range 1000 {
			w.Queue(Batch{Sites: map[string]SiteState{"berlin": func() []byte { made++; return nil }}})
			synctest.Wait()
		}
		close(held)
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if made != 2 {
			t.Errorf("%d states were made of 1000, want those of the commit that hung and of the next", made)
		}
	})
}
