package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// sample is what one server gave in one round, as numbers.
type sample struct {
	perSecond, perAnswer, p50, p99, mib float64
}

// report writes the table of one mode: the medians, and of the ratios ours to
// theirs, each inside a round, the lower quartile, the median and the upper one. A
// round in which one of both failed is left out.
func report(w io.Writer, title, ours string, names []string, rounds []map[string]sample) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, %d rounds\n\n", title, len(rounds))
	b.WriteString("| server | q/s | CPU µs/answer | p50 µs | p99 µs | MiB | CPU ours/theirs | q/s ours/theirs |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		var columns [5][]float64
		var cpu, rate []float64
		for _, r := range rounds {
			s, ok := r[name]
			if !ok {
				continue
			}
			for i, v := range [5]float64{s.perSecond, s.perAnswer, s.p50, s.p99, s.mib} {
				columns[i] = append(columns[i], v)
			}
			if o, ok := r[ours]; ok && name != ours {
				cpu, rate = append(cpu, o.perAnswer/s.perAnswer), append(rate, o.perSecond/s.perSecond)
			}
		}
		if len(columns[0]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %.0f | %.0f | %.0f | %s | %s |\n", name,
			median(columns[0]), median(columns[1]), median(columns[2]), median(columns[3]), median(columns[4]), spread(cpu), spread(rate))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// disturbedSample is what our program gave in one round beside a disturbance.
type disturbedSample struct {
	perSecond, p50, p99, lost float64 // lost: of a hundred
}

// reportDisturbed writes the table of disturbances: the medians, and the ratios to
// the last row that is of nothing, inside a round.
func reportDisturbed(w io.Writer, list []disturbance, rounds []map[string]disturbedSample) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ndisturbed, %d rounds, delays at %d questions a second\n\n", len(rounds), pace)
	b.WriteString("| beside it | q/s | p50 µs | p99 µs | lost % | q/s with/without | p99 with/without |\n|---|---|---|---|---|---|---|\n")
	calm := ""
	for _, d := range list {
		if strings.HasPrefix(d.name, calmly) {
			calm = d.name
		}
		var columns [4][]float64
		var rate, late []float64
		for _, r := range rounds {
			s, ok := r[d.name]
			if !ok {
				continue
			}
			for i, v := range [4]float64{s.perSecond, s.p50, s.p99, s.lost} {
				columns[i] = append(columns[i], v)
			}
			if c, ok := r[calm]; ok && d.name != calm {
				rate, late = append(rate, s.perSecond/c.perSecond), append(late, s.p99/c.p99)
			}
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.2f | %s | %s |\n", d.name,
			median(columns[0]), median(columns[1]), median(columns[2]), median(columns[3]), spread(rate), spread(late))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// spread writes the quartiles.
func spread(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	s := slices.Sorted(slices.Values(v))
	return fmt.Sprintf("%.2f **%.2f** %.2f", s[len(s)/4], median(s), s[(len(s)*3-1)/4])
}

// median gives the middle of values, the mean of two where there are two.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}
