// Package history keeps what the probes of the last day have found out, in
// memory and bounded: counts of the outcomes and times of the answers, by the
// minute for the last hour and by five minutes for the last day, and the last
// failures in their own words. It has no clock, no goroutine and no lock: its
// owner feeds it the results with the time and asks it in between. Nothing in
// it decides anything; the rules keep what they need themselves.
package history

import (
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// History is the last day of all subjects; [New] makes one. It is not safe for concurrent use.
type History struct {
	subjects map[sites.Subject]*subject
	places   map[place][]sites.Subject
	causes   causes
}

// place is a node of a site, or with an empty node the site's witnesses.
type place struct{ site, node string }

// Tracked is a subject with the names of its probes, in the order of the checks
// of its results.
type Tracked struct {
	Subject sites.Subject
	Probes  []string
}

// subject is what is known of one subject.
type subject struct {
	probes []probe
	// failures of all probes, the oldest first.
	failures []failure
}

// probe is one probe of a subject.
type probe struct {
	name  string
	short series // minutes of an hour
	long  series // five minutes of a day
}

// The two series: how long a bucket is, and how many there are.
const (
	shortStep  = time.Minute
	shortCount = 60
	longStep   = 5 * time.Minute
	longCount  = 24 * 12
)

// New makes a history of nothing.
func New() *History {
	return &History{causes: newCauses()}
}

// Track says what there is to be kept, after a start and after a reload. What
// was known of the same probe (by name) of the same subject stays; what is
// listed no more is forgotten.
func (h *History) Track(list []Tracked) {
	old := h.subjects
	h.subjects = make(map[sites.Subject]*subject, len(list))
	h.places = make(map[place][]sites.Subject, len(list))
	for _, t := range list {
		s := old[t.Subject]
		if !s.has(t.Probes) {
			s = s.with(t.Probes)
		}
		if h.subjects[t.Subject] == nil {
			at := place{t.Subject.Site, t.Subject.Node}
			h.places[at] = append(h.places[at], t.Subject)
		}
		h.subjects[t.Subject] = s
	}
}

// has says whether a subject has just these probes.
func (s *subject) has(names []string) bool {
	return s != nil && slices.EqualFunc(s.probes, names, func(p probe, name string) bool { return p.name == name })
}

// with gives a subject with these probes and what is known of them.
func (s *subject) with(names []string) *subject {
	out := &subject{probes: make([]probe, len(names))}
	for i, name := range names {
		out.probes[i] = s.probe(name)
	}
	if s != nil {
		out.failures = slices.DeleteFunc(s.failures, func(f failure) bool { return !slices.Contains(names, f.probe) })
	}
	return out
}

// probe gives what is known of a probe, or a new one.
func (s *subject) probe(name string) probe {
	if s != nil {
		for _, p := range s.probes {
			if p.name == name {
				return p
			}
		}
	}
	return probe{name: name, short: newSeries(shortStep, shortCount), long: newSeries(longStep, longCount)}
}

// Add enters a result that came in at a time of the wall clock. A result of a
// subject that is not tracked, or with other checks than its probes, is
// dropped. Where the clock has been set back, what was entered for later times
// is dropped.
func (h *History) Add(res *sites.Result, wall time.Time) {
	s := h.subjects[res.Subject]
	if s == nil || len(res.Checks) != len(s.probes) {
		return
	}
	for i := range res.Checks {
		c, p := &res.Checks[i], &s.probes[i]
		cause := h.causes.number(c.Cause)
		p.short.add(wall, c, cause)
		p.long.add(wall, c, cause)
		if c.Outcome == sites.Down || c.Outcome == sites.Unknown {
			s.failed(p.name, c, wall)
		}
	}
}

// causes gives the causes numbers, so that a bucket holds one in an octet.
type causes struct {
	names   []string
	numbers map[string]uint8
}

// noCause stands for none, otherCause for those that find no number left: the
// causes are a small closed set, so there are none unless a probe breaks that.
const (
	noCause    = 0
	otherCause = 255
)

func newCauses() causes {
	return causes{names: []string{""}, numbers: map[string]uint8{"": noCause}}
}

func (c *causes) number(name string) uint8 {
	if name == "" {
		return noCause
	}
	if n, known := c.numbers[name]; known {
		return n
	}
	if len(c.names) >= otherCause {
		return otherCause
	}
	n := uint8(len(c.names))
	c.names, c.numbers[name] = append(c.names, name), n
	return n
}

func (c *causes) name(n uint8) string {
	if int(n) < len(c.names) {
		return c.names[n]
	}
	return "other"
}
