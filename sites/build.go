package sites

import (
	"slices"
	"time"
)

// New makes the machine of a configuration, with what was stored by the last
// one (the zero Saved for a first start, S3). All clocks start anew (O5), and
// nothing moves until a site has been seen and a round of its probes is in (S2).
func New(now Instant, cfg *Config, saved Saved) *Machine {
	m := &Machine{SavedGlobal: saved.Global, byName: make(map[string]*site), now: now, epoch: now.Boot, began: 1}
	m.Starts = append(slices.Clone(m.Starts), now.Wall)
	if n := len(m.Starts); n > loopStarts {
		m.Starts = m.Starts[n-loopStarts:]
	}
	var before []alert
	for i := range saved.Sites {
		s := thaw(&saved.Sites[i])
		m.byName[s.Name] = s
		before = append(before, s.open()...)
	}
	m.build(cfg)
	m.deaf = m.Isolated != 0
	m.leaving = m.lostAlerts(before)
	for _, s := range m.sites {
		s.settled, s.downAt, s.seenAt, s.answersFrom = false, now.Boot, now.Boot, now.Boot
		if s.Condition == SiteIsDown && s.Down == 0 {
			s.sayAt = now.Boot + s.cfg.Threshold // what was not told yet is to be silent again first (N4, O5)
		}
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l == nil {
					continue
				}
				if s.Condition != SiteIsUp { // until its witness answers, as before
					l.blind, l.blindSince = true, now.Boot
				}
				if l.Word == WordFailing {
					l.startFailing(now.Boot)
				}
				l.restart(now.Boot, m.Mass != 0 || m.Released)
			}
		}
		for _, p := range s.pools {
			p.activeSince = now.Boot
			p.resumePutOff(now)
		}
	}
	return m
}

// Three starts within ten minutes are an alert: clocks that always start anew
// never decide (S4).
const (
	loopStarts = 3
	loopWithin = 10 * time.Minute
)

// started tells of too many starts, once per such time.
func (m *Machine) started() {
	m.storeGlobal()
	n := len(m.Starts)
	if n < loopStarts || m.now.Suspect || m.now.Wall.Sub(m.Starts[n-loopStarts]) > loopWithin || m.now.Wall.Sub(m.LoopSaid) < loopWithin {
		return
	}
	m.LoopSaid = m.now.Wall
	m.event(Event{Kind: RestartLoop, Text: "The controller has started three times within ten minutes. Each start begins all clocks anew, so nothing is taken out while this goes on."})
}

// thaw makes a site of what was stored; build gives it its configuration.
func thaw(saved *SavedSite) *site {
	s := &site{SavedSite: *saved, lostAt: never}
	for i := range saved.Nodes {
		n := &node{SavedNode: saved.Nodes[i], site: s}
		for f, l := range n.SavedNode.Lines {
			if l != nil {
				n.lines[f] = &line{SavedLine: *l}
				n.lines[f].stuck = l.Stale != 0
			}
		}
		s.nodes = append(s.nodes, n)
	}
	for i := range saved.Pools {
		p := &pool{SavedPool: saved.Pools[i]}
		p.said = p.spoken()
		s.pools = append(s.pools, p)
	}
	return s
}

// Reload puts another configuration in place. States are kept by name (A7).
func (m *Machine) Reload(now Instant, cfg *Config) Effects {
	m.begin(now)
	var before []alert
	for _, s := range m.sites {
		before = append(before, s.open()...)
	}
	m.build(cfg)
	m.end(m.lostAlerts(before), reconfigured)
	for _, s := range m.sites {
		m.dirty(s)
		s.stored = true
	}
	m.fx.Subjects = true
	m.began++
	m.judgeBrake()
	m.evaluateDirty()
	m.isolation()
	m.decide()
	return m.finish()
}

// build makes the sites of a configuration, with the state that sites, nodes
// and pools of the same names have.
func (m *Machine) build(cfg *Config) {
	old := m.byName
	m.cfg, m.sites, m.byName = cfg, nil, make(map[string]*site, len(cfg.Sites))
	m.dirtySites, m.calendar = m.dirtySites[:0], nil
	ttls := cfg.ttls()
	for i := range cfg.Sites {
		c := &cfg.Sites[i]
		s := m.buildSite(c, old[c.Name])
		s.index, s.ttls = i, ttls[c.Name]
		m.sites = append(m.sites, s)
		m.byName[s.Name] = s
	}
	for _, s := range m.sites {
		seen := map[*site]bool{s: true}
		for x := m.byName[s.cfg.EmergencySite]; x != nil && !seen[x]; x = m.byName[x.cfg.EmergencySite] {
			seen[x] = true
			s.chain = append(s.chain, x)
			x.dependents = append(x.dependents, s)
		}
	}
	for _, s := range m.sites {
		s.horizons = slices.Clone(s.ttls)
		for _, d := range s.dependents {
			s.horizons = append(s.horizons, d.ttls...)
		}
		slices.Sort(s.horizons)
		s.horizons = slices.Compact(s.horizons)
		m.calendar.place(s)
	}
	m.shortest = shortest(cfg)
	m.index()
}

// shortest gives the shortest probe interval of a configuration (O5).
func shortest(cfg *Config) time.Duration {
	d := time.Minute
	for i := range cfg.Sites {
		c := &cfg.Sites[i]
		if len(c.Witnesses) > 0 {
			d = min(d, c.Interval)
		}
		for j := range c.Nodes {
			d = min(d, c.Nodes[j].Interval)
		}
	}
	return max(d, 10*time.Millisecond)
}

// ttls gives the TTLs of the names that each site answers, ascending.
func (c *Config) ttls() map[string][]time.Duration {
	all := make(map[string][]time.Duration, len(c.Sites))
	for i := range c.Sites {
		all[c.Sites[i].Name] = []time.Duration{c.Sites[i].TTL}
	}
	for i := range c.Services {
		v := &c.Services[i]
		if v.TTL == 0 {
			continue
		}
		for _, name := range v.Sites {
			all[name] = append(all[name], v.TTL)
		}
	}
	for name, list := range all {
		slices.Sort(list)
		all[name] = slices.Compact(list)
	}
	return all
}

func (m *Machine) buildSite(c *Site, old *site) *site {
	s := &site{SavedSite: SavedSite{Name: c.Name, Condition: SiteIsUp, Since: m.now.Wall}, cfg: c}
	s.lostAt, s.answersFrom = never, m.now.Boot // one that is added was not down (N5)
	if old == nil {
		old = &site{}
	} else {
		s.SavedSite = old.SavedSite
		s.settled, s.quietFrom, s.asked, s.askedAt, s.sayAt = old.settled, old.quietFrom, old.asked, old.askedAt, old.sayAt
		s.lostAt, s.downAt, s.lineFault, s.seenAt, s.answersFrom = old.lostAt, old.downAt, old.lineFault, old.seenAt, old.answersFrom
	}
	for _, x := range c.Witnesses {
		w := &witness{family: FamilyOf(x.Addr)}
		subject := Subject{Site: c.Name, Witness: x.Name, Addr: x.Addr}
		w.awaited = m.now.Boot
		for _, o := range old.witnesses {
			if o.subject == subject {
				w.record = o.record
			}
		}
		w.subject, w.interval, w.timeout = subject, c.Interval, c.Timeout
		s.witnesses = append(s.witnesses, w)
	}
	had := make(map[string][]*node, len(old.nodes))
	for _, o := range old.nodes {
		had[o.Name] = append(had[o.Name], o)
	}
	at := make([][]*node, len(c.Nodes))
	for i := range c.Nodes {
		at[i] = m.buildNodes(s, i, had[c.Nodes[i].Name])
		s.nodes = append(s.nodes, at[i]...)
	}
	pools := make(map[string]*pool, len(old.pools))
	for _, o := range old.pools {
		pools[o.Name] = o
	}
	for i := range c.Pools {
		s.pools = append(s.pools, m.buildPool(s, i, at, pools[c.Pools[i].Name]))
	}
	for _, n := range s.nodes {
		n.freed()
		n.was = nil
	}
	for i := range c.Windows {
		s.windows = append(s.windows, windowClock{cfg: &c.Windows[i]})
	}
	return s
}

// index lists the subjects that are probed: no disabled node is (N8).
func (m *Machine) index() {
	m.subjects = make(map[Subject]*subject)
	m.unknown = 0
	add := func(t *subject) {
		if other := m.subjects[t.record.subject]; other != nil {
			other.twin = t.line
			return
		}
		m.subjects[t.record.subject] = t
		if t.record.unfound() {
			m.unknown++
		}
	}
	for _, s := range m.sites {
		for _, w := range s.witnesses {
			add(&subject{record: &w.record, site: s})
		}
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l != nil && !n.disabled() {
					add(&subject{record: &l.record, site: s, line: l})
				}
			}
		}
	}
	m.seenChanged = true
}

// resubject says that the set of subjects has changed, if it has.
func (m *Machine) resubject(changed bool) {
	if changed {
		m.fx.Subjects = true
		m.index()
	}
}

// Target is a subject with how often it is to be probed, and for how long.
type Target struct {
	Subject           Subject
	Interval, Timeout time.Duration
}

// Targets lists what is to be probed, in the configuration's order.
func (m *Machine) Targets() []Target {
	var list []Target
	for _, s := range m.sites {
		for _, w := range s.witnesses {
			list = append(list, Target{w.subject, w.interval, w.timeout})
		}
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l != nil && !n.disabled() {
					list = append(list, Target{l.subject, l.interval, l.timeout})
				}
			}
		}
	}
	return list
}
