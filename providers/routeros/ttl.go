package routeros

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseTTL reads a time in any form that routers give or take: 90, 90s, 1.5h,
// 1w2d3h4m5s, 00:01:30, 1d 00:00:00. Parts of seconds are dropped.
func parseTTL(s string) (ttl time.Duration, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return time.Duration(n) * time.Second, true
	}
	total := 0.0
	for s != "" {
		end := strings.IndexAny(s, "wdhms")
		if end < 0 { // what is left is a clock
			clock, ok := parseClock(strings.TrimSpace(s))
			return whole(total+clock, ok)
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(s[:end]), 64)
		if err != nil || !(n >= 0 && n <= math.MaxUint32) {
			return 0, false
		}
		total += n * unit(s[end])
		s = strings.TrimLeft(s[end+1:], " ")
	}
	return whole(total, true)
}

func whole(seconds float64, ok bool) (time.Duration, bool) {
	if !ok || seconds > math.MaxUint32 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

func unit(letter byte) float64 {
	switch letter {
	case 'w':
		return 7 * 24 * 3600
	case 'd':
		return 24 * 3600
	case 'h':
		return 3600
	case 'm':
		return 60
	default:
		return 1
	}
}

// parseClock reads 00:01:30, or hours and minutes alone.
func parseClock(s string) (seconds float64, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	for i, size := range []float64{3600, 60, 1}[:len(parts)] {
		n, err := strconv.ParseUint(parts[i], 10, 16)
		if err != nil {
			return 0, false
		}
		seconds += float64(n) * size
	}
	return seconds, true
}

// formatTTL writes it in the one form that every version takes.
func formatTTL(ttl time.Duration) string {
	return strconv.FormatInt(int64(ttl/time.Second), 10) + "s"
}
