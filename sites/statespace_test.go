package sites

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

// In the small worlds that are explored, one subject after the other is probed,
// one in each beat; what the rules ask for is answered at once. Every outcome is
// free each time, and so is every command in its place.
const (
	worldBeat  = 2 * time.Second
	askedTakes = 10 * time.Millisecond
)

// space is a world that is explored.
type space struct {
	t        *testing.T
	cfg      *Config
	subjects []Subject // in the order in which they are probed
	nodes    []string
	commands []Command
	k        *keyer
	// seen has the states that were reached, and how many moves were left then.
	seen  map[uint64]int8
	limit int
	edges int
	full  bool
	path  []string
}

// spot is a state on the way: the machine, and what an onlooker knows who heard
// all that it heard.
type spot struct {
	m       *Machine
	now     time.Duration
	next    int       // of the subjects
	pending []Subject // what is asked for and not answered yet
	eyes    []eyewitness
}

// eyewitness follows one node by the rules' words alone.
type eyewitness struct {
	heard, up bool
	ups       int // in a row, up to rise
	fails     int // in a row, up to 2
	clock     time.Duration
	phase     int // of a round: a witness, a failure after it, a witness after that
}

// exploreFor is how many states are reached at most in the usual run. With
// DNSTEER_STATES it is that many.
const exploreFor = 2_000

// Whatever order things fail, come back and are ordered in, each of P1 to P9 that
// is about the rules must hold in every state that can be reached: a sequence
// that nobody thought of would be somebody's outage.
func TestEveryState(t *testing.T) {
	limit := exploreFor
	if text := os.Getenv("DNSTEER_STATES"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil {
			t.Fatal("DNSTEER_STATES:", err)
		}
	}
	tests := []struct {
		name     string
		cfg      *Config
		commands bool
	}{
		{"two nodes and a witness, active_active, with commands", smallWorld(1, 2, ActiveActive), true},
		{"two nodes and a witness, active_passive, with commands", smallWorld(1, 2, ActivePassive), true},
		{"two sites with a node each, with commands", smallWorld(2, 1, ActiveActive), true},
		{"two nodes and a witness, active_active", smallWorld(1, 2, ActiveActive), false},
		{"two nodes and a witness, active_passive", smallWorld(1, 2, ActivePassive), false},
		{"two sites with a node each", smallWorld(2, 1, ActiveActive), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newSpace(t, tt.cfg, limit)
			if !tt.commands {
				x.commands = nil
			}
			depth := 0
			for !x.full && !t.Failed() {
				depth++
				before := len(x.seen)
				x.explore(x.start(), depth)
				if len(x.seen) == before && depth > 2*len(x.subjects) {
					break // there are no others
				}
			}
			t.Logf("%d states by %d moves, every sequence of %d moves and some of %d", len(x.seen), x.edges, depth-1, depth)
		})
	}
}

// smallWorld is a configuration with as few beats as there can be.
func smallWorld(places, nodes int, mode Mode) *Config {
	cfg := &Config{}
	for i := range places {
		s := Site{
			Name: fmt.Sprintf("s%d", i), Threshold: 3 * worldBeat, Interval: 3 * worldBeat, Timeout: time.Second,
			TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
			Witnesses: []Witness{{Name: "w", Addr: netip.AddrFrom4([4]byte{10, byte(i), 0, 1})}},
			Pools:     []Pool{{Name: DefaultPool, Mode: mode}},
		}
		if places > 1 {
			s.EmergencySite = fmt.Sprintf("s%d", (i+1)%places)
		}
		for j := range nodes {
			s.Nodes = append(s.Nodes, Node{
				Name: fmt.Sprintf("n%d", j), Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, byte(i), 0, byte(11 + j)})},
				Threshold: 4 * worldBeat, Grace: 4 * worldBeat, Rise: 2, Interval: 3 * worldBeat, Timeout: time.Second,
				Probes: []Probe{{Name: "tcp", Key: "tcp", Steer: true}}, Failover: true,
			})
			s.Pools[0].Nodes = append(s.Pools[0].Nodes, j)
		}
		cfg.Sites = append(cfg.Sites, s)
	}
	return cfg
}

func newSpace(t *testing.T, cfg *Config, limit int) *space {
	x := &space{t: t, cfg: cfg, limit: limit, k: newKeyer(40 * time.Second), seen: map[uint64]int8{}}
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		x.subjects = append(x.subjects, Subject{Site: s.Name, Witness: "w", Addr: s.Witnesses[0].Addr})
		for j := range s.Nodes {
			n := &s.Nodes[j]
			x.subjects = append(x.subjects, Subject{Site: s.Name, Node: n.Name, Addr: n.Addresses[0]})
			x.nodes = append(x.nodes, s.Name+"/"+n.Name)
			for _, v := range []Verb{Maintenance, MaintenanceEnd, Disable, Enable, Drill, DrillEnd, Switch} {
				if v != Switch || s.Pools[0].Mode == ActivePassive {
					x.commands = append(x.commands, Command{Verb: v, Site: s.Name, Node: n.Name, By: "x"})
				}
			}
		}
		for _, v := range []Verb{FailbackNow, Pause, Resume} {
			x.commands = append(x.commands, Command{Verb: v, Site: s.Name, By: "x"})
		}
	}
	for i := range x.commands {
		if x.commands[i].Verb == Drill {
			x.commands[i].For = 20 * time.Second
		}
	}
	return x
}

// start is the first start, after which all have answered twice.
func (x *space) start() *spot {
	p := &spot{now: time.Hour, eyes: make([]eyewitness, len(x.nodes))}
	p.m = New(p.instant(), x.cfg, Saved{})
	p.m.Step(p.instant(), Input{})
	for range 2 * len(x.subjects) {
		x.move(p, Up, nil)
	}
	return p
}

func (p *spot) instant() Instant {
	return Instant{Boot: p.now, Wall: time.Unix(1_800_000_000, 0).UTC().Add(p.now)}
}

func (p *spot) fork() *spot {
	return &spot{p.m.fork(), p.now, p.next, slices.Clone(p.pending), slices.Clone(p.eyes)}
}

// key names the state, the onlooker's knowledge included.
func (x *space) key(p *spot) uint64 {
	more := []int64{int64(p.next), int64(len(p.pending))}
	for _, s := range p.pending {
		more = append(more, int64(slices.Index(x.subjects, s)))
	}
	var clocks []time.Duration
	for _, e := range p.eyes {
		more = append(more, b2i(e.heard), b2i(e.up), int64(e.ups), int64(e.fails), int64(e.phase))
		clocks = append(clocks, e.clock)
	}
	return x.k.key(p.m, more, clocks)
}

// explore goes on from a state by so many moves.
func (x *space) explore(p *spot, moves int) {
	key := x.key(p)
	left, known := x.seen[key]
	if known && int(left) >= moves || x.full || x.t.Failed() {
		return
	}
	x.seen[key] = int8(moves)
	if !known {
		x.visit(p)
		x.full = len(x.seen) >= x.limit
	}
	if moves == 0 {
		return
	}
	go1 := func(name string, o Outcome, c *Command) {
		q := p.fork()
		x.path = append(x.path, name)
		x.move(q, o, c)
		x.explore(q, moves-1)
		x.path = x.path[:len(x.path)-1]
	}
	for _, o := range []Outcome{Up, Down, Unknown} {
		go1(o.String(), o, nil)
	}
	if len(p.pending) > 0 {
		return
	}
	for i := range x.commands {
		go1(string(x.commands[i].Verb), None, &x.commands[i])
	}
}

// move is one step of the world: the next subject answers, or an operator speaks.
func (x *space) move(p *spot, o Outcome, c *Command) {
	x.edges++
	in := Input{Command: c}
	var asked Subject
	switch {
	case c != nil:
		p.now += askedTakes
	case len(p.pending) > 0:
		asked, p.pending = p.pending[0], p.pending[1:]
		p.now += askedTakes
	default:
		asked = x.subjects[p.next]
		p.next = (p.next + 1) % len(x.subjects)
		p.now += worldBeat - p.now%worldBeat // the answers to what was asked add nothing up
	}
	if c == nil && p.m.subjects[asked] != nil {
		in.Results = []Result{{Subject: asked, Start: p.now - time.Millisecond, Finish: p.now, Checks: []Check{{Outcome: o}}}}
		x.hear(p, asked, o)
	}
	before := x.look(p.m)
	fx := p.m.Step(p.instant(), in)
	after := x.look(p.m)
	x.hold(p, before, after, &fx, c)
	for _, s := range fx.Probe {
		if !slices.Contains(p.pending, s) && len(p.pending) < 2*len(x.subjects) {
			p.pending = append(p.pending, s)
		}
	}
}

// hear has the onlooker hear a result.
func (x *space) hear(p *spot, s Subject, o Outcome) {
	if o != Up && o != Down {
		return
	}
	for i := range p.eyes {
		e := &p.eyes[i]
		switch {
		case s.Node == "" && o == Up && e.phase%2 == 0 && x.nodes[i][:len(s.Site)] == s.Site:
			e.phase = min(e.phase+1, 3)
		case s.Node == "" || x.nodes[i] != s.Site+"/"+s.Node:
		case o == Up:
			e.heard, e.up, e.fails = true, true, 0
			if e.ups = min(e.ups+1, 2); e.ups == 2 {
				e.clock, e.phase = 0, min(e.phase, 1)
			}
		default:
			e.heard, e.up, e.ups, e.fails = true, false, 0, min(e.fails+1, 2)
			if e.clock == 0 {
				e.clock = p.now - time.Millisecond
			}
			if e.phase == 1 {
				e.phase = 2
			}
		}
	}
}

// sight is what people see of a machine.
type sight struct {
	words   []Word
	answers []Answer
}

func (x *space) look(m *Machine) (v sight) {
	for _, n := range x.nodes {
		w, _ := m.NodeWord(n)
		v.words = append(v.words, w)
	}
	for i := range x.cfg.Sites {
		v.answers = append(v.answers, m.Answer(PoolID{Site: i}))
	}
	return v
}

// hold holds a step against the rules.
func (x *space) hold(p *spot, before, after sight, fx *Effects, c *Command) {
	fail := func(format string, args ...any) { x.t.Errorf("%s\nby %v", fmt.Sprintf(format, args...), x.path) }
	for i, w := range after.words {
		e := &p.eyes[i]
		drill := p.m.sites[0].nodes[0].Drill != nil
		for _, s := range p.m.sites {
			for _, n := range s.nodes {
				if s.Name+"/"+n.Name == x.nodes[i] {
					drill = n.Drill != nil || n.drilled == p.m.steps
				}
			}
		}
		if was := before.words[i]; w == WordOut && (was == WordUp || was == WordFailing) && !drill && c == nil {
			if e.phase != 3 || e.fails < 2 || p.now-e.clock < 4*worldBeat {
				fail("P1: %s goes from %s to out after %d failures in %s, phase %d of a round", x.nodes[i], was, e.fails, p.now-e.clock, e.phase)
			}
		}
	}
	for i, a := range after.answers {
		if len(a.IPv4) == 0 {
			fail("P2: the answer of %s is empty", x.cfg.Sites[i].Name)
		}
		was := before.answers[i]
		for _, addr := range a.IPv4 {
			if slices.Contains(was.IPv4, addr) || a.Source != Own {
				continue
			}
			for j, s := range x.ofNodes() {
				if s.Addr == addr && p.eyes[j].heard && !p.eyes[j].up && x.better(p, after, s.Site) {
					fail("P3: %s enters the answer of %s, and its last probe failed", x.nodes[j], x.cfg.Sites[i].Name)
				}
			}
		}
	}
	for _, s := range fx.Probe {
		if s.Node != "" {
			if w, _ := p.m.NodeWord(s.Site + "/" + s.Node); w == WordDisabled {
				fail("P4: %s is disabled and asked", s)
			}
		}
	}
}

// better says whether a node of a site answers that no operator has taken out:
// else what fails is all that is left.
func (x *space) better(p *spot, v sight, site string) bool {
	for i, s := range x.ofNodes() {
		if s.Site == site && p.eyes[i].up && v.words[i] != WordMaintenance && v.words[i] != WordDisabled {
			return true
		}
	}
	return false
}

func (x *space) ofNodes() (list []Subject) {
	for _, s := range x.subjects {
		if s.Node != "" {
			list = append(list, s)
		}
	}
	return list
}

// visit looks at a state that was not reached before; at some of them closely.
func (x *space) visit(p *spot) {
	for _, target := range p.m.Targets() {
		if w, _ := p.m.NodeWord(target.Subject.Site + "/" + target.Subject.Node); w == WordDisabled {
			x.t.Errorf("P4: %s is disabled and probed, by %v", target.Subject, x.path)
		}
	}
	if len(x.seen)%16 != 0 {
		return
	}
	x.same(p)
	x.restarted(p)
	if len(x.seen)%64 == 0 {
		x.rests(p)
	}
}

// same: the same inputs give the same, to the byte (P7).
func (x *space) same(p *spot) {
	a, b := p.fork(), p.fork()
	for _, o := range []Outcome{Down, Up, Down, Down, Up, Up, Down, Up} {
		x.move(a, o, nil)
		x.move(b, o, nil)
		if !reflect.DeepEqual(x.saved(a.m), x.saved(b.m)) || x.key(a) != x.key(b) {
			x.t.Errorf("P7: two that hear the same differ, by %v", x.path)
			return
		}
	}
}

func (x *space) saved(m *Machine) (s Saved) {
	s.Global = m.Global()
	for i := range x.cfg.Sites {
		s.Sites = append(s.Sites, m.Saved(i))
	}
	return s
}

// restarted: a restart changes no answer (P9, S2).
func (x *space) restarted(p *spot) {
	text, err := json.Marshal(x.saved(p.m))
	if err != nil {
		x.t.Fatal(err)
	}
	var saved Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		x.t.Fatal(err)
	}
	now := p.instant()
	now.Boot, now.Wall = now.Boot+time.Second, now.Wall.Add(time.Second)
	m := New(now, x.cfg, saved)
	m.Step(now, Input{})
	for i := range x.cfg.Sites {
		if was, is := p.m.Answer(PoolID{Site: i}), m.Answer(PoolID{Site: i}); !was.SameRecords(is) {
			x.t.Errorf("P9: %s answers %v, and %v after a restart, by %v", x.cfg.Sites[i].Name, was.IPv4, is.IPv4, x.path)
		}
	}
}

// rests: where everything answers from now on, and nobody acts, it comes to rest
// (P5).
func (x *space) rests(p *spot) {
	q := p.fork()
	q.pending = nil
	for range 40 * len(x.subjects) {
		x.move(q, Up, nil)
	}
	last := q.m.LastEvent
	answers := x.look(q.m).answers
	for range 10 * len(x.subjects) {
		x.move(q, Up, nil)
	}
	if q.m.LastEvent != last || !reflect.DeepEqual(answers, x.look(q.m).answers) {
		x.t.Errorf("P5: it does not come to rest, by %v", x.path)
	}
}
