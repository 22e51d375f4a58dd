package history

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Line is what is known of a node on one line, or of a witness.
type Line struct {
	Site    string     `json:"site"`
	Node    string     `json:"node,omitempty"`
	Witness string     `json:"witness,omitempty"`
	Address netip.Addr `json:"address"`
	Probes  []Probe    `json:"probes"`
	// Failures, the newest first.
	Failures []Failure `json:"failures"`
}

// Probe is the course of one probe.
type Probe struct {
	Name string `json:"name"`
	// Step is how much time a point stands for, in seconds.
	Step int `json:"step_s"`
	// Points, the oldest first; times without a result have none.
	Points []Point `json:"points"`
	// Total is that of all points; its time is the first's.
	Total Point `json:"total"`
}

// Point is what came of a probe in one step of time.
type Point struct {
	Time    time.Time `json:"time,omitzero"`
	Up      int       `json:"up"`
	Down    int       `json:"down"`
	Unknown int       `json:"unknown"`
	// Least, Mean and Most are the times of the successes, to about 0.05 %.
	Least time.Duration `json:"least_ns"`
	Mean  time.Duration `json:"mean_ns"`
	Most  time.Duration `json:"most_ns"`
	// Cause of the last result that was no success.
	Cause string `json:"cause,omitempty"`
}

// Failure is a row of failures of one probe with the same words.
type Failure struct {
	Probe   string    `json:"probe"`
	Outcome string    `json:"outcome"` // "down" or "unknown"
	Cause   string    `json:"cause"`
	Text    string    `json:"text"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Count   int       `json:"count"`
}

// Node gives what is known of a node from a time to another, both included, by
// its lines; none for a node that is not tracked. The points are minutes as far
// as those reach back to from, else five minutes.
func (h *History) Node(site, node string, from, to time.Time) []Line {
	if node == "" {
		return []Line{}
	}
	return h.lines(place{site, node}, from, to)
}

// Witnesses gives the same of a site's witnesses.
func (h *History) Witnesses(site string, from, to time.Time) []Line {
	return h.lines(place{site: site}, from, to)
}

func (h *History) lines(at place, from, to time.Time) []Line {
	list := []Line{}
	for _, key := range h.places[at] {
		s := h.subjects[key]
		l := Line{
			Site: key.Site, Node: key.Node, Witness: key.Witness, Address: key.Addr,
			Probes: []Probe{}, Failures: s.view(from, to),
		}
		for i := range s.probes {
			l.Probes = append(l.Probes, h.probe(&s.probes[i], from, to))
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Witness, b.Witness), a.Address.Compare(b.Address))
	})
	return list
}

func (h *History) probe(p *probe, from, to time.Time) Probe {
	s := &p.long
	if p.short.reaches(from) {
		s = &p.short
	}
	out := Probe{Name: p.name, Step: int(s.step / time.Second), Points: []Point{}}
	var sum time.Duration
	s.each(from, to, func(start time.Time, b *bucket) {
		x := Point{
			Time: start, Up: int(b.up), Down: int(b.down), Unknown: int(b.unknown),
			Cause: h.causes.name(b.cause),
		}
		if x.Up > 0 {
			x.Least, x.Mean, x.Most = unpack(b.least), unpack(b.mean), unpack(b.most)
		}
		out.Points = append(out.Points, x)
		sum += x.Mean * time.Duration(x.Up)
		out.Total.add(x)
	})
	if out.Total.Up > 0 {
		out.Total.Mean = sum / time.Duration(out.Total.Up)
	}
	return out
}

// reaches says whether the series goes back to a time.
func (s *series) reaches(from time.Time) bool {
	return s.started && s.number(from) > s.last-int64(len(s.buckets))
}

// add adds a later point, Mean aside.
func (p *Point) add(x Point) {
	if p.Time.IsZero() {
		p.Time = x.Time
	}
	if x.Up > 0 && (p.Up == 0 || x.Least < p.Least) {
		p.Least = x.Least
	}
	p.Most = max(p.Most, x.Most)
	p.Up, p.Down, p.Unknown = p.Up+x.Up, p.Down+x.Down, p.Unknown+x.Unknown
	if x.Cause != "" {
		p.Cause = x.Cause
	}
}

// view gives the failures that reach into a time.
func (s *subject) view(from, to time.Time) []Failure {
	list := []Failure{}
	for _, f := range slices.Backward(s.failures) {
		if f.last.Before(from) || f.first.After(to) {
			continue
		}
		list = append(list, Failure{
			Probe: f.probe, Outcome: f.outcome.String(), Cause: f.cause, Text: f.text,
			First: f.first, Last: f.last, Count: f.count,
		})
	}
	return list
}
