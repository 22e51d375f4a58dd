package sites

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ruleTest is one row of a rule's table: what happens in a small world, as a
// script, and what is seen in it.
type ruleTest struct {
	name string
	// cfg changes the usual configuration of two sites.
	cfg func(*Config)
	// reload gives the configurations that "reload 0", "reload 1", … put in
	// place, each as a change of the one before it.
	reload []func(*Config)
	// in is the script: a time and what happens then, one a line (see
	// driver.do). want is what its "see", "events" and replies say.
	in   string
	want string
}

// runRule plays the rows of a rule's table.
func runRule(t *testing.T, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(tt.cfg))
			d.reloads = tt.reload
			d.play(tt.in)
			if diff := cmp.Diff(lines(tt.want), d.seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
		})
	}
}

// driver is a machine with a world around it in which everything answers at
// once or fails at once, so that a rule's times can be told to the second.
// Nodes are probed at 1 s, 6 s, 11 s, … and witnesses at 3 s, 8 s, 13 s, …
type driver struct {
	t       *testing.T
	cfg     *Config
	m       *Machine
	now     time.Duration
	wall    time.Time // at 0 s of now
	suspect bool
	fx      Effects
	next    map[Subject]time.Duration
	// down, wrong, unrouted, unknown and mute hold what people call a subject: "berlin/a",
	// "berlin/a IPv6", "berlin/a http", "berlin resolver 10.1.0.1", "berlin".
	down, wrong, unrouted, unknown, mute map[string]bool
	// work holds the figures of nodes, heard when they spoke last.
	work  map[string]*Figures
	heard map[string]time.Duration
	// asked holds what the machine has asked for and nobody answers while
	// "hold" is in force; only "feed" then gives results.
	held    bool
	asked   []string
	events  []Event // since the last "events"
	all     []Event
	seen    []string
	reloads []func(*Config)
	off     bool
}

func newDriver(t *testing.T, cfg *Config) *driver {
	d := &driver{
		t: t, cfg: cfg, wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		down: map[string]bool{}, wrong: map[string]bool{}, unrouted: map[string]bool{}, unknown: map[string]bool{}, mute: map[string]bool{},
		work: map[string]*Figures{}, heard: map[string]time.Duration{},
	}
	d.start(Saved{})
	return d
}

func (d *driver) instant() Instant {
	return Instant{Boot: d.now, Wall: d.wall.Add(d.now), Suspect: d.suspect}
}

// start starts the controller with what was stored.
func (d *driver) start(saved Saved) {
	d.m, d.off = New(d.instant(), d.cfg, saved), false
	d.schedule()
	d.step(Input{})
}

// schedule gives every subject that is probed its next time.
func (d *driver) schedule() {
	old := d.next
	d.next = map[Subject]time.Duration{}
	for _, x := range d.m.Targets() {
		phase := time.Second
		if x.Subject.Node == "" {
			phase = 3 * time.Second
		}
		at := d.now - d.now%x.Interval + phase
		for at < d.now {
			at += x.Interval
		}
		if was, known := old[x.Subject]; known {
			at = was
		}
		d.next[x.Subject] = at
	}
}

// step hands something in, and answers at once what is asked for at once.
func (d *driver) step(in Input) *Reply {
	var reply *Reply
	for {
		d.fx = d.m.Step(d.instant(), in)
		if d.fx.Reply != nil {
			reply = d.fx.Reply
		}
		in = Input{}
		d.take()
		if d.held {
			for _, s := range d.fx.Probe {
				d.asked = append(d.asked, s.String())
			}
		} else {
			for _, s := range d.fx.Probe {
				in.Results = append(in.Results, d.probe(s)...)
			}
		}
		if len(in.Results) == 0 {
			return reply
		}
	}
}

func (d *driver) take() {
	for i, e := range d.fx.Events {
		if i > 0 && e.ID != d.fx.Events[i-1].ID+1 || e.Resolves >= e.ID {
			d.t.Errorf("%v: event %d (%s %s) ends %d and comes behind %d", d.now, e.ID, e.Kind, e.Subject(), e.Resolves, d.fx.Events[max(i-1, 0)].ID)
		}
	}
	d.events = append(d.events, d.fx.Events...)
	d.all = append(d.all, d.fx.Events...)
	if d.fx.Subjects {
		d.schedule()
	}
}

// probe gives the result of a subject as the world is; none while it is mute.
func (d *driver) probe(s Subject) []Result {
	who := s.String()
	res := Result{Subject: s, Start: d.now, Finish: d.now, Checks: []Check{{Outcome: Up}}}
	if s.Node != "" {
		who = s.Site + "/" + s.Node
		res.Checks = make([]Check, len(d.node(s.Site, s.Node).Probes))
	}
	family := who + " " + FamilyOf(s.Addr).String()
	if d.mute[who] || d.mute[family] {
		return nil
	}
	for i := range res.Checks {
		c, name := &res.Checks[i], who
		if s.Node != "" {
			name = who + " " + d.node(s.Site, s.Node).Probes[i].Name
		}
		any := func(set map[string]bool) bool {
			return set[who] || set[family] || set[name] || set[s.Site] || set[s.Addr.String()]
		}
		*c = Check{Outcome: Up}
		switch {
		case any(d.unrouted):
			*c = Check{Outcome: Unknown, Cause: CauseLocalRoute, Text: "network is unreachable"}
		case any(d.unknown):
			*c = Check{Outcome: Unknown, Cause: "local_busy", Text: "no free descriptor"}
		case any(d.wrong):
			*c = Check{Outcome: Down, Cause: CauseDNSAnswer, Text: "answers 198.51.100.7, which is none of the expected addresses"}
		case any(d.down):
			*c = Check{Outcome: Down, Cause: "refused", Text: "connection refused"}
		default:
			c.Figures, c.Heard = d.work[who], d.heard[who]
		}
	}
	return []Result{res}
}

func (d *driver) node(site, name string) *Node {
	for i := range d.cfg.Sites {
		for j := range d.cfg.Sites[i].Nodes {
			if n := &d.cfg.Sites[i].Nodes[j]; d.cfg.Sites[i].Name == site && n.Name == name {
				return n
			}
		}
	}
	d.t.Fatalf("no node %s/%s", site, name)
	return nil
}

// at lets the world run to a time; what is due at it is not yet done.
func (d *driver) at(end time.Duration) {
	for {
		next := end
		if !d.off {
			next = min(next, d.fx.Next)
			for _, at := range d.next {
				next = min(next, at)
			}
		}
		if next >= end {
			d.now = end
			return
		}
		d.now = max(d.now, next)
		var in Input
		for _, x := range d.m.Targets() {
			if d.next[x.Subject] <= d.now {
				d.next[x.Subject] += x.Interval
				if !d.held {
					in.Results = append(in.Results, d.probe(x.Subject)...)
				}
			}
		}
		d.step(in)
	}
}

// play carries out a script. Every line is a time, a verb and what it is about.
func (d *driver) play(script string) {
	d.t.Helper()
	for _, line := range lines(script) {
		when, what, _ := strings.Cut(line, " ")
		at, err := time.ParseDuration(when)
		if err != nil || at < d.now {
			d.t.Fatalf("%q: %v", line, err)
		}
		d.at(at)
		d.do(strings.TrimSpace(what))
	}
}
