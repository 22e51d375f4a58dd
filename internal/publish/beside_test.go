package publish

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// plodding is a device that takes its time over each change, as a router does.
type plodding struct {
	*device
	pace time.Duration
}

func (p plodding) Apply(ctx context.Context, c providers.Change) error {
	time.Sleep(p.pace)
	return p.device.Apply(ctx, c)
}

// A large move at one router would hold up the failover at another.
func TestALargePushDelaysNoOtherTarget(t *testing.T) {
	bubble(t, true, func(w *world) {
		small := &device{marks: true}
		large := w.target
		large.Servers = []Server{{Name: "large", Connect: func() (providers.Provider, error) { return plodding{w.d, 20 * time.Millisecond}, nil }}}
		other := w.target
		other.Name = "other"
		other.Servers = []Server{{Name: "small", Connect: func() (providers.Provider, error) { return small, nil }}}
		large.Kind = "large"
		if err := w.p.Use([]Target{large, other}); err != nil {
			t.Fatal(err)
		}
		var d Desired
		for i := range 1000 {
			d.Records = append(d.Records, providers.Record{Name: fmt.Sprintf("h%d", i), Addr: a1})
		}
		w.p.Want("router", d)
		sleep(time.Second)
		if _, writes := w.d.count(); writes == 0 || writes > 100 {
			t.Fatalf("%d writes in the first second", writes)
		}
		start := time.Now()
		w.p.Want("other", names("app", a1))
		sleep(0)
		if got := small.answers("app"); len(got) != 1 || got[0] != a1 || time.Since(start) > 0 {
			t.Errorf("the other target answers %v after %s", got, time.Since(start))
		}
		sleep(20 * time.Second)
		if _, writes := w.d.count(); writes != 1000 {
			t.Errorf("%d writes in the end", writes)
		}
	})
}
