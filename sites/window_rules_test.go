package sites

import (
	"fmt"
	"testing"
	"time"
)

// Planned work at night must begin and end by itself.
func TestC5Windows(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "one node",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `9m59s see berlin/a
				10m1s see berlin/a, berlin/b, berlin
				29m59s see berlin/a
				30m1s see berlin/a, berlin
				31m texts`,
			want: `berlin/a=up
				berlin/a=maintenance
				berlin/b=up
				berlin=own 10.1.0.12
				berlin/a=maintenance
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a is in maintenance by window 10 12 * * * until 12:30:00 UTC.
				The maintenance of berlin/a has ended (the window is over); it is back in DNS.`,
		}, {
			name: "the whole site",
			cfg:  several(window("10 12 * * *", 20*time.Minute), emergencies("berlin>hamburg")),
			in: `10m1s see berlin/a, berlin/b, berlin
				30m1s see berlin`,
			want: `berlin/a=maintenance
				berlin/b=maintenance
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "no grace at its end, and no answer, no return",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `15m down berlin/a
				30m1s see berlin/a
				40m up berlin/a
				40m2s see berlin/a`,
			want: `berlin/a=returning
				berlin/a=up`,
		}, {
			name: "one that began while the controller was off is in force when it starts",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `9m restart 5m
				14m see berlin/a
				30m1s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "one that ended while the controller was off is over",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `11m restart 30m
				41m5s see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "an operator ends it for this time",
			cfg:  window("10 * * * *", 20*time.Minute, 0),
			in: `11m maintenance_end berlin/a
				20m see berlin/a
				20m restart 1m
				25m see berlin/a
				70m1s see berlin/a`,
			want: `berlin/a=up
				berlin/a=up
				berlin/a=maintenance`,
		}, {
			name: "of two that overlap as well",
			cfg:  several(window("10 * * * *", 20*time.Minute, 0), window("15 * * * *", 30*time.Minute, 0)),
			in: `16m see berlin/a
				16m maintenance_end berlin/a
				40m see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "a reload that takes the window away ends it", cfg: window("10 12 * * *", 20*time.Minute, 0),
			reload: []func(*Config){func(c *Config) { c.Sites[0].Windows = nil }},
			in: `15m reload 0
				15m2s see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "one that ends in a restart under a clock that cannot be right keeps its state",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `11m suspect
				11m restart 1h
				1h12m see berlin/a
				1h12m trust
				1h12m5s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up`,
		},
	})
}

// On the nights on which the clocks change a window must open once: not twice,
// not never, and not an hour long when two were meant.
func TestC5ChangeOfClocks(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"}
	for _, zone := range zones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"30 1", "45 1", "15 2", "30 2", "0 3"} {
			t.Run(zone+" at "+clock, func(t *testing.T) { oneWindowANight(t, loc, clock) })
		}
	}
}

// oneWindowANight follows a nightly window of 40 minutes through seven years.
func oneWindowANight(t *testing.T, loc *time.Location, clock string) {
	w := Window{Schedule: cronSchedule(clock + " * * *"), Duration: 40 * time.Minute, Location: loc}
	end := time.Date(2031, 1, 1, 0, 0, 0, 0, loc)
	nights := map[string]int{}
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, loc)
	for at.Before(end) {
		open, change := w.At(at)
		if open || !change.After(at) {
			t.Fatalf("at %s: open %v until %s, want closed", at, open, change)
		}
		start := change
		if open, _ = w.At(start.Add(-time.Nanosecond)); open {
			t.Errorf("open just before %s", start)
		}
		open, change = w.At(start)
		if !open || change.Sub(start) != w.Duration {
			t.Fatalf("at %s: open %v until %s, want %s of it", start, open, change, w.Duration)
		}
		nights[start.In(loc).Format("2006-01-02")]++
		var h, m int
		if _, err := fmt.Sscan(clock, &m, &h); err != nil {
			t.Fatal(err)
		}
		// On a night that leaves the time out it opens when the clocks do so.
		if local := start.In(loc); (local.Hour() != h || local.Minute() != m) && skipped(loc, local, h, m) == false {
			t.Errorf("opens at %s", local)
		}
		at = change
	}
	for day := time.Date(2024, 1, 1, 12, 0, 0, 0, loc); day.Before(end); day = day.AddDate(0, 0, 1) {
		if n := nights[day.Format("2006-01-02")]; n != 1 {
			t.Errorf("%s: %d windows, want 1", day.Format("2006-01-02"), n)
		}
	}
}

// A window at a time that is there twice opens at the first of them, and one at a time
// that is left out when the clocks go on: another moment than the operator reads in
// any calendar would be a surprise at night.
func TestC5MomentOfTheChange(t *testing.T) {
	tests := []struct{ zone, schedule, day, opens string }{
		{"Europe/Berlin", "30 2 * * *", "2026-10-25", "2026-10-25T00:30:00Z"},
		{"Europe/Berlin", "30 2 * * *", "2026-03-29", "2026-03-29T01:00:00Z"},
		{"America/New_York", "30 1 * * *", "2026-11-01", "2026-11-01T05:30:00Z"},
		{"America/New_York", "30 2 * * *", "2026-03-08", "2026-03-08T07:00:00Z"},
		{"Australia/Lord_Howe", "45 1 * * *", "2026-04-05", "2026-04-04T14:45:00Z"},
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-04", "2026-10-03T15:30:00Z"},
		{"UTC", "30 2 * * *", "2028-02-29", "2028-02-29T02:30:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.zone+" on "+tt.day, func(t *testing.T) {
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			midnight, err := time.ParseInLocation(time.DateOnly, tt.day, loc)
			if err != nil {
				t.Fatal(err)
			}
			w := Window{Schedule: cronSchedule(tt.schedule), Duration: 10 * time.Minute, Location: loc}
			open, opens := w.At(midnight)
			if got := opens.UTC().Format(time.RFC3339); open || got != tt.opens {
				t.Errorf("open %v, then at %s, want %s", open, got, tt.opens)
			}
			_, closes := w.At(opens)
			if next := closes.Sub(opens); next != w.Duration {
				t.Errorf("it lasts %s", next)
			}
			if _, again := w.At(closes); again.In(loc).Day() == midnight.Day() {
				t.Errorf("it opens again at %s", again)
			}
		})
	}
}

// skipped says whether the local time h:m is left out on the day of t.
func skipped(loc *time.Location, t time.Time, h, m int) bool {
	x := time.Date(t.Year(), t.Month(), t.Day(), h, m, 0, 0, loc)
	return x.Hour() != h || x.Minute() != m
}

// Windows that follow each other closely, last longer than their interval or
// never come must neither hang nor flicker.
func TestC5At(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	tests := []struct {
		name, schedule string
		duration       time.Duration
		open           bool
		change         time.Time
	}{
		{"closed", "0 13 * * *", time.Hour, false, at.Add(30 * time.Minute)},
		{"open", "0 12 * * *", time.Hour, true, at.Add(30 * time.Minute)},
		{"at its start", "30 12 * * *", time.Hour, true, at.Add(time.Hour)},
		{"at its end", "30 11 * * *", time.Hour, false, time.Date(2026, 3, 2, 11, 30, 0, 0, time.UTC)},
		{"two that touch are one", "0 12,13 * * *", time.Hour, true, time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)},
		{"two that overlap are one", "0,20 12 * * *", time.Hour, true, at.Add(50 * time.Minute)},
		{"the 29th of February, in two years", "0 12 29 2 *", time.Hour, false, time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC)},
		{"a date that never comes", "0 12 30 2 *", time.Hour, false, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := Window{Schedule: cronSchedule(tt.schedule), Duration: tt.duration, Location: time.UTC}
			if open, change := w.At(at); open != tt.open || !change.Equal(tt.change) {
				t.Errorf("At = %v, %s; want %v, %s", open, change, tt.open, tt.change)
			}
		})
	}
	w := Window{Schedule: cronSchedule("* * * * *"), Duration: time.Hour, Location: time.UTC}
	if open, change := w.At(at); !open || change.Sub(at) < 24*time.Hour {
		t.Errorf("every minute: At = %v, %s; want open for days", open, change)
	}
}
