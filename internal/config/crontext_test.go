package config

import "testing"

// If this fails, a schedule that cron takes is refused, or is on other days.
func TestScheduleDays(t *testing.T) {
	for _, tt := range []struct{ days, want string }{
		{"7", "0"},
		{"0,7", "0"},
		{"5-7", "5,6,0"},
		{"7-7", "0"},
		{"0-7", "*"},
		{"1-7/2", "1,3,5,0"},
		{"sat-Sun", "6,0"},
		{"FRI-SUN/2", "5,0"},
		{"MON,6-7", "1,6,0"},
		{"SUN", "0"},
		{"SUN-TUE", "0-2"},
		{"SUN-SUN", "0"},
		{"*/2", "0,2,4,6"},
	} {
		var got, want cronText
		if err := got.UnmarshalText([]byte("0 3 * * " + tt.days)); err != nil {
			t.Errorf("%s: %v", tt.days, err)
			continue
		}
		if err := want.UnmarshalText([]byte("0 3 * * " + tt.want)); err != nil {
			t.Fatal(err)
		}
		const all = 1<<7 - 1
		if got, want := got.schedule.Dow&all, want.schedule.Dow&all; got != want {
			t.Errorf("%s: on days %07b, want %07b", tt.days, got, want)
		}
	}
	for _, days := range []string{"8", "6-8", "5-7/0", "5-7/x", "7/2", "6-1", "-7", "SAT-", "DOM"} {
		var c cronText
		if err := c.UnmarshalText([]byte("0 3 * * " + days)); err == nil {
			t.Errorf("%q is taken", days)
		}
	}
}
