package engine_test

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// ledger keeps by itself what the controller was told since its start, and
// says whether that takes a node out by N2. It shares no code with the rules.
type ledger struct {
	tracks map[sites.Subject]*track
	left   map[sites.Subject]*track // of what is probed no more
	// floors are the moments before which nothing counts against a node: the
	// end of blindness of all, of a site's silence, of an operator's hold.
	all   time.Duration
	sites map[string]time.Duration
	nodes map[string]time.Duration
	// blind are the times in which a line was not proven (O5).
	blind map[line][]span
	// answered are the probes that have ever answered, by subject and key.
	answered map[answered]bool
	rise     map[string]int // the largest that each node had
	// carried are the lines whose failing clock ran when the controller was
	// blind: it starts anew then, not with the next failure (O5).
	carried map[sites.Subject]bool
}

type answered struct {
	subject sites.Subject
	key     string
}

// line is a node as it is seen over one family.
type line struct {
	site, node string
	family     sites.Family
}

// span is a time; its end is 0 while it lasts.
type span struct{ from, to time.Duration }

// track is what was heard of one subject.
type track struct {
	counted []heard // up and down alone
	recent  heard   // the last of all
}

type heard struct {
	start, finish time.Duration
	outcome       sites.Outcome
	drilled       bool // it came while the node was in a drill
}

// seen is what a row of results is to the rules: in a drill, failures.
func seen(list []heard, drill bool) []heard {
	if !drill {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].drilled {
			list[i].outcome = sites.Down
		}
	}
	return list
}

func newLedger(now time.Duration) *ledger {
	return &ledger{
		tracks: map[sites.Subject]*track{}, left: map[sites.Subject]*track{}, all: now, sites: map[string]time.Duration{}, nodes: map[string]time.Duration{},
		blind: map[line][]span{}, answered: map[answered]bool{}, rise: map[string]int{},
		carried: map[sites.Subject]bool{},
	}
}

// keep forgets what is not probed any more.
func (g *ledger) keep(targets []sites.Target) {
	old := g.tracks
	maps.Copy(g.left, old)
	g.tracks = make(map[sites.Subject]*track, len(targets))
	for _, t := range targets {
		g.tracks[t.Subject] = &track{}
		if o := old[t.Subject]; o != nil {
			g.tracks[t.Subject] = o
		}
		delete(g.left, t.Subject)
	}
}

// enter takes note of what was handed in.
func (g *ledger) enter(w *world, done []engine.Finished, drill func(sites.Subject) bool) {
	for i := range done {
		res := &done[i].Result
		t := g.tracks[res.Subject]
		if t == nil {
			continue
		}
		o := g.outcome(w, res)
		if n := len(t.counted); n > 0 && res.Start < t.counted[n-1].start {
			continue // O1
		}
		if o == sites.None {
			continue
		}
		h := heard{res.Start, res.Finish, o, drill(res.Subject)}
		if res.Start >= t.recent.start {
			t.recent = h
		}
		if o == sites.Up || o == sites.Down {
			t.counted = append(t.counted, h)
		}
	}
}

// outcome is what the probes of a subject say together (O1, O2, O5).
func (g *ledger) outcome(w *world, res *sites.Result) sites.Outcome {
	if res.Start < g.all {
		return sites.Unknown
	}
	if res.Subject.Node == "" {
		return res.Checks[0].Outcome
	}
	n := w.node(res.Subject.Site, res.Subject.Node)
	if n == nil || len(n.Probes) != len(res.Checks) {
		return sites.None
	}
	up, unknown, counted := 0, 0, 0
	for i, c := range res.Checks {
		key := answered{res.Subject, n.Probes[i].Key}
		if c.Outcome == sites.Up {
			g.answered[key] = true
		}
		if !n.Probes[i].Steer || !g.answered[key] {
			continue
		}
		counted++
		switch c.Outcome {
		case sites.Up:
			up++
		case sites.Unknown:
			unknown++
		}
	}
	need := counted
	if n.Require > 0 {
		need = min(need, n.Require)
	}
	switch {
	case counted == 0:
		return sites.None
	case up >= need:
		return sites.Up
	case up+unknown >= need:
		return sites.Unknown
	default:
		return sites.Down
	}
}

// last is the last counted outcome of a subject.
func (t *track) last() heard {
	if t == nil || len(t.counted) == 0 {
		return heard{}
	}
	return t.counted[len(t.counted)-1]
}

// rowStart is when the row of equal outcomes at the end began.
func (t *track) rowStart() time.Duration {
	i := len(t.counted) - 1
	for i > 0 && t.counted[i-1].outcome == t.counted[i].outcome {
		i--
	}
	return t.counted[i].start
}

// members are the witnesses of a line: a list of subjects each, of which one
// that answers is enough.
func (g *ledger) members(s *sites.Site, node string, f sites.Family, disabled func(string) bool, ever bool) (list [][]sites.Subject) {
	for _, x := range s.Witnesses {
		if sites.FamilyOf(x.Addr) == f {
			list = append(list, []sites.Subject{{Site: s.Name, Witness: x.Name, Addr: x.Addr}})
		}
	}
	if s.WitnessNodes {
		var others []sites.Subject
		tracks := maps.Clone(g.tracks)
		if ever {
			maps.Copy(tracks, g.left)
		}
		for subject := range tracks { // a former address of another node as well
			if subject.Site == s.Name && subject.Node != "" && subject.Node != node &&
				sites.FamilyOf(subject.Addr) == f && !disabled(subject.Node) {
				others = append(others, subject)
			}
		}
		if len(others) > 0 || s.WitnessAll {
			list = append(list, others)
		}
	}
	return list
}

// probed is the address of a node that is probed in a family.
func probed(n *sites.Node, f sites.Family) (netip.Addr, bool) {
	i := slices.IndexFunc(n.Addresses, func(a netip.Addr) bool { return sites.FamilyOf(a) == f })
	if i < 0 {
		return netip.Addr{}, false
	}
	return n.Addresses[i], true
}

// darken follows the blind time of one line.
func (g *ledger) darken(s *sites.Site, node string, f sites.Family, disabled func(string) bool) {
	var up, down int
	var since, seen time.Duration
	list := g.members(s, node, f, disabled, false)
	for _, m := range list {
		var o sites.Outcome
		var failed, upAt time.Duration
		for _, subject := range m {
			t := g.tracks[subject]
			switch h := t.last(); h.outcome {
			case sites.Up:
				o, upAt = sites.Up, max(upAt, h.start)
			case sites.Down:
				if o != sites.Up {
					o, failed = sites.Down, max(failed, t.rowStart())
				}
			}
		}
		switch o {
		case sites.Up:
			up++
			seen = max(seen, upAt)
		case sites.Down:
			switch {
			case down == 0:
				since = failed
			case s.WitnessAll:
				since = min(since, failed)
			default:
				since = max(since, failed)
			}
			down++
		}
	}
	works, broken := up > 0, down == len(list) && down > 0
	if s.WitnessAll {
		works, broken = up == len(list), down > 0
	}
	key := line{s.Name, node, f}
	spans := g.blind[key]
	open := len(spans) > 0 && spans[len(spans)-1].to == 0
	switch {
	case broken && !open:
		g.blind[key] = append(spans, span{from: since})
	case works && open:
		spans[len(spans)-1].to = max(seen, 1)
	}
}
