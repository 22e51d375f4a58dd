package alert

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Where nobody is told by the controller itself, all would be well in the status while
// the dead man's switch is not reached: the one thing that tells anybody.
func TestADeadMansSwitchAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := newWorld().run(&Config{DeadMan: &DeadMan{Every: time.Minute, Call: func(context.Context) error { return errors.New("no route") }}})
		time.Sleep(time.Minute)
		if s := e.Status(); s == nil || s.DeadMan == nil || s.DeadMan.Error != "no route" {
			t.Errorf("%+v", s)
		}
		stop()
	})
}
