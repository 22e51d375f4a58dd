package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// keeper puts what must survive into the store, beside the loop (S1).
type keeper struct {
	writer  *store.Writer
	serials func() map[string]uint32
	log     *slog.Logger

	names   []string // of the sites in place, by index
	removed []string // sites that have left since the last batch
	last    map[string]uint32

	mu  sync.Mutex
	err error // what keeps the store from taking anything
	// failed and rejected are the last events of their kinds, for those that
	// resolve them.
	failed, rejected uint64
}

// record queues what a turn has changed. It is called by the loop alone.
func (k *keeper) record(m *sites.Machine, now sites.Instant, fx sites.Effects) {
	var b store.Batch
	for _, i := range fx.Stored {
		k.put(&b, k.names[i], m.Saved(i))
	}
	for _, name := range k.removed {
		if b.Sites == nil {
			b.Sites = make(map[string][]byte)
		}
		b.Sites[name] = nil
	}
	k.removed = nil
	if fx.StoredGlobal {
		b.Global = k.encode(m.Global())
	}
	b.Events = append(b.Events, fx.Events...)
	k.note(fx.Events)
	if len(fx.Stored) > 0 {
		if serials := k.serials(); !maps.Equal(serials, k.last) {
			b.Serials, k.last = serials, serials
		}
	}
	if b.Sites == nil && b.Global == nil && len(b.Events) == 0 && b.Serials == nil {
		return
	}
	if !now.Suspect {
		b.Wall = now.Wall
	}
	k.writer.Queue(b)
}

// note remembers the events that others resolve.
func (k *keeper) note(events []sites.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range events {
		switch events[i].Kind {
		case sites.StoreFailed:
			k.failed = events[i].ID
		case sites.ConfigRejected:
			k.rejected = events[i].ID
		case sites.ConfigReloaded:
			k.rejected = 0
		default:
		}
	}
}

// open gives the last rejected configuration's event; 0 if it is resolved.
func (k *keeper) open() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rejected
}

// everything queues all durable state, for a store that has lost it.
func (k *keeper) everything(m *sites.Machine) {
	b := store.Batch{Global: k.encode(m.Global()), Serials: k.serials()}
	for i, name := range k.names {
		k.put(&b, name, m.Saved(i))
	}
	k.writer.Queue(b)
}

func (k *keeper) put(b *store.Batch, name string, saved sites.SavedSite) {
	if data := k.encode(saved); data != nil {
		if b.Sites == nil {
			b.Sites = make(map[string][]byte)
		}
		b.Sites[name] = data
	}
}

func (k *keeper) encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		k.log.Error("state cannot be encoded", "error", err)
		return nil
	}
	return data
}

// use says which sites are in place from now on.
func (k *keeper) use(cfg *sites.Config) {
	var names []string
	for i := range cfg.Sites {
		names = append(names, cfg.Sites[i].Name)
	}
	for _, old := range k.names {
		gone := true
		for _, name := range names {
			gone = gone && name != old
		}
		if gone {
			k.removed = append(k.removed, old)
		}
	}
	k.names = names
}

// status takes what the writer tells of its commits, and gives the event for it.
func (k *keeper) status(st store.Status) sites.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = st.Err
	switch {
	case st.Err != nil && st.Lost > 0:
		k.err = fmt.Errorf("%w; %d events were lost", st.Err, st.Lost)
		fallthrough
	case st.Err != nil:
		return sites.Event{Kind: sites.StoreFailed, Text: fmt.Sprintf("The state cannot be stored: %v. DNS and decisions go on; what happens now would be lost by a restart.", k.err)}
	default:
		return sites.Event{Kind: sites.StoreRecovered, Resolves: k.failed, Text: "The state is stored again."}
	}
}

func (k *keeper) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
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
