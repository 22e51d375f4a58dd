package alert

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A store that cannot be read, for an hour, would keep back what is known already: what
// waits to be told, and the reminders.
func TestEventsThatCannotBeFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well := &peer{}
		w := newWorld()
		w.slow = make(chan struct{})
		_, stop := w.run(config(map[string]*peer{"well": well}))
		down := w.happen("site_down berlin", 0)
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.deaf = true
		w.mu.Unlock()
		close(w.slow)
		time.Sleep(10 * time.Minute)
		want := []string{"firing berlin cannot be seen"}
		if diff := cmp.Diff(want, well.subjects()); diff != "" {
			t.Errorf("while it cannot be read (-want +got):\n%s", diff)
		}
		w.mu.Lock()
		w.deaf, w.slow = false, nil
		w.mu.Unlock()
		w.happen("site_up berlin", down)
		time.Sleep(time.Minute)
		stop()
		if diff := cmp.Diff(append(want, "resolved berlin cannot be seen"), well.subjects()); diff != "" {
			t.Errorf("in the end (-want +got):\n%s", diff)
		}
	})
}
