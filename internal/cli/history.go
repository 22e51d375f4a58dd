package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/history"
)

func (c *commands) historyCommand() *cobra.Command {
	since := ""
	cmd := &cobra.Command{
		Use:   "history SITE|SITE/NODE",
		Short: "Show what the probes of the last day have found, hour by hour",
		Long: `Show what the probes of a node have found in the last day, hour by hour: how
many succeeded, failed, or could not be made, the share of successes among
the first two, their mean and longest time, and the cause of the last that did
not succeed; then the last failures in words. For SITE it is the probes of
its witnesses. It is kept in memory: what was before the last start is gone,
and so is what was before a node was disabled.`,
		Example: `  dnsteer history berlin/a
  dnsteer history berlin --since 2h`,
		Args: takes(1, 1, "SITE or SITE/NODE"), ValidArgsFunction: c.complete(offerSites | offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		site, node, err := target(args[0])
		if err != nil {
			return err
		}
		now := time.Now()
		from, err := instant(since, now)
		switch {
		case err != nil:
			return &exit{wrongUse, fmt.Errorf("--since: %w", err)}
		case from.After(now):
			return &exit{wrongUse, errors.New("--since: that is yet to come")}
		}
		report, err := client.History(ctx, site, node, from, now)
		if err != nil {
			return err
		}
		if c.output == "table" && len(report.Lines) == 0 {
			_, err := fmt.Fprintln(c.Err, unprobed(&report))
			return err
		}
		return c.print(report, func(p *printer) { historyTable(p, &report) })
	})
	cmd.Flags().StringVar(&since, "since", "24h", "only what was found since a `time` such as 2026-01-02T15:04:05Z, or for so long: 2h")
	return cmd
}

// unprobed says why there is nothing to show.
func unprobed(r *api.HistoryReport) string {
	if r.Node == "" {
		return r.Site + " has no witness of its own that is probed."
	}
	return fmt.Sprintf("%s/%s is not probed: it is disabled, or its site has no witness in its address family.", r.Site, r.Node)
}

func historyTable(p *printer, r *api.HistoryReport) {
	for i := range r.Lines {
		l := &r.Lines[i]
		name := l.Site + "/" + l.Node
		if l.Node == "" {
			name = l.Site
		}
		if i > 0 {
			p.line("")
		}
		p.line("%s  %s", p.paint(bold, printable(name)), l.Address)
		for j := range l.Probes {
			probeTable(p, &l.Probes[j], r.From)
		}
		if len(l.Failures) == 0 {
			continue
		}
		p.line("")
		p.table("  ", failureRows(l.Failures))
	}
}

// probeTable shows the course of one probe.
func probeTable(p *printer, probe *history.Probe, from time.Time) {
	p.line("")
	hours := byHour(probe.Points, time.Local)
	if len(hours) == 0 {
		p.para("  ", fmt.Sprintf("%s: no result since %s.", probe.Name, from.Local().Format(time.DateTime)))
		return
	}
	p.line("  %s", p.paint(bold, printable(probe.Name)))
	rows := [][]cell{{{"HOUR", dim}, {"UP", dim}, {"DOWN", dim}, {"UNKNOWN", dim}, {"SUCCESS", dim}, {"MEAN", dim}, {"MAX", dim}, {"CAUSE", dim}}}
	for i := range hours {
		rows = append(rows, pointRow(hours[i].Time.Format("01-02 15:04"), &hours[i]))
	}
	if len(hours) > 1 {
		rows = append(rows, pointRow("all", &probe.Total))
	}
	p.table("  ", rows)
}

func pointRow(name string, x *history.Point) []cell {
	c := plain
	switch {
	case x.Down > 0 && x.Up == 0:
		c = red
	case x.Down > 0:
		c = yellow
	}
	return []cell{
		{name, plain},
		{strconv.Itoa(x.Up), plain},
		{strconv.Itoa(x.Down), c},
		{strconv.Itoa(x.Unknown), plain},
		{share(x.Up, x.Down), c},
		{took(x.Mean), plain},
		{took(x.Most), plain},
		{x.Cause, plain},
	}
}

// share writes how much of what was found out is a success. It is rounded down:
// one failure among thousands is still seen.
func share(up, down int) string {
	switch {
	case up+down == 0:
		return "-"
	case down == 0:
		return "100%"
	case up == 0:
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", math.Floor(1000*float64(up)/float64(up+down))/10)
}

// byHour adds up points, the oldest first, by the hours of a clock on the wall.
func byHour(points []history.Point, where *time.Location) (hours []history.Point) {
	for _, x := range points {
		at := x.Time.In(where)
		at = at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
		if n := len(hours); n == 0 || !hours[n-1].Time.Equal(at) {
			hours = append(hours, history.Point{Time: at})
		}
		h := &hours[len(hours)-1]
		if n := h.Up + x.Up; n > 0 {
			h.Mean = time.Duration((float64(h.Mean)*float64(h.Up) + float64(x.Mean)*float64(x.Up)) / float64(n))
		}
		if x.Up > 0 && (h.Up == 0 || x.Least < h.Least) {
			h.Least = x.Least
		}
		h.Most = max(h.Most, x.Most)
		h.Up, h.Down, h.Unknown = h.Up+x.Up, h.Down+x.Down, h.Unknown+x.Unknown
		if x.Cause != "" {
			h.Cause = x.Cause
		}
	}
	return hours
}

// failureRows tell of failures in words.
func failureRows(list []history.Failure) [][]cell {
	rows := [][]cell{{{"LAST FAILURES", dim}, {"PROBE", dim}, {"WHAT", dim}}}
	for i := range list {
		f := &list[i]
		text := f.Text
		if text == "" {
			text = f.Cause
		}
		what, c := f.Outcome, yellow
		if f.Outcome == "down" {
			c = red
		}
		if f.Count > 1 {
			what += fmt.Sprintf(", %d times since %s", f.Count, moment(f.First, f.Last))
		}
		rows = append(rows, []cell{{f.Last.Local().Format(time.DateTime), plain}, {f.Probe, plain}, {what + ": " + oneLine(text), c}})
	}
	return rows
}
