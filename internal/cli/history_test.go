package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/history"
)

// A day with one failure would look like one without, and one of failures alone
// like one with a success.
func TestShare(t *testing.T) {
	tests := []struct {
		up, down int
		want     string
	}{
		{0, 0, "-"},
		{9, 0, "100%"},
		{99_999, 1, "99.9%"},
		{1, 2, "33.3%"},
		{0, 3, "0%"},
	}
	for _, tt := range tests {
		if got := share(tt.up, tt.down); got != tt.want {
			t.Errorf("share(%d, %d) = %s, want %s", tt.up, tt.down, got, tt.want)
		}
	}
}

// The hours of a day would not add up to what was probed, or be those of another
// clock than the one on the wall: there are zones half an hour off, and an hour
// that comes twice.
func TestByHour(t *testing.T) {
	at := func(clock string) time.Time {
		moment, err := time.Parse("15:04 -0700", clock)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	points := []history.Point{
		{Time: at("00:25 +0000"), Up: 1, Least: 2, Mean: 2, Most: 2},
		{Time: at("00:30 +0000"), Up: 1, Least: 5, Mean: 5, Most: 5, Unknown: 1, Cause: "x"},
		{Time: at("00:35 +0000"), Down: 3, Cause: "timeout"},
		{Time: at("01:25 +0000"), Up: 3, Least: 1, Mean: 9, Most: 20},
		{Time: at("01:30 +0000"), Up: 1, Least: 1, Mean: 1, Most: 1},
	}
	got := byHour(points, time.FixedZone("half", 5*3600+1800))
	want := []history.Point{
		{Time: at("23:30 +0000").AddDate(0, 0, -1), Up: 1, Least: 2, Mean: 2, Most: 2},
		{Time: at("00:30 +0000"), Up: 4, Down: 3, Unknown: 1, Least: 1, Mean: 8, Most: 20, Cause: "timeout"},
		{Time: at("01:30 +0000"), Up: 1, Least: 1, Mean: 1, Most: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("hours (-want +got):\n%s", d)
	}
}
