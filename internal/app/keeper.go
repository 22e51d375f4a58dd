package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// keeper puts what must survive into the store, beside the loop (S1).
type keeper struct {
	writer  *store.Writer
	commit  func(store.Batch) error
	stored  func([]sites.Event) // is told of the events that are safe
	serials func() map[string]uint32
	// believed is told of each wall time that is stored (O6).
	believed func(time.Time)
	// reserve says which serials are to be stored in view of those that are.
	reserve func(stored map[string]uint32) map[string]uint32
	// replaced is told that another file is in the store's place, without what is
	// kept there by others.
	replaced func()
	// loop takes what is to be told of the store.
	loop *loop
	log  *slog.Logger
	// values are what other parts keep beside it.
	values *values

	// What follows belongs to the loop's goroutine.
	names   []string          // of the sites in place, by index
	removed []string          // sites that have left since the last batch
	last    map[string]uint32 // the serials that were queued
	// recount: serials may have changed for another reason than that answers moved.
	recount bool
	// failed and rejected are the events of their kinds that nothing has
	// resolved yet; 0 for none.
	failed, rejected uint64
	// keys are DS records by zone that are stored with the next turn: together with the
	// event that tells of them.
	keys map[string][]byte
	// expiring is the one about the certificate of the HTTP listener; the zero event
	// for none.
	expiring sites.Event

	mu sync.Mutex
	// failing: a store_failed was told, or is about to be. err is what keeps
	// the store from taking anything, lost how many events that has cost.
	failing bool
	err     error
	lost    int
}

// start begins to store.
func (k *keeper) start() {
	k.writer = store.NewWriter(k.put, k.status)
	k.values.writer = k.writer
}

// put stores a batch, in the writer's goroutine.
func (k *keeper) put(b store.Batch) error {
	err := k.commit(b)
	if err == nil {
		k.stored(b.Events)
		if k.failure() == nil { // else the writer tells of it, and of what it has cost
			k.recovered()
		}
	}
	return err
}

// status takes what the writer tells of its commits. One event says that the
// store fails, however the reasons change, and one that it works again.
func (k *keeper) status(st store.Status) {
	if st.Err == nil {
		if st.Lost > 0 {
			k.log.Error("events could not be kept, because the disk did not take them", "lost_events", st.Lost)
		}
		k.mu.Lock()
		k.lost = st.Lost
		k.mu.Unlock()
		k.recovered()
		return
	}
	k.log.Error("the state cannot be stored", "error", st.Err, "lost_events", st.Lost)
	k.mu.Lock()
	first := !k.failing
	k.failing, k.err, k.lost = true, st.Err, st.Lost
	k.mu.Unlock()
	if first {
		text := fmt.Sprintf("The state cannot be stored: %v. DNS and decisions go on; what happens now would be lost by a restart.", st.Err)
		k.loop.post(func() { k.loop.happened(sites.Event{Kind: sites.StoreFailed, Text: text}) })
	}
	if _, ok := errors.AsType[*store.ReplacedError](st.Err); ok {
		k.loop.post(func() { k.everything(k.loop.engine.Machine()) })
		k.replaced()
	}
}

// reopen takes a failure as open that the last run has told of: the next commit
// that succeeds ends it. It is called by the loop.
func (k *keeper) reopen() {
	k.mu.Lock()
	k.failing = true
	k.mu.Unlock()
	k.everything(k.loop.engine.Machine())
}

// recovered tells that the store takes what it is given, if it did not before.
func (k *keeper) recovered() {
	k.mu.Lock()
	was, lost := k.failing, k.lost
	k.failing, k.err, k.lost = false, nil, 0
	k.mu.Unlock()
	if !was {
		return
	}
	text := "The state is stored again."
	if lost > 0 {
		text += fmt.Sprintf(" %s could not be kept meanwhile.", plural.Of(lost, "event"))
	}
	k.loop.post(func() {
		k.loop.happened(sites.Event{Kind: sites.StoreRecovered, Resolves: k.failed, Text: text})
	})
}

// failure says what keeps the store from taking anything; nil if nothing does.
func (k *keeper) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil && k.lost > 0 {
		return fmt.Errorf("%w; lost: %s", k.err, plural.Of(k.lost, "event"))
	}
	return k.err
}

// record queues what a turn has changed. It is called by the loop alone.
func (k *keeper) record(m *sites.Machine, now sites.Instant, fx sites.Effects) {
	var b store.Batch
	for _, i := range fx.Stored {
		k.add(&b, k.names[i], m.Saved(i))
	}
	for _, name := range k.removed {
		if b.Sites == nil {
			b.Sites = make(map[string]store.SiteState)
		}
		b.Sites[name] = nil
	}
	k.removed = nil
	if fx.StoredGlobal {
		b.Global = k.encode(m.Global())
	}
	b.Events = append(b.Events, fx.Events...)
	k.note(fx.Events)
	if len(fx.Stored) > 0 || k.recount {
		k.recount = false
		b.Serials = k.count(k.last)
	}
	if b.Sites == nil && b.Global == nil && len(b.Events) == 0 && b.Serials == nil && k.keys == nil {
		return
	}
	if !now.Suspect {
		b.Wall = now.Wall
		k.believed(now.Wall)
	}
	if k.keys != nil {
		k.values.queue(b, kindKeys, k.keys)
		k.keys = nil
		return
	}
	k.writer.Queue(b)
}

// count gives the serials that are to be stored in view of those that are, and notes
// them.
func (k *keeper) count(stored map[string]uint32) map[string]uint32 {
	more := k.reserve(stored)
	if stored == nil {
		k.last = make(map[string]uint32, len(more))
	}
	maps.Copy(k.last, more)
	return more
}

// settle queues the serials as they are, once nothing moves any more.
func (k *keeper) settle() { k.writer.Queue(store.Batch{Serials: k.serials()}) }

// note remembers the events that others resolve.
func (k *keeper) note(events []sites.Event) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case sites.StoreFailed:
			k.failed = e.ID
		case sites.StoreRecovered:
			k.failed = 0
		case sites.ConfigRejected:
			k.rejected = e.ID
		case sites.ConfigReloaded:
			k.rejected = 0
		case sites.CertificateExpiring:
			if e.Site == "" {
				k.expiring = *e
			}
		case sites.CertificateRenewed:
			if e.Site == "" {
				k.expiring = sites.Event{}
			}
		default:
		}
	}
}

// everything queues all durable state, for a store that has lost it.
func (k *keeper) everything(m *sites.Machine) {
	b := store.Batch{Global: k.encode(m.Global()), Serials: k.count(nil)}
	for i, name := range k.names {
		k.add(&b, name, m.Saved(i))
	}
	k.values.queueAll(b)
}

// add adds the state of a site, which is encoded beside the loop: a large site has
// hundreds of kilobytes, and may change with every result of an outage.
func (k *keeper) add(b *store.Batch, name string, saved sites.SavedSite) {
	if b.Sites == nil {
		b.Sites = make(map[string]store.SiteState)
	}
	b.Sites[name] = func() []byte { return k.encode(saved) }
}

func (k *keeper) encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		k.log.Error("state cannot be encoded", "error", err)
		return nil
	}
	return data
}

// use says which sites are in place from now on. The state of others leaves the
// store. The zones may be others too, also where there is no site.
func (k *keeper) use(cfg *sites.Config) {
	names := make([]string, len(cfg.Sites))
	stay := make(map[string]bool, len(cfg.Sites))
	for i := range cfg.Sites {
		names[i] = cfg.Sites[i].Name
		stay[names[i]] = true
	}
	for _, old := range k.names {
		if !stay[old] {
			k.removed = append(k.removed, old)
		}
	}
	k.names, k.recount = names, true
}

// restore reads what the last run has stored. Records that cannot be read are
// left out and named.
func restore(st store.State) (saved sites.Saved, faults []error) {
	if st.Global != nil {
		if err := json.Unmarshal(st.Global, &saved.Global); err != nil {
			faults = append(faults, fmt.Errorf("state of the controller: %w", err))
		}
	}
	saved.Global.LastEvent = max(saved.Global.LastEvent, st.LastEvent)
	for name, data := range st.Sites {
		var s sites.SavedSite
		if err := json.Unmarshal(data, &s); err != nil {
			faults = append(faults, fmt.Errorf("state of site %q: %w", name, err))
			continue
		}
		saved.Sites = append(saved.Sites, s)
	}
	return saved, faults
}
