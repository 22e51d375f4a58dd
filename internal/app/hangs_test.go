package app

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// A disk that hangs, and takes what it was given in the end, would cost events of which
// nobody is told: neither while it hangs nor when it is over.
func TestWhatADiskThatHangsHasCostIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		k := &keeper{
			commit: func(store.Batch) error { <-held; return nil }, stored: func([]sites.Event) {},
			loop: b.loop, values: newValues(nil), log: slog.New(slog.DiscardHandler),
		}
		k.start()
		const bound, more = 10_000, 5
		for id := range uint64(1 + bound + more) { // the first is what the disk has been given
			k.writer.Queue(store.Batch{Events: []sites.Event{{ID: id + 1}}})
			if id == 0 {
				time.Sleep(time.Minute)
			}
		}
		time.Sleep(time.Hour)
		close(held)
		time.Sleep(time.Minute)
		var texts []string
		for _, e := range b.hub.waiting() {
			if e.Kind == sites.StoreFailed || e.Kind == sites.StoreRecovered {
				texts = append(texts, e.Text)
			}
		}
		if len(texts) != 2 || !strings.HasSuffix(texts[1], " 5 events could not be kept meanwhile.") {
			t.Errorf("told: %q", texts)
		}
		if err := k.writer.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
