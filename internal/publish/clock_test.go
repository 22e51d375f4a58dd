package publish

import (
	"testing"
	"time"
)

// A clock that is set back by two hours, as that of a machine is which started with the
// local time in its hardware, would have no target compared for two hours.
func TestAJumpOfTheClockPutsNoComparisonOff(t *testing.T) {
	m := &member{target: Target{Reconcile: every5}, st: standing{compared: time.Now()}}
	at := m.reconciled()
	if at == at.Round(0) {
		t.Errorf("%s is a time of the wall clock alone", at)
	}
	if pause := at.Sub(m.st.compared); pause <= 0 || pause > 5*time.Minute {
		t.Errorf("it is compared after %s", pause)
	}
	if at := (&member{target: Target{Reconcile: every5}}).reconciled(); at.After(time.Now()) {
		t.Errorf("it is compared first at %s", at)
	}
}
