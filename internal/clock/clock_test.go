package clock

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, certificates are judged by a clock that stands at 1970, or a
// right clock is never believed (O6).
func TestSuspect(t *testing.T) {
	built := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	event := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := event.Add(time.Hour)
	tests := []struct {
		name string
		in   Evidence
		want string
	}{
		{"nothing to compare with", Evidence{Wall: now}, ""},
		{"all is well", Evidence{Wall: now, BuildDate: built, LastEvent: event, Uptime: time.Hour, Sync: Synchronised}, ""},
		{
			"at the epoch",
			Evidence{Wall: time.Unix(0, 0), BuildDate: built, LastEvent: event},
			"the clock says 1970-01-01T00:00:00Z, which is before this program was built (2026-03-01T00:00:00Z)",
		},
		{"at the build's date", Evidence{Wall: built, BuildDate: built}, ""},
		{"the build's date is not known", Evidence{Wall: time.Unix(0, 0)}, ""},
		{
			"a synchronised kernel does not outweigh the build's date",
			Evidence{Wall: built.Add(-time.Second), BuildDate: built, Sync: Synchronised},
			"the clock says 2026-02-28T23:59:59Z, which is before this program was built (2026-03-01T00:00:00Z)",
		},
		{
			"before the last event",
			Evidence{Wall: event.Add(-Corrected - time.Second), BuildDate: built, LastEvent: event, Uptime: time.Hour},
			"the clock says 2026-05-01T11:59:49Z, which is before the last stored event (2026-05-01T12:00:00Z)",
		},
		{"at the last event", Evidence{Wall: event, BuildDate: built, LastEvent: event}, ""},
		{"put right after the last event", Evidence{Wall: event.Add(-Corrected), BuildDate: built, LastEvent: event}, ""},
		{
			"the last event was stored by a wrong clock",
			Evidence{Wall: now, LastEvent: event.AddDate(14, 0, 0), Sync: Synchronised},
			"",
		},
		{
			"not synchronised, just started",
			Evidence{Wall: now, Uptime: 90*time.Second + time.Millisecond, Sync: Unsynchronised},
			"the machine started 1m30s ago and its kernel says that the clock is not synchronised yet",
		},
		{"not synchronised, long since", Evidence{Wall: now, Uptime: SettleTime, Sync: Unsynchronised}, ""},
		{"not known, just started", Evidence{Wall: now, Uptime: time.Second}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Suspect(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// If this fails, every judgement but the kernel's is lost between the pure
// function and the loop.
func TestJudge(t *testing.T) {
	now, cause := NewJudge(time.Now().AddDate(1, 0, 0), time.Time{}).Now()
	if !now.Suspect || !strings.Contains(cause, "before this program was built") {
		t.Errorf("a build of next year: suspect %v, cause %q", now.Suspect, cause)
	}
	if now.Boot <= 0 || now.Wall.IsZero() {
		t.Errorf("a clock is missing: %+v", now)
	}
}

// If this fails, a clock that jumps back while the controller runs is believed: at
// once, or with the first event that it stamps (O6).
func TestJudgeFollowsWhatIsStored(t *testing.T) {
	event := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	j := NewJudge(time.Time{}, time.Time{})
	if got := j.Earliest(); !got.IsZero() {
		t.Errorf("nothing is known, and yet %v has passed", got)
	}
	for _, wall := range []time.Time{event, event.Add(-time.Hour), {}} {
		if j.Believed(wall); !j.Earliest().Equal(event) {
			t.Errorf("after %v: %v has passed for sure, want %v", wall, j.Earliest(), event)
		}
	}
	j = NewJudge(time.Time{}, event)
	if j.Believed(time.Now().AddDate(1, 0, 0)); KernelSync() != Synchronised {
		if now, cause := j.Now(); !now.Suspect || !strings.Contains(cause, "before the last stored event") {
			t.Errorf("an event of next year: suspect %v, cause %q", now.Suspect, cause)
		}
	}
}

// If this fails, `--for`, windows and histories follow a clock that neither counts sleep
// nor is ever set: a maintenance until two o'clock lasts past it by the time that the
// machine was asleep, and a jump of the wall clock is not noticed (O5).
func TestWallIsTheWallClock(t *testing.T) {
	judged, _ := NewJudge(time.Time{}, time.Time{}).Now()
	for _, now := range []sites.Instant{Now(), judged} {
		if now.Wall != now.Wall.Round(0) {
			t.Errorf("%v bears a reading of the monotonic clock, by which it is compared", now.Wall)
		}
	}
}

// If this fails, probes are put in a wrong order, and a round of E8 is never
// whole.
func TestBootGoesForward(t *testing.T) {
	last := Boot()
	for range 10_000 {
		now := Boot()
		if now < last {
			t.Fatalf("the clock went from %v back to %v", last, now)
		}
		last = now
	}
}

func BenchmarkJudge(b *testing.B) {
	j := NewJudge(time.Unix(0, 0), time.Time{})
	for b.Loop() {
		j.Now()
	}
}
