package sites

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
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
	// down, unknown and mute hold what people call a subject: "berlin/a",
	// "berlin/a IPv6", "berlin/a http", "berlin resolver 10.1.0.1", "berlin".
	down, unknown, mute map[string]bool
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
		down: map[string]bool{}, unknown: map[string]bool{}, mute: map[string]bool{},
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
	if d.mute[who] {
		return nil
	}
	family := who + " " + FamilyOf(s.Addr).String()
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
		case any(d.unknown):
			*c = Check{Outcome: Unknown, Cause: "local_busy", Text: "no free descriptor"}
		case any(d.down):
			*c = Check{Outcome: Down, Cause: "refused", Text: "connection refused"}
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

// do carries out one verb.
func (d *driver) do(what string) {
	d.t.Helper()
	verb, about, _ := strings.Cut(what, " ")
	marks := map[string]map[string]bool{"down": d.down, "unknown": d.unknown, "mute": d.mute}
	switch verb {
	case "down", "unknown", "mute":
		marks[verb][about] = true
	case "up":
		for _, set := range marks {
			delete(set, about)
		}
	case "see":
		for _, x := range strings.Split(about, ", ") {
			d.seen = append(d.seen, d.see(x))
		}
	case "answers":
		id, _ := d.m.FindPool(about)
		d.seen = append(d.seen, about+" answers "+d.m.givesText(d.m.sites[id.Site].pools[id.Pool]))
	case "events":
		for i := range d.events {
			d.seen = append(d.seen, strings.TrimSpace(string(d.events[i].Kind)+" "+d.events[i].Subject()))
		}
		d.events = nil
	case "texts":
		for i := range d.events {
			d.seen = append(d.seen, d.events[i].Text)
		}
		d.events = nil
	case "explain":
		d.seen = append(d.seen, d.explain(about))
	case "asked":
		d.seen = append(d.seen, strings.TrimSpace("asked "+strings.Join(d.asked, ", ")))
		d.asked = nil
	case "hold", "free":
		d.held = verb == "hold"
	case "feed":
		d.feed(about)
	case "tick":
		d.step(Input{})
	case "suspend":
		d.sleep(about)
	case "restart":
		d.restart(about)
	case "suspect", "trust":
		d.suspect = verb == "suspect"
	case "clock":
		at, err := time.Parse(time.RFC3339, about)
		if err != nil {
			d.t.Fatal(err)
		}
		d.wall = at.Add(-d.now)
	case "reload":
		d.reload(about)
	default:
		d.command(verb, about)
	}
}

func (d *driver) sleep(about string) {
	for_, err := time.ParseDuration(about)
	if err != nil {
		d.t.Fatal(err)
	}
	d.now += for_
	for s := range d.next {
		for d.next[s] < d.now {
			d.next[s] += d.interval(s)
		}
	}
	d.step(Input{})
}

func (d *driver) interval(s Subject) time.Duration {
	for _, x := range d.m.Targets() {
		if x.Subject == s {
			return x.Interval
		}
	}
	return time.Second
}

// restart stops the controller for a time and starts it with what it has stored,
// as it comes back from JSON.
func (d *driver) restart(about string) {
	away, err := time.ParseDuration(about)
	if err != nil {
		d.t.Fatal(err)
	}
	saved := d.saved()
	d.next = nil
	d.now += away
	d.start(saved)
}

func (d *driver) saved() (saved Saved) {
	all := Saved{Global: d.m.Global()}
	for i := range d.cfg.Sites {
		all.Sites = append(all.Sites, d.m.Saved(i))
	}
	data, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		d.t.Fatal(err)
	}
	return saved
}

func (d *driver) reload(about string) {
	var i int
	if _, err := fmt.Sscan(about, &i); err != nil {
		d.t.Fatal(err)
	}
	cfg := d.cfg.clone()
	d.reloads[i](cfg)
	d.cfg = cfg
	d.fx = d.m.Reload(d.instant(), cfg)
	d.take()
	var in Input
	for _, s := range d.fx.Probe {
		in.Results = append(in.Results, d.probe(s)...)
	}
	d.step(in)
}

// feed gives one result by hand: who, outcome, start, finish, as "berlin/a down
// 10s 12s" or "berlin up 10s 12s" for its first witness.
func (d *driver) feed(about string) {
	f := strings.Fields(about)
	start, err := time.ParseDuration(f[2])
	finish, err2 := time.ParseDuration(f[3])
	if err != nil || err2 != nil {
		d.t.Fatalf("feed %s: %v %v", about, err, err2)
	}
	outcome := map[string]Outcome{"up": Up, "down": Down, "unknown": Unknown}[f[1]]
	for _, x := range d.m.Targets() {
		s := x.Subject
		name, n := s.Site, 1
		if s.Node != "" {
			name += "/" + s.Node
			n = len(d.node(s.Site, s.Node).Probes)
		}
		if name == f[0] {
			d.step(Input{Results: []Result{{Subject: s, Start: start, Finish: finish, Checks: slices.Repeat([]Check{{Outcome: outcome}}, n)}}})
			return
		}
	}
	d.t.Fatalf("feed: nothing is called %s", f[0])
}

// command has the operator say something, as "maintenance berlin/a for=2h
// force"; the reply is seen when it is a refusal, or with "say".
func (d *driver) command(verb, about string) {
	c := &Command{Verb: Verb(verb), By: "ann", Reason: "test"}
	say := false
	for i, word := range strings.Fields(about) {
		arg, value, _ := strings.Cut(word, "=")
		switch {
		case i == 0:
			site, rest, _ := strings.Cut(word, "/")
			c.Site = site
			if c.Verb == Pause || c.Verb == Resume {
				c.Pool = rest
			} else {
				c.Node = rest
			}
		case arg == "for":
			c.For, _ = time.ParseDuration(value)
		case arg == "force":
			c.Force = true
		case arg == "say":
			say = true
		default:
			d.t.Fatalf("%s: %s?", verb, word)
		}
	}
	reply := d.step(Input{Command: c})
	if reply == nil {
		d.t.Fatalf("%s %s: no reply", verb, about)
	}
	if reply.Refused {
		d.seen = append(d.seen, "refused: "+reply.Text)
	} else if say {
		d.seen = append(d.seen, reply.Text)
	}
}

// see gives the state of a node ("berlin/a=up"), of a pool ("berlin=own
// 10.1.0.11, 10.1.0.12"), of a site ("site berlin=up") or of a name's TTL
// ("ttl berlin=30s").
func (d *driver) see(what string) string {
	kind, name, _ := strings.Cut(what, " ")
	switch kind {
	case "site":
		return what + "=" + d.m.SiteWord(name)
	case "ttl":
		id, _ := d.m.FindPool(name)
		s := &d.cfg.Sites[id.Site]
		return what + "=" + d.m.Answer(id).TTL(s.TTL, s.TTLUnsettled).String()
	}
	if w, ok := d.m.NodeWord(what); ok {
		return what + "=" + string(w)
	}
	id, ok := d.m.FindPool(what)
	if !ok {
		d.t.Fatalf("see %q: there is no such thing", what)
	}
	return what + "=" + d.m.Answer(id).String() + " " + d.m.givesText(d.m.sites[id.Site].pools[id.Pool])
}

func (d *driver) explain(what string) string {
	if kind, name, _ := strings.Cut(what, " "); kind == "site" {
		return d.m.ExplainSite(name)
	}
	if _, ok := d.m.NodeWord(what); ok {
		return d.m.ExplainNode(what)
	}
	id, _ := d.m.FindPool(what)
	return d.m.ExplainPool(id)
}

// lines gives the lines of a text without the space around them.
func lines(text string) (list []string) {
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// usual gives the configuration of most tests: two sites with two nodes each,
// berlin active-active and hamburg active-passive, everything at its default.
func usual(change func(*Config)) *Config {
	cfg := &Config{Services: []Service{{Hosts: []string{"app.example.lan"}, Pool: DefaultPool, Sites: []string{"berlin", "hamburg"}}}}
	for i, name := range []string{"berlin", "hamburg"} {
		prefix := fmt.Sprintf("10.%d.0.", i+1)
		s := Site{
			Name: name, Threshold: 10 * time.Second, Interval: 5 * time.Second, Timeout: 2 * time.Second,
			TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
			Witnesses: []Witness{{Name: "resolver " + prefix + "1", Addr: netip.MustParseAddr(prefix + "1")}},
			Nodes:     []Node{usualNode("a", prefix+"11"), usualNode("b", prefix+"12")},
			Pools:     []Pool{{Name: DefaultPool, Mode: Mode(i), Nodes: []int{0, 1}}},
		}
		cfg.Sites = append(cfg.Sites, s)
	}
	if change != nil {
		change(cfg)
	}
	return cfg
}

func usualNode(name string, addresses ...string) Node {
	return Node{
		Name: name, Addresses: addrs(addresses...), Threshold: 30 * time.Second, Grace: 5 * time.Minute, Rise: 2,
		Interval: 5 * time.Second, Timeout: 2 * time.Second, Failover: true,
		Probes: []Probe{{Name: "tcp", Key: "tcp 443", Steer: true}},
	}
}

func addrs(list ...string) (out []netip.Addr) {
	for _, x := range list {
		out = append(out, netip.MustParseAddr(x))
	}
	return out
}

// clone copies a configuration deep enough for a test to change.
func (c *Config) clone() *Config {
	out := *c
	out.Sites = slices.Clone(c.Sites)
	for i := range out.Sites {
		s := &out.Sites[i]
		s.Nodes, s.Pools, s.Witnesses, s.Windows = slices.Clone(s.Nodes), slices.Clone(s.Pools), slices.Clone(s.Witnesses), slices.Clone(s.Windows)
		for j := range s.Nodes {
			s.Nodes[j].Probes = slices.Clone(s.Nodes[j].Probes)
		}
	}
	return &out
}
