package sites

import (
	"slices"
	"strings"
	"time"
)

// Machine carries out the rules for one configuration. Create it with [New],
// hand it everything that happens with [Machine.Step].
type Machine struct {
	SavedGlobal
	cfg      *Config
	sites    []*site
	byName   map[string]*site
	subjects map[Subject]*subject

	now      Instant
	stepped  bool          // a Step has been made since the start
	shortest time.Duration // the shortest probe interval (O5)
	epoch    time.Duration // results of probes that started earlier are unknown
	unknown  int           // subjects whose last result is unknown (N4)
	learnt   uint64        // results so far
	leaving  []alert       // that the first Step ends (A7)
	// braked is when the brake was last judged (A10), began counts what has
	// begun to fail, lookedAt is how far that had come then; failures is its
	// buffer.
	braked          time.Duration
	began, lookedAt uint64
	failures        []failure
	// seenChanged asks for a look at the sites as a whole, and so does held,
	// until when a site_down is held back (N4); again is when a site that is
	// down may be given up (N5).
	seenChanged bool
	held, again time.Duration
	// deaf: it is isolated no more, and has heard nothing yet that says so.
	deaf bool

	fx         Effects
	nodeEvents []Event
	poolEvents []Event
	dirtySites []*site // in no order
	redecided  int     // sites in this Step that were decided again
	steps      uint64  // how many have been begun
	calendar   calendar
}

// subject is where the results of a subject go.
type subject struct {
	record *record
	site   *site
	line   *line // nil for a witness
	// twin is the same node in its former incarnation, where both have the
	// address (A7).
	twin *line
}

// Step takes what has happened until now and says what follows from it. It
// must be called at the latest when the last Effects said (Next).
func (m *Machine) Step(now Instant, in Input) Effects {
	first := !m.stepped
	m.begin(now)
	if first {
		m.started()
	}
	m.end(m.leaving, reconfigured)
	m.leaving = nil
	for _, e := range in.Events {
		m.event(e)
	}
	for i := range in.Results {
		m.result(&in.Results[i])
	}
	if m.calendar.next() <= now.Boot {
		m.calendar.due(now.Boot, 0, m.dirty)
	}
	m.evaluateDirty()
	var before []given
	if in.Command != nil {
		before = m.given(in.Command)
		reply := m.command(in.Command)
		m.fx.Reply = &reply
		m.evaluateDirty()
	}
	if m.brakeDue() <= now.Boot {
		m.judgeBrake()
		m.evaluateDirty()
	}
	if m.seenChanged || m.deaf || m.held != 0 || m.again != 0 && now.Boot >= m.again {
		m.seenChanged = false
		m.isolation()
	}
	m.decide()
	if r := m.fx.Reply; r != nil && !r.Refused {
		r.Text = strings.TrimSpace(r.Text + " " + m.outcomeText(in.Command, before))
	}
	return m.finish()
}

func (m *Machine) evaluateDirty() {
	for _, s := range m.inOrder() {
		m.evaluate(s)
	}
}

// inOrder gives the changed sites in the configuration's order.
func (m *Machine) inOrder() []*site {
	slices.SortFunc(m.dirtySites, func(a, b *site) int { return a.index - b.index })
	return m.dirtySites
}

// begin readies a Step, and notices when the controller itself was blind (O5).
func (m *Machine) begin(now Instant) {
	gap := now.Boot - m.now.Boot
	blind := m.stepped && gap > 5*m.shortest
	jumped := (now.Wall.Sub(m.now.Wall) - gap).Abs() > wallJump
	m.now, m.stepped = now, true
	m.steps++
	m.fx = Effects{
		Events: m.fx.Events[:0], Probe: m.fx.Probe[:0], Touched: m.fx.Touched[:0],
		Stored: m.fx.Stored[:0], Subjects: m.fx.Subjects, StoredGlobal: m.fx.StoredGlobal,
	}
	m.nodeEvents, m.poolEvents = m.nodeEvents[:0], m.poolEvents[:0]
	if blind {
		m.fx.Blind = true
		m.restartClocks()
	}
	if jumped {
		m.dirtyAll() // windows and --for go by the wall clock
	}
	m.judgeClock()
}

// wallJump is how far the two clocks run apart between two Steps where the wall
// clock was set: more than it is slewed by, or read at another moment.
const wallJump = 100 * time.Millisecond

func (m *Machine) dirtyAll() {
	for _, s := range m.sites {
		m.dirty(s)
	}
}

// restartClocks begins every clock anew after the controller was blind (O5).
func (m *Machine) restartClocks() {
	now := m.now.Boot
	m.epoch = now
	m.began++
	for _, s := range m.sites {
		s.quietFrom, s.asked = now, false
		if s.Condition == SiteIsDown && s.Down == 0 {
			s.sayAt = now + s.cfg.Threshold
		}
		s.downAt, s.seenAt, s.answersFrom = now, now, now
		for _, w := range s.witnesses {
			w.awaited, w.dark = now, false
		}
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l != nil {
					l.restart(now, m.Mass != 0 || m.Released)
				}
			}
		}
		for _, p := range s.pools {
			p.activeSince, p.calm = now, false
		}
		m.dirty(s)
	}
}

// judgeClock tells once that the wall clock cannot be right (O6).
func (m *Machine) judgeClock() {
	switch {
	case m.now.Suspect && m.Suspect == 0:
		m.Suspect = m.event(Event{Kind: ClockSuspect, Text: "The wall clock cannot be right (" +
			m.now.Wall.UTC().Format(time.RFC3339) + "). Windows and --for keep their state until it is set."})
	case !m.now.Suspect && m.Suspect != 0:
		m.Suspect = 0
	default:
		return
	}
	m.storeGlobal()
	m.dirtyAll()
}

// result enters one result.
func (m *Machine) result(res *Result) {
	to := m.subjects[res.Subject]
	if to == nil || len(res.Checks) == 0 {
		return
	}
	m.learnt++
	if res.Start < m.epoch {
		m.blinded(res)
	}
	if m.now.Suspect {
		distrust(res)
	}
	was, dark := to.record.unfound(), to.record.dark
	if to.line != nil {
		m.absorb(to.line, res)
		if to.twin != nil {
			m.absorb(to.twin, res)
		}
	} else {
		m.witness(to, res)
	}
	to.record.dim(res.Start, m.epoch)
	for _, l := range [...]*line{to.line, to.twin} {
		if l != nil {
			l.record.dim(res.Start, m.epoch)
			l.truth.dim(res.Start, m.epoch) // what a drill hides
		}
	}
	if to.record.stuck || dark || to.record.dark {
		m.dirty(to.site)
	}
	if is := to.record.unfound(); is != was {
		full := m.unknown == len(m.subjects)
		if is {
			m.unknown++
		} else {
			m.unknown--
		}
		m.seenChanged = m.seenChanged || full || m.unknown == len(m.subjects)
	}
}

// blinded makes the result of a probe that was under way when the controller
// was blind an unknown one (O5).
func (m *Machine) blinded(res *Result) {
	res.Checks = slices.Clone(res.Checks)
	for i := range res.Checks {
		res.Checks[i].Outcome = Unknown
	}
}

// witness enters the result of a witness.
func (m *Machine) witness(to *subject, res *Result) {
	r := to.record
	before := r.last
	if !r.take(res.Checks[0].Outcome, res, 0, m.learnt) {
		return
	}
	r.heard, r.check = res.Finish, res.Checks[0]
	if r.check.Outcome == Unknown {
		r.lack = r.check
	}
	if r.last != before || to.site.busy {
		m.dirty(to.site)
	}
}

// finish works out when the next Step is due, and hands the effects over.
func (m *Machine) finish() Effects {
	for _, s := range m.dirtySites {
		m.settleTimes(s)
		m.calendar.place(s)
		if s.stored {
			s.stored = false
			m.fx.Stored = append(m.fx.Stored, s.index)
		}
		s.isDirty = false
	}
	m.dirtySites = m.dirtySites[:0]
	next := min(m.now.Boot+m.shortest, m.calendar.next())
	for _, at := range [...]time.Duration{m.held, m.again} {
		if at != 0 {
			next = min(next, at)
		}
	}
	m.fx.Next = max(min(next, m.brakeDue()), m.now.Boot)
	for _, list := range [...][]Event{m.nodeEvents, m.poolEvents} {
		slices.SortStableFunc(list, func(a, b Event) int { return m.place(a.Site) - m.place(b.Site) })
		m.fx.Events = append(m.fx.Events, list...)
	}
	m.number()
	if len(m.fx.Events) > 0 {
		m.fx.StoredGlobal = true
	}
	fx := m.fx
	m.fx.Subjects, m.fx.StoredGlobal, m.fx.Reply = false, false, nil
	return fx
}

// place is where a site stands in the configuration; one that has left comes
// before all.
func (m *Machine) place(name string) int {
	if s := m.byName[name]; s != nil {
		return s.index
	}
	return -1
}

// dirty asks for the site to be looked at in this Step.
func (m *Machine) dirty(s *site) {
	if !s.isDirty {
		s.isDirty = true
		m.dirtySites = append(m.dirtySites, s)
	}
}

// changed says that durable state of the site has changed.
func (m *Machine) changed(s *site) {
	s.stored = true
	m.dirty(s)
}

func (m *Machine) storeGlobal() { m.fx.StoredGlobal = true }

func (m *Machine) ask(s Subject) {
	if !slices.Contains(m.fx.Probe, s) {
		m.fx.Probe = append(m.fx.Probe, s)
	}
}
