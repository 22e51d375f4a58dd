package sites_test

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A result that was overtaken by a newer one would raise an alert about a probe
// that has passed since (O1).
func TestOvertakenResultsTouchNoProbe(t *testing.T) {
	c := newCrowd(1, 1, 0, sites.Probe{Name: "cert", Key: "cert"})
	c.rounds(3, true, true)
	now := c.now
	for i := range 4 {
		c.now += time.Millisecond
		fx := c.m.Step(c.instant(), sites.Input{Results: []sites.Result{{
			Subject: c.targets[1].Subject, Start: now - 4*time.Second + time.Duration(i), Finish: c.now,
			Checks: []sites.Check{c.up[0], c.down[0]},
		}, {
			Subject: c.targets[0].Subject, Start: c.now, Finish: c.now, Checks: c.up[:1],
		}}})
		for _, e := range fx.Events {
			t.Errorf("%s: %s", e.Kind, e.Text)
		}
	}
}
