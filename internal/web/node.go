package web

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/sites"
)

// The size of the day's strip and of the chart, in units of their drawings.
const (
	stripWidth  = 288 // five minutes each
	chartHeight = 80
)

// recentFailures is how many failures are shown at once.
const recentFailures = 5

// nodePage is the page of one node.
type nodePage struct {
	Row     nodeRow
	Actions []action
	Lines   []lineCourse
	// States is what became of it, the newest first; Unread: they cannot be read.
	States []happened
	Unread bool
	// Probed is what "probe now" has found.
	Probed *api.ProbeReport
}

// lineCourse is a day of one address.
type lineCourse struct {
	history.Line
	// Recent are the newest of its failures, Older the others.
	Recent, Older []history.Failure
	Strip         []strip
	Chart         chart
}

// strip is one piece of the day.
type strip struct {
	X     int
	Class string // up, down, unknown
	// Y and Height tell the classes apart without their colours: what failed is as
	// high as the strip.
	Y, Height int
	Text      string // what the keyboard and the pointer give
	From, To  time.Time
}

// chart is the course of the response time.
type chart struct {
	Points string // of an SVG polyline
	Most   time.Duration
	// Limit is after what time a probe has failed, and LimitY where that is drawn;
	// Above says that it lies above what is drawn.
	Limit  time.Duration
	LimitY int
	Above  bool
}

// node is the page of one node.
func (h *Handler) node(v *visit) error { return h.nodePage(v, nil) }

// probe asks the node now and shows what came of it.
func (h *Handler) probe(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), time.Minute)
	defer cancel()
	report, err := h.Operator.Probe(ctx, v.r.PathValue("site"), v.r.PathValue("node"))
	if err != nil {
		return err
	}
	return h.nodePage(v, &report)
}

func (h *Handler) nodePage(v *visit, probed *api.ProbeReport) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	s, err := find(&st, v.r.PathValue("site"))
	if err != nil {
		return err
	}
	n, err := findNode(s, v.r.PathValue("node"))
	if err != nil {
		return err
	}
	page := nodePage{Row: h.row(v, s.Name, n, s.Condition == sites.SiteIsDown), Actions: nodeActions(v, s, n), Probed: probed}
	lines, err := h.Historian.History(v.r.Context(), s.Name, n.Name, v.now.Add(-24*time.Hour), v.now)
	if err != nil {
		return err
	}
	for i := range lines {
		page.Lines = append(page.Lines, course(lines[i], n.Timeout, v.now))
	}
	var list []sites.Event
	if list, page.Unread, err = h.past(v, api.EventQuery{Site: s.Name, Node: n.Name, Limit: 30}); err != nil {
		return err
	}
	over := make(map[uint64]bool)
	for i := range list { // the newest first
		page.States = append(page.States, shown(&list[i], over[list[i].ID], v))
		over[list[i].Resolves] = true
	}
	v.title, v.menu = s.Name+"/"+n.Name, "overview"
	return h.show(v, "node", page)
}

// course draws the day of one address by its first probe.
func course(l history.Line, limit time.Duration, now time.Time) lineCourse {
	n := min(len(l.Failures), recentFailures)
	c := lineCourse{Line: l, Recent: l.Failures[:n], Older: l.Failures[n:]}
	if len(l.Probes) == 0 {
		return c
	}
	points := l.Probes[0].Points
	start := now.Add(-24 * time.Hour)
	for _, p := range points {
		if p.Time.Before(start) || p.Up+p.Down+p.Unknown == 0 {
			continue
		}
		c.Chart.Most = max(c.Chart.Most, p.Most)
	}
	top := c.Chart.scale(limit)
	var line strings.Builder
	for _, p := range points {
		if p.Time.Before(start) || p.Up+p.Down+p.Unknown == 0 {
			continue
		}
		x := min(stripWidth-1, int(stripWidth*p.Time.Sub(start)/(24*time.Hour)))
		c.Strip = append(c.Strip, pieceOfDay(x, &p))
		if p.Up > 0 && c.Chart.Most > 0 {
			fmt.Fprintf(&line, "%d,%d ", x, chartHeight-int(chartHeight*p.Mean/top))
		}
	}
	c.Chart.Points = strings.TrimSpace(line.String())
	if x, rest, ok := strings.Cut(c.Chart.Points, ","); ok && !strings.Contains(rest, ",") { // one point alone is not drawn
		c.Chart.Points = fmt.Sprintf("%s,%s %s.9,%[2]s", x, rest, x)
	}
	c.Strip = merged(c.Strip)
	return c
}

// scale puts the limit into the chart where the course of the times can still be
// seen below it, and gives what its height stands for.
func (c *chart) scale(limit time.Duration) time.Duration {
	const room = 4
	c.Limit = limit
	switch {
	case limit <= 0:
	case limit <= room*c.Most:
		top := max(c.Most, limit+limit/8)
		c.LimitY = chartHeight - int(chartHeight*limit/top)
		return top
	default:
		c.Above, c.LimitY = true, 1
		return c.Most + c.Most/4
	}
	return max(c.Most, 1)
}

func pieceOfDay(x int, p *history.Point) strip {
	s := strip{X: x, From: p.Time, To: p.Time, Class: "up", Text: fmt.Sprintf("%d answers, %s on average, %s at most", p.Up, took(p.Mean), took(p.Most))}
	switch {
	case p.Down > 0:
		s.Class, s.Text = "down", fmt.Sprintf("%d of %d without an answer (%s)", p.Down, p.Up+p.Down+p.Unknown, p.Cause)
	case p.Up == 0:
		s.Class, s.Text = "unknown", "nothing can be said: "+p.Cause
	}
	return s
}

// merged joins the pieces that fall on the same place; the worst of them counts.
func merged(list []strip) []strip {
	var out []strip
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].X == s.X {
			if s.Class == "down" && out[n-1].Class != "down" {
				out[n-1].Class, out[n-1].Text = s.Class, s.Text
			}
			out[n-1].To = s.To
			continue
		}
		out = append(out, s)
	}
	for i := range out {
		switch out[i].Class {
		case "up":
			out[i].Y, out[i].Height = 18, 6
		case "unknown":
			out[i].Y, out[i].Height = 9, 6
		default:
			out[i].Height = 24
		}
	}
	return out
}
