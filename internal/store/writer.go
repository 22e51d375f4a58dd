package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// The pace of a Writer whose commits fail, and what it holds meanwhile.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// slowCommit is how long a commit may take before it counts as failed in
	// what the owner is told; it goes on none the less.
	slowCommit = 10 * time.Second
	maxPending = 10_000 // events
)

// ErrClosed is what a closed Writer gives, and a closed Store.
var ErrClosed = errors.New("the store is closed")

// Status tells how a Writer fares.
type Status struct {
	// Err is why nothing is stored at present; nil says that it is again. It
	// may be a [ReplacedError].
	Err error
	// Lost counts the events that are gone for good because too many waited since
	// commits began to fail.
	Lost int
}

// Writer commits batches beside its owner, which never waits for a disk unless
// it asks to (S1). Batches that wait become one: of a site's states the latest
// counts, events are all kept in their order, up to a bound. A failed commit is
// tried again after 1 s, 2 s, … 30 s, for as long as it takes.
type Writer struct {
	commit func(Batch) error
	notify func(Status)
	wake   chan struct{} // holds one
	stop   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	pending Batch
	// waiters are told how the next commit ends.
	waiters []chan error
	lost    int
	closed  bool

	// telling keeps the notifications in order; it guards what was said last.
	telling  sync.Mutex
	said     string
	saidLost int
}

// NewWriter starts a Writer that stores through commit, as [Store.Commit] does,
// and ends with [Writer.Close]. notify is called from other goroutines, one call
// at a time, when commits begin to fail, when they fail for another reason, when
// events were lost, and when all is well again. It may call Queue and nothing
// else of the Writer.
func NewWriter(commit func(Batch) error, notify func(Status)) *Writer {
	w := &Writer{
		commit: commit, notify: notify,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w
}

// Queue has the batch stored soon. It never blocks. What the batch refers to
// must not be changed any more. A closed Writer stores nothing.
func (w *Writer) Queue(b Batch) {
	w.mu.Lock()
	if !w.closed {
		w.add(b)
	}
	w.mu.Unlock()
	w.rouse()
}

// CommitNow stores the batch with everything that waits, and returns when it
// lasts: for what must be stored before it is acted upon. On an error, also that
// of ctx, the batch waits for the next attempt.
func (w *Writer) CommitNow(ctx context.Context, b Batch) error {
	told := make(chan error, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.add(b)
	w.waiters = append(w.waiters, told)
	w.mu.Unlock()
	w.rouse()
	select {
	case err := <-told:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the store: %w", ctx.Err())
	}
}

// Flush returns when everything that was queued before is stored, or says why it
// is not.
func (w *Writer) Flush(ctx context.Context) error { return w.CommitNow(ctx, Batch{}) }

// Close flushes and ends the Writer. When ctx ends first, what waited is lost and
// a commit that hangs is left to itself.
func (w *Writer) Close(ctx context.Context) error {
	err := w.Flush(ctx)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if already {
		return err
	}
	close(w.stop)
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	return err
}

// add merges a batch into those that wait. The caller holds mu.
func (w *Writer) add(b Batch) {
	w.pending = merge(w.pending, b)
	if over := len(w.pending.Events) - maxPending; over > 0 {
		w.lost += over
		w.pending.Events = append([]sites.Event(nil), w.pending.Events[over:]...)
	}
}

// merge gives one batch that does what the two do in turn. It may change the
// first.
func merge(first, second Batch) Batch {
	if len(second.Sites) > 0 {
		if first.Sites == nil {
			first.Sites = make(map[string]SiteState, len(second.Sites))
		}
		maps.Copy(first.Sites, second.Sites)
	}
	if len(second.Serials) > 0 {
		if first.Serials == nil {
			first.Serials = make(map[string]uint32, len(second.Serials))
		}
		maps.Copy(first.Serials, second.Serials)
	}
	for kind, byKey := range second.Values {
		if first.Values == nil {
			first.Values = make(map[Kind]map[string][]byte, len(second.Values))
		}
		if first.Values[kind] == nil {
			first.Values[kind] = make(map[string][]byte, len(byKey))
		}
		maps.Copy(first.Values[kind], byKey)
	}
	first.AllValues = first.AllValues || second.AllValues
	if second.Global != nil {
		first.Global = second.Global
	}
	if !second.Wall.IsZero() {
		first.Wall = second.Wall
	}
	first.Events = append(first.Events, second.Events...)
	return first
}

func (b *Batch) empty() bool {
	return len(b.Sites) == 0 && len(b.Serials) == 0 && len(b.Events) == 0 && len(b.Values) == 0 && b.Global == nil && b.Wall.IsZero()
}

func (w *Writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run commits what waits until the Writer is closed.
func (w *Writer) run() {
	defer close(w.done)
	defer w.release()
	retry := firstRetry
	for {
		batch, waiters := w.take()
		if batch.empty() && len(waiters) == 0 {
			select {
			case <-w.wake:
				continue
			case <-w.stop:
				return
			}
		}
		err := w.attempt(batch)
		if err != nil {
			w.giveBack(batch)
		}
		for _, told := range waiters {
			told <- err
		}
		if err == nil {
			retry = firstRetry
			continue
		}
		if !w.pause(retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

func (w *Writer) take() (Batch, []chan error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch, waiters := w.pending, w.waiters
	w.pending, w.waiters = Batch{}, nil
	return batch, waiters
}

// giveBack puts a batch that was not stored before those that came since.
func (w *Writer) giveBack(batch Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := w.pending
	w.pending = batch
	w.add(since)
}

// attempt commits a batch and tells the owner how it went.
func (w *Writer) attempt(batch Batch) error {
	if batch.empty() {
		return nil
	}
	over := false // guarded by telling: a warning that comes late is none
	slow := time.AfterFunc(slowCommit, func() {
		w.telling.Lock()
		defer w.telling.Unlock()
		if !over {
			w.tell(fmt.Errorf("the disk has not taken the last commit for %v", slowCommit))
		}
	})
	err := w.commit(batch)
	slow.Stop()
	w.telling.Lock()
	defer w.telling.Unlock()
	over = true
	w.tell(err)
	return err
}

// tell notifies the owner of what it does not know yet. The caller holds telling.
func (w *Writer) tell(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	w.mu.Lock()
	lost := w.lost
	if err == nil {
		w.lost = 0
	}
	w.mu.Unlock()
	news := text != w.said || lost != w.saidLost
	w.said, w.saidLost = text, lost
	if err == nil {
		w.saidLost = 0
	}
	if news {
		w.notify(Status{Err: err, Lost: lost})
	}
}

// pause waits before the next attempt, unless somebody waits for it; false says
// that the Writer is closed.
func (w *Writer) pause(length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-w.stop:
			return false
		case <-w.wake:
			w.mu.Lock()
			urgent := len(w.waiters) > 0
			w.mu.Unlock()
			if urgent {
				return true
			}
		}
	}
}

// release lets go of those who still wait when the Writer ends.
func (w *Writer) release() {
	_, waiters := w.take()
	for _, told := range waiters {
		told <- ErrClosed
	}
}
