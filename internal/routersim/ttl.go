package routersim

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseTTL reads a time as RouterOS takes it: seconds, 90s, 10m, 1.5h,
// 1w2d3h4m5s, 00:01:30, 1d 00:00:00.
func parseTTL(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return time.Duration(n) * time.Second, true
	}
	var total float64
	for s != "" {
		s = strings.TrimLeft(s, " ")
		if strings.Contains(s, ":") && !strings.ContainsAny(s, "wdhms") {
			clock, ok := parseClock(s)
			return seconds(total + clock), ok
		}
		end := strings.IndexAny(s, "wdhms")
		if end <= 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(s[:end], 64)
		if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return 0, false
		}
		total += n * unitSeconds(s[end])
		s = s[end+1:]
	}
	if total > math.MaxUint32 {
		return 0, false
	}
	return seconds(total), true
}

func seconds(s float64) time.Duration { return time.Duration(s) * time.Second }

func unitSeconds(unit byte) float64 {
	switch unit {
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

// parseClock reads 00:01:30 or 01:30 (hours and minutes).
func parseClock(s string) (float64, bool) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	total := 0.0
	for i, unit := range []float64{3600, 60, 1}[:len(parts)] {
		n, err := strconv.ParseUint(parts[i], 10, 16)
		if err != nil {
			return 0, false
		}
		total += float64(n) * unit
	}
	return total, true
}

// formatTTL writes a time as RouterOS gives it: 1w2d3h4m5s, 0s.
func formatTTL(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	var b strings.Builder
	rest := int64(d / time.Second)
	for _, unit := range "wdhms" {
		size := int64(unitSeconds(byte(unit)))
		if n := rest / size; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteRune(unit)
		}
		rest %= size
	}
	return b.String()
}
