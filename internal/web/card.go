package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/sites"
)

// card is a site as it is shown.
type card struct {
	sites.SiteView
	Sign  sign
	Pools []poolCard
	Nodes []nodeRow
	// Trouble orders the cards.
	Trouble int
	CanAct  bool
	Base    string
	Now     time.Time
}

// poolCard is what a pool answers.
type poolCard struct {
	sites.PoolView
	Site      string
	Addresses []string
	Tone      Tone
	CanAct    bool
	Base      string
	Now       time.Time
}

// nodeRow is a node as it is shown in its site.
type nodeRow struct {
	sites.NodeView
	Site string
	Sign sign
	// Took is the response time of the steering probe that took longest.
	Took time.Duration
	// Progress towards Next in percent, 0 where nothing is in sight.
	Progress int
	Spark    []bar
	CanAct   bool
	Base     string
	Now      time.Time
}

// bar is one point of a spark line, 60 across; heights are of 16.
type bar struct {
	X, Y, Height int
	Down         bool
}

// cards makes the cards of all sites, those in trouble first.
func (h *Handler) cards(v *visit, st *api.Status) []card {
	list := make([]card, 0, len(st.Sites))
	for i := range st.Sites {
		list = append(list, h.card(v, &st.Sites[i]))
	}
	slices.SortStableFunc(list, func(a, b card) int { return cmp.Compare(b.Trouble, a.Trouble) })
	return list
}

func (h *Handler) card(v *visit, s *sites.SiteView) card {
	c := card{SiteView: *s, CanAct: v.canAct(), Base: v.caller.BasePath, Now: v.now}
	unseen := s.Condition == sites.SiteIsDown
	switch s.Condition {
	case sites.SiteIsDown:
		c.Sign, c.Trouble = sign{"held", "cannot be seen", Held}, 3
	case sites.SiteResolverDown:
		c.Sign, c.Trouble = sign{"failing", "resolver fails", Watch}, 2
	case sites.SiteIsUp:
		c.Sign = sign{"up", "seen", Calm}
		if s.Unjudged {
			c.Sign, c.Trouble = sign{"failing", "cannot be judged", Watch}, 2
		}
	}
	for i := range s.Pools {
		p := poolCard{PoolView: s.Pools[i], Site: s.Name, Tone: Calm, CanAct: c.CanAct, Base: c.Base, Now: v.now}
		p.Addresses = addresses(p.IPv4, p.IPv6)
		switch {
		case p.Serves == "empty" || p.Serves == "last_resort":
			p.Tone, c.Trouble = Gone, max(c.Trouble, 4)
		case p.Paused != nil || p.Braked:
			p.Tone, c.Trouble = Held, max(c.Trouble, 1)
		case strings.HasPrefix(p.Serves, "emergency:"):
			p.Tone, c.Trouble = Watch, max(c.Trouble, 3)
		}
		c.Pools = append(c.Pools, p)
	}
	for i := range s.Nodes {
		n := h.row(v, s.Name, &s.Nodes[i], unseen)
		if n.Sign.Tone != Calm {
			c.Trouble = max(c.Trouble, 1)
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c
}

func (h *Handler) row(v *visit, site string, n *sites.NodeView, unseen bool) nodeRow {
	r := nodeRow{NodeView: *n, Site: site, Sign: signOf(n.Word, unseen), CanAct: v.canAct(), Base: v.caller.BasePath, Now: v.now}
	for _, l := range n.Lines {
		for _, c := range l.Checks {
			if c.Steer && c.Outcome == "up" {
				r.Took = max(r.Took, c.Duration)
			}
		}
	}
	if whole := n.Next.Sub(n.Since); !n.Next.IsZero() && whole > 0 {
		r.Progress = min(100, max(1, int(100*v.now.Sub(n.Since)/whole)))
	}
	return r
}

// sparks draws the last hour of each node of a site, for the few sites that a
// page shows.
func (h *Handler) sparks(v *visit, c *card) {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		lines, err := h.Historian.History(v.r.Context(), n.Site, n.Name, v.now.Add(-time.Hour), v.now)
		if err != nil || len(lines) == 0 || len(lines[0].Probes) == 0 {
			continue
		}
		n.Spark = spark(lines[0].Probes[0].Points)
	}
}

// spark draws at most 60 points: the height is the response time as a share of
// the longest.
func spark(points []history.Point) []bar {
	const width, height = 60, 16
	if len(points) > width {
		points = points[len(points)-width:]
	}
	most := time.Millisecond
	for _, p := range points {
		most = max(most, p.Most)
	}
	var bars []bar
	for i, p := range points {
		b := bar{X: width - len(points) + i, Down: p.Down > 0}
		switch {
		case b.Down:
			b.Height = height
		case p.Up > 0:
			b.Height = max(1, int(time.Duration(height-2)*p.Mean/most))
		default:
			continue
		}
		b.Y = height - b.Height
		bars = append(bars, b)
	}
	return bars
}

// canAct says whether who asks may give commands.
func (v *visit) canAct() bool { return v.caller.Role >= operator }

// find gives a site of the status.
func find(st *api.Status, name string) (*sites.SiteView, error) {
	for i := range st.Sites {
		if st.Sites[i].Name == name {
			return &st.Sites[i], nil
		}
	}
	return nil, &api.NotFoundError{Text: "There is no site " + name + "."}
}

func findNode(s *sites.SiteView, name string) (*sites.NodeView, error) {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i], nil
		}
	}
	return nil, &api.NotFoundError{Text: "Site " + s.Name + " has no node " + name + "."}
}

// query reads a parameter of the page's URL.
func query(r *http.Request, name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }
