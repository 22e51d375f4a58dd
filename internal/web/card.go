package web

import (
	"cmp"
	"fmt"
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
	// Mode is that of the only pool; "" where each pool says its own.
	Mode string
	// Trouble orders the cards.
	Trouble int
	// Others are the nodes for which there is no place, by their state.
	Others []nodeGroup
	// Seen is what the site's resolver gives; nil where that is not known.
	Seen   *resolved
	CanAct bool
	// Alone: its name stands over it already.
	Alone bool
	Base  string
	Now   time.Time
}

// poolCard is what a pool answers.
type poolCard struct {
	sites.PoolView
	Site      string
	Addresses []string
	Tone      Tone
	ModeWord  string
	// TTL of its answers, in words; "" where no service has them.
	TTL    string
	CanAct bool
	// Alone: its name stands over it already.
	Alone bool
	Base  string
	Now   time.Time
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
	Spark    *sparkLine
	CanAct   bool
	Base     string
	Now      time.Time
}

// nodeGroup are nodes of a site in one state, by their names.
type nodeGroup struct {
	Sign       sign
	Site, Base string
	Names      []string
}

// sparkLine is the last hour in 60 points, as the paths of a drawing 16 high: the
// course of the response times, and the minutes in which something failed.
type sparkLine struct{ Up, Down string }

// resolved is what a site's resolver gives, and how that is to be said.
type resolved struct {
	api.ResolvedView
	// Same: it gives what it should.
	Same bool
}

// restRow is a site in one line.
type restRow struct {
	Name, Base string
	Sign       sign
	// Up of All nodes are.
	Up, All int
}

// cards makes the cards of the sites, those in trouble first, and the lines of those
// for which there is no place.
func (h *Handler) cards(v *visit, st *api.Status) (list []card, rest []restRow) {
	list = make([]card, 0, len(st.Sites))
	about := besides(st)
	for i := range st.Sites {
		list = append(list, h.card(v, about, &st.Sites[i]))
	}
	slices.SortStableFunc(list, func(a, b card) int { return cmp.Compare(b.Trouble, a.Trouble) })
	all := 0
	for i := range list {
		all += len(list[i].Nodes)
	}
	if len(list) <= maxCards && all <= maxRows {
		return list, nil
	}
	var whole []card
	rows := 0
	for i := range list {
		c := &list[i]
		if c.Trouble == 0 || len(whole) == maxCards || rows+len(c.Nodes) > maxRows {
			rest = append(rest, c.line())
			continue
		}
		rows += len(c.Nodes)
		whole = append(whole, *c)
	}
	return whole, rest
}

// shorten leaves of the nodes of a large site those in trouble, as far as there is a place
// for them, and the names of the others.
func (c *card) shorten() {
	if len(c.Nodes) <= maxRows {
		return
	}
	var whole []nodeRow
	at := make(map[sign]int)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if special := n.Sign.Tone != Calm || n.Drill != nil || n.Quarantine; special && len(whole) < maxRows {
			whole = append(whole, *n)
			continue
		}
		place, there := at[n.Sign]
		if !there {
			place = len(c.Others)
			at[n.Sign] = place
			c.Others = append(c.Others, nodeGroup{Sign: n.Sign, Site: c.Name, Base: c.Base})
		}
		c.Others[place].Names = append(c.Others[place].Names, n.Name)
	}
	c.Nodes = whole
}

// line makes a card a line.
func (c *card) line() restRow {
	r := restRow{Name: c.Name, Base: c.Base, Sign: c.Sign, All: len(c.Nodes)}
	for i := range c.Nodes {
		if c.Nodes[i].Word == sites.WordUp {
			r.Up++
		}
	}
	if c.Trouble > 0 && r.Sign.Tone == Calm {
		r.Sign = sign{"failing", "look at it", Watch}
	}
	return r
}

func (h *Handler) card(v *visit, about *beside, s *sites.SiteView) card {
	c := card{SiteView: *s, CanAct: v.canAct(), Base: v.caller.BasePath, Now: v.now}
	if r := about.resolved[s.Name]; r != nil {
		c.Seen = &resolved{*r, r.Verified.Equal(r.Asked)}
	}
	unseen := s.Condition == sites.SiteIsDown
	switch s.Condition {
	case sites.SiteIsDown:
		c.Sign, c.Trouble = sign{"held", "cannot be seen", Held}, 3
	case sites.SiteResolverDown:
		c.Sign, c.Trouble = sign{"failing", "fails", Watch}, 2
	case sites.SiteIsUp:
		c.Sign = sign{"up", "answers", Calm}
		if s.Unjudged {
			c.Sign, c.Trouble = sign{"failing", "cannot be judged", Watch}, 2
		}
	}
	for i := range s.Pools {
		p := poolCard{PoolView: s.Pools[i], Site: s.Name, Tone: Calm, CanAct: c.CanAct, Base: c.Base, Now: v.now}
		p.Addresses, p.TTL, p.ModeWord = addresses(p.IPv4, p.IPv6), about.ttls[place{s.Name, p.Name}].String(), modeWord(&p.PoolView)
		switch {
		case p.Serves == "empty" || p.Serves == "last_resort":
			p.Tone, c.Trouble = Gone, max(c.Trouble, 4)
		case p.Held:
			p.Tone, c.Trouble = Held, max(c.Trouble, 4)
		case p.Paused != nil || p.Braked:
			p.Tone, c.Trouble = Held, max(c.Trouble, 1)
		case strings.HasPrefix(p.Serves, "emergency:"):
			p.Tone, c.Trouble = Watch, max(c.Trouble, 3)
		}
		c.Pools = append(c.Pools, p)
	}
	if len(c.Pools) == 1 {
		c.Mode, c.Pools[0].ModeWord = c.Pools[0].ModeWord, ""
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
			if c.Steer && c.Outcome == "up" && c.Probe != "heartbeat" { // it sends nothing, and waits for nothing
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
func spark(points []history.Point) *sparkLine {
	const width, height = 60, 16
	if len(points) > width {
		points = points[len(points)-width:]
	}
	most := time.Millisecond
	for _, p := range points {
		most = max(most, p.Most)
	}
	var up, down strings.Builder
	drawn := false // the point before is one of the line
	for i, p := range points {
		x := width - len(points) + i
		switch {
		case p.Down > 0:
			fmt.Fprintf(&down, "M%d 0v%d", x, height)
			drawn = false
		case p.Up > 0:
			if !drawn {
				up.WriteByte('M')
			}
			fmt.Fprintf(&up, "%d %d ", x, height-1-int(time.Duration(height-3)*p.Mean/most))
			drawn = true
		default:
			drawn = false
		}
	}
	return &sparkLine{up.String(), down.String()}
}

// modeWord says how a pool is answered.
func modeWord(p *sites.PoolView) string {
	word := "active-active"
	if p.Mode == "active_passive" {
		word = "active-passive"
		if p.Active != "" {
			word += ", " + p.Active + " is active"
		}
	}
	return word
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
