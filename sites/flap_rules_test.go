package sites

import (
	"slices"
	"testing"
	"time"
)

// The world of a node that flaps: its threshold ends with the very probe of a beat,
// its grace between that and the probes of the others just before.
const (
	flapBeats     = 16
	flapBeat      = 5 * time.Second
	flapThreshold = 3 * flapBeat
	flapGrace     = 4*flapBeat - 3*time.Millisecond
)

// flap is what N1, N2, N4, N6 and O4 say of a node whose witness always answers,
// in as few words as there can be.
type flap struct {
	word  Word
	since time.Duration // of the first failure, or of the first of the successes
	first time.Duration // of the successes in a row
	ups   int
}

// probed gives what follows from a probe that starts at t.
func (f flap) probed(t time.Duration, up bool) flap {
	if !up {
		f.ups = 0
		switch f.word {
		case WordUp:
			f.word, f.since = WordFailing, t
		case WordFailing:
			if t >= f.since+flapThreshold {
				f.word = WordOut
			}
		default:
			f.word = WordOut
		}
		return f
	}
	if f.ups++; f.ups == 1 {
		f.first = t
	}
	switch {
	case f.word == WordFailing && f.ups == 2:
		f.word = WordUp
	case f.word == WordOut && f.ups == 2:
		f.word, f.since = WordRecovering, f.first
	case f.word == WordRecovering && t >= f.since+flapGrace:
		f.word = WordUp
	}
	return f
}

// flapping follows the rules and their few words side by side.
type flapping struct {
	t       *testing.T
	subject [3]Subject // the witness, another node, the node
	beats   int        // that were compared
	changes [flapBeats]int
}

// A node that fails now and then, however it falls on threshold and grace, must
// leave and come back exactly when the rules say, and no answer may change more
// often than once in a threshold or a grace: every sequence of 16 probes.
func TestEveryFlap(t *testing.T) {
	cfg := smallWorld(1, 2, ActiveActive)
	s := &cfg.Sites[0]
	for i := range s.Nodes {
		s.Nodes[i].Threshold, s.Nodes[i].Grace, s.Nodes[i].Interval = flapThreshold, flapGrace, flapBeat
	}
	x := &flapping{t: t, subject: [3]Subject{
		{Site: s.Name, Witness: "w", Addr: s.Witnesses[0].Addr},
		{Site: s.Name, Node: "n1", Addr: s.Nodes[1].Addresses[0]},
		{Site: s.Name, Node: "n0", Addr: s.Nodes[0].Addresses[0]},
	}}
	now := time.Hour
	at := Instant{Boot: now, Wall: time.Unix(1_800_000_000, 0).UTC()}
	m := New(at, cfg, Saved{})
	m.Step(at, Input{})
	for range 2 {
		now += flapBeat
		x.beat(m, now, true)
	}
	x.follow(m, now, flap{word: WordUp}, "", -flapGrace, 0)
	if x.beats != 1<<(flapBeats+1)-2 {
		t.Errorf("%d beats were compared", x.beats)
	}
	t.Logf("so many of the %d sequences change the answer 0, 1, … times: %v", 1<<flapBeats, x.changes)
}

// follow goes on with either outcome. changed is when the answer changed last, and
// changes how often it has.
func (x *flapping) follow(m *Machine, now time.Duration, f flap, path string, changed time.Duration, changes int) {
	if len(path) == flapBeats {
		x.changes[changes]++
		return
	}
	for _, up := range []bool{true, false} {
		m, at, path := m.fork(), now+flapBeat, path+map[bool]string{true: "S", false: "F"}[up]
		next, changed, changes := f, changed, changes
		for _, start := range x.beat(m, at, up) {
			next = next.probed(start, up)
		}
		if f.word == WordRecovering && !up {
			x.is(m, path, WordRecovering) // it keeps its word until the witness has answered after that
			x.probe(m, at+time.Second, 0, true)
		}
		x.is(m, path, next.word)
		x.beats++
		in := next.word == WordUp || next.word == WordFailing
		if was := f.word == WordUp || f.word == WordFailing; in != was {
			least := flapThreshold // from a return, or from the start, to the next leaving
			if in {
				least = flapGrace
			}
			if at-changed < least {
				x.t.Fatalf("after %s the answer changes again after %s", path, at-changed)
			}
			changed, changes = at, changes+1
		}
		if got := m.Answer(PoolID{}).IPv4; slices.Contains(got, x.subject[2].Addr) != in || !slices.Contains(got, x.subject[1].Addr) {
			x.t.Fatalf("after %s the node is %s, and the answer %v", path, next.word, got)
		}
		x.follow(m, at, next, path, changed, changes)
	}
}

// is holds the node's word against the one that it should have.
func (x *flapping) is(m *Machine, path string, want Word) {
	if got, _ := m.NodeWord("s0/n0"); got != want {
		x.t.Fatalf("after %s the node is %s, want %s", path, got, want)
	}
}

// beat probes each once, the node last, and gives when probes of the node started.
func (x *flapping) beat(m *Machine, now time.Duration, up bool) (starts []time.Duration) {
	for i := range x.subject {
		starts = append(starts, x.probe(m, now-time.Duration(len(x.subject)-1-i)*time.Millisecond, i, up)...)
	}
	return starts
}

// probe hands in a probe of a subject, and then what the rules ask for: the node goes
// as it is told, the others answer.
func (x *flapping) probe(m *Machine, now time.Duration, subject int, up bool) (starts []time.Duration) {
	asked := 0
	for ask := []Subject{x.subject[subject]}; len(ask) > 0; now += 100 * time.Microsecond {
		if asked++; asked > 20 {
			x.t.Fatal("the rules ask without an end: ", ask)
		}
		r := Result{Subject: ask[0], Start: now, Finish: now, Checks: []Check{{Outcome: Up}}}
		if ask[0] == x.subject[2] {
			starts = append(starts, now)
			if !up {
				r.Checks[0].Outcome = Down
			}
		}
		fx := m.Step(Instant{Boot: now, Wall: time.Unix(1_800_000_000, 0).UTC().Add(now)}, Input{Results: []Result{r}})
		ask = append(ask[1:], fx.Probe...)
	}
	return starts
}
