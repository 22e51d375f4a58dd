package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/dnsteer/dnsteer/sites"
)

func ids(events []sites.Event) (ids []uint64) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// If this fails, `dnsteer events` shows other events than those that were asked
// for, or a stream that is taken up again leaves some out.
func TestEventsQuery(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	var all []sites.Event
	for id := uint64(1); id <= 8; id++ {
		e := event(id, "text")
		if id%2 == 0 {
			e.Site, e.Node, e.Kind = "paris", "b", sites.SiteDown
		}
		all = append(all, e)
	}
	commit(t, s, Batch{Events: all})
	tests := []struct {
		name string
		in   Query
		want []uint64
	}{
		{"all", Query{}, []uint64{8, 7, 6, 5, 4, 3, 2, 1}},
		{"oldest first", Query{Ascending: true}, []uint64{1, 2, 3, 4, 5, 6, 7, 8}},
		{"a page", Query{Limit: 3}, []uint64{8, 7, 6}},
		{"the next page", Query{Limit: 3, Before: 6}, []uint64{5, 4, 3}},
		{"before the first", Query{Before: 1}, nil},
		{"before one that is not there", Query{Before: 100, Limit: 1}, []uint64{8}},
		{"a stream taken up", Query{After: 5, Ascending: true}, []uint64{6, 7, 8}},
		{"nothing new", Query{After: 8, Ascending: true}, nil},
		{"after the largest ID", Query{After: 1<<64 - 1, Ascending: true}, nil},
		{"between, newest first", Query{After: 2, Before: 6}, []uint64{5, 4, 3}},
		{"between, oldest first", Query{After: 2, Before: 6, Ascending: true}, []uint64{3, 4, 5}},
		{"a site", Query{Site: "paris", Limit: 2}, []uint64{8, 6}},
		{"a node", Query{Site: "berlin", Node: "a", Limit: 1}, []uint64{7}},
		{"a node of another site", Query{Site: "berlin", Node: "b"}, nil},
		{"kinds", Query{Kinds: []sites.Kind{sites.SiteDown, sites.SiteUp}, Ascending: true}, []uint64{2, 4, 6, 8}},
		{"since and until", Query{Since: epoch.Add(3 * time.Minute), Until: epoch.Add(5 * time.Minute)}, []uint64{4, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Events(tt.in)
			if diff := cmp.Diff(tt.want, ids(got)); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// If this fails, the history fills the disk, or one commit takes minutes to
// clear it.
func TestEventsAreBoundedByNumber(t *testing.T) {
	s, _ := open(t, memory(t), Options{MaxEvents: 100})
	id := uint64(0)
	add := func(s *Store, n int) {
		var b Batch
		for range n {
			id++
			b.Events = append(b.Events, event(id, ""))
		}
		commit(t, s, b)
	}
	stored := func() int {
		got, err := s.Events(Query{Limit: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	for range 30 {
		add(s, 7)
	}
	if got := stored(); got != 100 {
		t.Errorf("%d events are stored, want 100", got)
	}
	// The bound was lowered: the surplus goes in pieces.
	s.opts.MaxEvents = 5000
	add(s, 2000)
	s.opts.MaxEvents = 10
	for _, want := range []int{2101 - 257, 2101 - 2*257 + 1} {
		add(s, 1)
		if got := stored(); got != want {
			t.Errorf("%d events are stored, want %d", got, want)
		}
	}
	for range 10 {
		add(s, 1)
	}
	if got := stored(); got != 10 {
		t.Errorf("%d events are stored in the end, want 10", got)
	}
}

// If this fails, what a disk did not give any more is taken for the end of the events, or one
// event whose record is spoilt keeps all others back.
func TestUnreadableEventsAreNotTheEnd(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, Batch{Events: []sites.Event{event(1, ""), event(2, ""), event(3, "")}})
	err := s.write(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(eventsBucket)).Put(eventKey(2), []byte("spoilt"))
	})
	if err != nil {
		t.Fatal(err)
	}
	unreadable := func(err error) bool { _, ok := errors.AsType[*UnreadableError](err); return ok }
	if got, err := s.Events(Query{}); fmt.Sprint(ids(got)) != "[3 1]" || !unreadable(err) {
		t.Errorf("one that is spoilt: %v, %v", ids(got), err)
	}
	if got, err := s.Events(Query{After: 1, Before: 3}); len(got) != 0 || !unreadable(err) {
		t.Errorf("nothing but what is spoilt: %v, %v", ids(got), err)
	}
	spoil(t, s)
	if got, err := s.Events(Query{}); err == nil || unreadable(err) {
		t.Errorf("a disk that gives nothing: %v, %v", ids(got), err)
	}
}

// If this fails, events are kept for longer than the owner said, or a young one
// is lost.
func TestEventsAreBoundedByAge(t *testing.T) {
	s, _ := open(t, memory(t), Options{MaxAge: 10 * time.Hour})
	var b Batch
	for id := uint64(1); id <= 1000; id++ { // one a minute
		b.Events = append(b.Events, event(id, ""))
	}
	commit(t, s, b)
	if err := s.Prune(t.Context(), epoch.Add(1000*time.Minute)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Events(Query{Ascending: true})
	if err != nil || len(got) != 601 || got[0].ID != 400 {
		t.Errorf("%d events are left, the oldest %d (%v)", len(got), got[0].ID, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Prune(cancelled, epoch.AddDate(1, 0, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkOpenWithFullHistory(b *testing.B) {
	dir := b.TempDir()
	s, _, err := Open(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for id := uint64(0); id < DefaultMaxEvents; {
		var batch Batch
		for range 1000 {
			id++
			batch.Events = append(batch.Events, event(id, "berlin/a was taken out: no answer for 30.2 s (connection refused), the resolver 10.1.0.1 answered twice"))
		}
		if err := s.Commit(batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, _, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Load(); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	s, _, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	id := uint64(0)
	for b.Loop() {
		id++
		if err := s.Commit(numbered(id)); err != nil {
			b.Fatal(err)
		}
	}
}
