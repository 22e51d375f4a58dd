package rehearsal

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// compare holds what has happened against what a step expects.
func (p *play) compare(s *step) {
	m := p.machine()
	e := &s.Expect
	for i, site := range p.cfg.Sites.Sites {
		for j, pool := range site.Pools {
			p.dns.SetAnswer(site.Name, pool.Name, m.Answer(sites.PoolID{Site: i, Pool: j}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Answers)) {
		p.compareAnswer(m, name, e.Answers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.TTL)) {
		want := e.TTL[name]
		site, host, typ := question(name)
		got := int(p.dns.Lookup(site, host, typ).TTL / time.Second)
		if got != want.V {
			p.differ(want.At, "TTL of %s: expected %d, found %d%s", name, want.V, got, p.why(m, site))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Nodes)) {
		want := e.Nodes[name]
		if got, ok := m.NodeWord(name); !ok || string(got) != want.V {
			p.differ(want.At, "node %s: expected %s, found %s: %s", name, want.V, got, m.ExplainNode(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Sites)) {
		want := e.Sites[name]
		if got := m.SiteWord(name); got != want.V {
			p.differ(want.At, "site %s: expected %s, found %s: %s", name, want.V, got, m.ExplainSite(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Pools)) {
		want := e.Pools[name]
		id, _ := m.FindPool(name)
		if got := m.Answer(id).String(); got != want.V {
			p.differ(want.At, "pool %s: expected %s, found %s: %s", name, want.V, got, m.ExplainPool(id))
		}
	}
	p.compareEvents(e)
}

func (p *play) compareAnswer(m *sites.Machine, name string, want config.Value[[]string]) {
	site, host, typ := question(name)
	var got []string
	for _, a := range p.dns.Lookup(site, host, typ).Addresses {
		got = append(got, a.String())
	}
	var expected []string
	for _, text := range want.V {
		a, _ := netip.ParseAddr(text) // checked when it was read
		expected = append(expected, a.String())
	}
	slices.Sort(got)
	slices.Sort(expected)
	if !slices.Equal(got, expected) {
		p.differ(want.At, "answer of %s: expected [%s], found [%s]%s",
			name, strings.Join(expected, ", "), strings.Join(got, ", "), p.why(m, site))
	}
}

// why gives the sentences about the nodes of a site.
func (p *play) why(m *sites.Machine, site string) string {
	s := p.world.site(site)
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range s.Nodes {
		b.WriteString("\n    " + m.ExplainNode(site+"/"+n.Name))
	}
	return b.String()
}

// compareEvents looks for the events in their order, and for those that must
// not have happened. Only naming events moves the window on.
func (p *play) compareEvents(e *expect) {
	rest := p.events
	for _, want := range e.Events {
		i := slices.IndexFunc(rest, func(ev sites.Event) bool { return matches(&ev, want.V) })
		if i < 0 {
			p.differ(want.At, "event %q was expected and has not happened%s", want.V, p.happened())
			continue
		}
		rest = rest[i+1:]
	}
	for _, not := range e.NoEvents {
		for i := range p.events {
			if matches(&p.events[i], not.V) {
				p.differ(not.At, "event %q was not expected and has happened: %s", not.V, p.events[i].Text)
				break
			}
		}
	}
	if len(e.Events) > 0 {
		p.events = nil
	}
}

// happened lists what did happen instead.
func (p *play) happened() string {
	if len(p.events) == 0 {
		return "; nothing has"
	}
	var names []string
	for i := range p.events {
		names = append(names, strings.TrimSpace(string(p.events[i].Kind)+" "+p.events[i].Subject()))
	}
	return "; these have: " + strings.Join(names, ", ")
}

// matches compares an event with "kind" or "kind subject".
func matches(e *sites.Event, want string) bool {
	kind, subject, named := strings.Cut(want, " ")
	return string(e.Kind) == kind && (!named || e.Subject() == strings.TrimSuffix(subject, "/"+sites.DefaultPool))
}

// question takes "site host type" apart; it was checked when it was read.
func question(name string) (site, host string, typ uint16) {
	f := strings.Fields(name)
	if len(f) != 3 {
		return "", "", 0
	}
	return f[0], f[1], dns.StringToType[strings.ToUpper(f[2])]
}

// check refuses expectations that name what cannot be.
func (e *expect) check(n *names, f *faults) {
	for _, name := range slices.Sorted(maps.Keys(e.Answers)) {
		want := e.Answers[name]
		f.add(want.At, n.checkQuestion(name))
		for _, text := range want.V {
			if _, err := netip.ParseAddr(text); err != nil {
				f.add(want.At, fmt.Errorf("found %q, expected an address", text))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.TTL)) {
		f.add(e.TTL[name].At, n.checkQuestion(name))
	}
	words := []string{"pending", "up", "failing", "out", "recovering", "returning", "maintenance", "disabled"}
	for _, name := range slices.Sorted(maps.Keys(e.Nodes)) {
		f.add(e.Nodes[name].At, n.world.checkNode(name))
		f.oneOf(e.Nodes[name], "node "+name, words)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Sites)) {
		f.add(e.Sites[name].At, n.world.checkSite(name))
		f.oneOf(e.Sites[name], "site "+name, []string{"up", "down", "resolver_down", "paused"})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Pools)) {
		want := e.Pools[name]
		f.add(want.At, n.checkPool(name))
		if site, ok := strings.CutPrefix(want.V, "emergency:"); ok {
			f.add(want.At, n.world.checkSite(site))
		} else {
			f.oneOf(want, "pool "+name, []string{"own", "emergency:SITE", "last_resort", "empty"})
		}
	}
	for _, list := range [...][]config.Value[string]{e.Events, e.NoEvents} {
		for _, want := range list {
			f.add(want.At, n.checkEvent(want.V))
		}
	}
}
