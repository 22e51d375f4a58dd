package sites

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Figures are what a probe has found out about the work of a node. What it does
// not know is nil. Figures that were handed over are never changed.
type Figures struct {
	// Load is how busy the node is: 0 is idle, 1 what it is made for. Only the
	// loads of one pool are compared with each other (A8).
	Load *float64 `json:"load,omitempty"`
	// Sessions that are open on it.
	Sessions *int64 `json:"sessions,omitempty"`
	// BytesPerSecond that it carries, both ways together (A11).
	BytesPerSecond *float64 `json:"bytes_per_second,omitempty"`
}

// none says whether nothing is known.
func (f *Figures) none() bool {
	return f == nil || f.Load == nil && f.Sessions == nil && f.BytesPerSecond == nil
}

// fill takes from g what f does not know.
func (f *Figures) fill(g *Figures) {
	if f.Load == nil {
		f.Load = g.Load
	}
	if f.Sessions == nil {
		f.Sessions = g.Sessions
	}
	if f.BytesPerSecond == nil {
		f.BytesPerSecond = g.BytesPerSecond
	}
}

// String writes the figures as the end of a sentence: "12 sessions, 1.2 MB/s,
// load 0.40"; "" where nothing is known.
func (f *Figures) String() string {
	if f.none() {
		return ""
	}
	var list []string
	if s := f.Sessions; s != nil {
		if *s == 1 {
			list = append(list, "1 session")
		} else {
			list = append(list, strconv.FormatInt(*s, 10)+" sessions")
		}
	}
	if b := f.BytesPerSecond; b != nil {
		list = append(list, Rate(*b))
	}
	if l := f.Load; l != nil {
		list = append(list, "load "+strconv.FormatFloat(*l, 'f', 2, 64))
	}
	return strings.Join(list, ", ")
}

// Rate writes bytes per second as people read them: "850 B/s", "1.2 MB/s".
func Rate(bytes float64) string {
	unit := "B/s"
	for _, u := range [...]string{"kB/s", "MB/s", "GB/s", "TB/s"} {
		if bytes < 999.5 {
			break
		}
		bytes, unit = bytes/1000, u
	}
	digits := 0
	if unit != "B/s" && bytes < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(bytes, 'f', digits, 64), ".0") + " " + unit
}

// lasts is how long a figure counts as known without another result: as long as
// a probe loop may be silent before it counts as stuck (S5).
func (r *record) lasts() time.Duration { return 3*r.interval + r.timeout }

// figures gives what is known now of a node's work: of each figure the first
// that a probe of it, in their order, has found out. What could not be found
// out (O1) takes no figure away before its time.
func (n *node) figures(now time.Duration) (f Figures) {
	if n.disabled() {
		return f
	}
	for _, l := range n.lines {
		if l == nil || l.stuck {
			continue
		}
		for i := range l.checks {
			if k := &l.checks[i]; k.figures != nil && now < k.measured+l.lasts() {
				f.fill(k.figures)
			}
		}
	}
	return f
}

// measure enters the figures of a check that has found something out, and says
// whether the probe has or had any.
func (k *checkClock) measure(c *Check, at time.Duration) bool {
	if c.Outcome != Up && c.Outcome != Down {
		return false
	}
	had := k.figures != nil
	k.figures, k.measured = c.Figures, at
	return had || k.figures != nil
}

// measured has the rules look at a node whose figures have come: its place in
// the answers of pools with the policy least_load (A8), and the moves that wait
// for it to be quiet (A11).
func (m *Machine) measured(n *node) {
	m.weigh(n)
	for _, p := range n.site.pools {
		if p.PutOff != nil {
			m.dirty(n.site)
		}
	}
	for _, d := range n.site.dependents {
		for _, p := range d.pools {
			if p.PutOff != nil && p.From == n.site.Name {
				m.dirty(d)
			}
		}
	}
}

// What a load must differ by from the one that counts to take its place: as a
// share of that one, and at least.
const (
	loadShare = 0.2
	loadLeast = 0.05
)

// weigh has a node's load count for the policy least_load, where it is another
// by so much that it matters (A8): not every report changes an answer.
func (m *Machine) weigh(n *node) {
	is, was := n.figures(m.now.Boot).Load, n.load
	switch {
	case is == nil && was == nil:
		return
	case is != nil && was != nil && math.Abs(*is-*was) <= max(loadLeast, loadShare**was):
		return
	}
	n.load = is
	for _, p := range n.in {
		if p.cfg.Policy == PolicyLeastLoad {
			m.dirty(n.site)
		}
	}
}

// Weights of a node of weight 1 by its load: in inverse proportion to that, and
// the same for all that are nearly idle.
const (
	idleLoad   = 0.05
	loadWeight = 1000
)

// byLoad gives the load that stands for the members whose own is not known:
// the average of the others. ok is false where none is known.
func (p *pool) byLoad() (average float64, ok bool) {
	sum, known := 0.0, 0
	for _, x := range p.Members {
		if n := p.find(x.Node, x.Replaced); n != nil && n.load != nil {
			sum, known = sum+*n.load, known+1
		}
	}
	return sum / float64(max(1, known)), known > 0
}

// weight gives the node's share under the policy least_load.
func (n *node) weightAt(average float64) int {
	load := average
	if n.load != nil {
		load = *n.load
	}
	return n.cfg.Weight * max(1, int(math.Round(loadWeight/max(load, idleLoad))))
}
