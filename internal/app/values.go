package app

import (
	"context"
	"maps"
	"sync"

	"github.com/dnsteer/dnsteer/internal/store"
)

// values are what parts beside the rules keep in the store, each under a kind of
// its own: an alert that waits, what was pushed to a router. What is kept stands
// here too, so that a store that has lost its file is given it again. It is safe
// for concurrent use.
type values struct {
	writer *store.Writer

	mu   sync.Mutex
	kept map[store.Kind]map[string][]byte
}

func newValues(stored map[store.Kind]map[string][]byte) *values {
	v := &values{kept: make(map[store.Kind]map[string][]byte)}
	for kind, byKey := range stored {
		v.note(kind, byKey)
	}
	return v
}

// get gives the values of a kind by key; nil where there are none.
func (v *values) get(kind store.Kind) map[string][]byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.kept[kind])
}

// set has values stored soon; nil removes one. It waits for nothing.
func (v *values) set(kind store.Kind, byKey map[string][]byte) { v.queue(store.Batch{}, kind, byKey) }

// queue has values stored with a batch that has none: both last, or neither does.
func (v *values) queue(b store.Batch, kind store.Kind, byKey map[string][]byte) {
	v.mu.Lock()
	defer v.mu.Unlock() // the order of the store is that of kept
	v.note(kind, byKey)
	b.Values = map[store.Kind]map[string][]byte{kind: maps.Clone(byKey)}
	v.writer.Queue(b)
}

// setNow stores values and returns when they last. On an error they are stored
// later.
func (v *values) setNow(ctx context.Context, kind store.Kind, byKey map[string][]byte) error {
	v.set(kind, byKey)
	return v.writer.Flush(ctx)
}

// note remembers values. The caller holds mu, or nobody else has v yet.
func (v *values) note(kind store.Kind, byKey map[string][]byte) {
	if v.kept[kind] == nil {
		v.kept[kind] = make(map[string][]byte)
	}
	for key, value := range byKey {
		if value == nil {
			delete(v.kept[kind], key)
		} else {
			v.kept[kind][key] = value
		}
	}
}

// queueAll has everything that is kept stored with a batch, and what is not kept removed.
func (v *values) queueAll(b store.Batch) {
	v.mu.Lock()
	defer v.mu.Unlock() // as above
	b.Values, b.AllValues = make(map[store.Kind]map[string][]byte, len(v.kept)), true
	for kind, byKey := range v.kept {
		b.Values[kind] = maps.Clone(byKey)
	}
	v.writer.Queue(b)
}
