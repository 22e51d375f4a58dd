package app

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/store"
)

// A store that lost its file while the controller ran would forget the alerts
// that wait and what was pushed to routers; or a value that was removed would
// come back.
func TestValuesCanBeSaidAgain(t *testing.T) {
	var mu sync.Mutex
	got := map[store.Kind]map[string][]byte{}
	whole := false
	w := store.NewWriter(func(b store.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		whole = whole || b.AllValues
		for kind, byKey := range b.Values {
			for key, value := range byKey {
				if got[kind] == nil {
					got[kind] = map[string][]byte{}
				}
				got[kind][key] = value
			}
		}
		return nil
	}, func(store.Status) {})
	defer func() { _ = w.Close(t.Context()) }()
	v := newValues(map[store.Kind]map[string][]byte{"targets": {"router": []byte("1")}})
	v.writer = w
	v.set("alerts", map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	if err := v.setNow(t.Context(), "alerts", map[string][]byte{"a": nil}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if diff := cmp.Diff(map[store.Kind]map[string][]byte{"alerts": {"a": nil, "b": []byte("2")}}, got); diff != "" {
		t.Errorf("stored: %s", diff)
	}
	clear(got)
	mu.Unlock()
	v.queueAll(store.Batch{})
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := map[store.Kind]map[string][]byte{"targets": {"router": []byte("1")}, "alerts": {"b": []byte("2")}}
	if diff := cmp.Diff(want, got); diff != "" || !whole {
		t.Errorf("said again (all of it: %v): %s", whole, diff)
	}
	if diff := cmp.Diff(map[string][]byte{"b": []byte("2")}, v.get("alerts")); diff != "" {
		t.Errorf("read: %s", diff)
	}
}
