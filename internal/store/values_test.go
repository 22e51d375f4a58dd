package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// A queued alert or the memory of what was pushed to a router would be gone
// after a restart, or would come back after it was removed.
func TestValues(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, Batch{Values: map[Kind]map[string][]byte{"alerts": {"1": []byte("a"), "2": []byte("b")}, "targets": {"1": []byte("c")}}})
	commit(t, s, Batch{Values: map[Kind]map[string][]byte{"alerts": {"1": nil, "3": {}}}})
	s, _ = reopen(t, s)
	state, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := map[Kind]map[string][]byte{"alerts": {"2": []byte("b"), "3": {}}, "targets": {"1": []byte("c")}}
	if diff := cmp.Diff(want, state.Values); diff != "" {
		t.Error(diff)
	}
}

// A state folder of the version before would be refused, or set aside as
// damaged.
func TestOpensFileWithoutValues(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, Batch{Global: []byte("g")})
	if err := s.write(func(tx *bolt.Tx) error {
		if err := tx.DeleteBucket([]byte(valuesBucket)); err != nil {
			return err
		}
		return put(tx, metaBucket, []byte(formatKey), []byte("1"))
	}); err != nil {
		t.Fatal(err)
	}
	s, report := reopen(t, s)
	if report.Alarming() {
		t.Fatal(report)
	}
	commit(t, s, Batch{Values: map[Kind]map[string][]byte{"alerts": {"1": nil}}}) // removes what is not there
	commit(t, s, Batch{Values: map[Kind]map[string][]byte{"alerts": {"1": []byte("a")}}})
	s, report = reopen(t, s)
	state, err := s.Load()
	if err != nil || report.Alarming() {
		t.Fatal(report, err)
	}
	if string(state.Global) != "g" || string(state.Values["alerts"]["1"]) != "a" {
		t.Errorf("got %v", state)
	}
}

// Of two values that wait together, the older one would be stored.
func TestWriterMergesValues(t *testing.T) {
	first := Batch{Values: map[Kind]map[string][]byte{"a": {"x": []byte("1"), "y": []byte("1")}}}
	got := merge(merge(Batch{}, first), Batch{Values: map[Kind]map[string][]byte{"a": {"x": nil}, "b": {"x": []byte("2")}}})
	want := map[Kind]map[string][]byte{"a": {"x": nil, "y": []byte("1")}, "b": {"x": []byte("2")}}
	if diff := cmp.Diff(want, got.Values); diff != "" {
		t.Error(diff)
	}
	if len(first.Values["a"]["x"]) != 1 {
		t.Error("what was given to the writer was changed")
	}
}

// What was removed since the copy was made that stands in for a damaged file would be there
// again after the next start: an alert would be sent once more.
func TestValuesThatAreAllThereAre(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, Batch{Values: map[Kind]map[string][]byte{"alerts": {"1": []byte("a"), "2": []byte("b")}, "keys": {"1": []byte("k")}, "targets": {"1": []byte("c")}}})
	all := Batch{AllValues: true, Values: map[Kind]map[string][]byte{"alerts": {"2": []byte("b")}, "targets": {"1": []byte("c")}}}
	commit(t, s, merge(all, Batch{Values: map[Kind]map[string][]byte{"alerts": {"3": []byte("d"), "4": nil}}}))
	commit(t, s, merge(Batch{Global: []byte("g")}, Batch{})) // says nothing of values
	s, _ = reopen(t, s)
	state, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := map[Kind]map[string][]byte{"alerts": {"2": []byte("b"), "3": []byte("d")}, "targets": {"1": []byte("c")}}
	if diff := cmp.Diff(want, state.Values); diff != "" {
		t.Error(diff)
	}
}
