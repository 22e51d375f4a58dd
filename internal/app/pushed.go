package app

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// pushed is what the targets are to hold: for every host what the built-in server
// would give the clients of the target's site, all addresses of it, with one fixed
// TTL (A9). It belongs to the loop.
type pushed struct {
	cfg     *config.Config
	targets []*pushedTarget
	// touches lists, for each pool, what is made anew when its answer changes.
	touches map[sites.PoolID][]touch
}

type touch struct{ target, host int }

// pushedTarget is one target.
type pushedTarget struct {
	*config.Target
	hosts []pushedHost
	// settled: its site was seen and had a full round since the start (S2).
	settled bool
	dirty   bool
	nodes   map[string][]netip.Addr
	// sight is what the publisher was told of its site, if looked.
	looked bool
	sight  sight
}

// sight is how much of a site can be seen: nothing, and whether its targets are
// left alone for that (E8).
type sight struct{ lost, held bool }

// pushedHost is a name at one target, with what it was last answered.
type pushedHost struct {
	name    string
	entries []pushedEntry
	records []providers.Record
	emptied bool // on purpose
}

// pushedEntry is a pool that can answer a name.
type pushedEntry struct {
	id  sites.PoolID
	ttl time.Duration
}

// newPushed prepares a configuration. Nothing is settled yet.
func newPushed(cfg *config.Config) *pushed {
	p := &pushed{cfg: cfg, touches: map[sites.PoolID][]touch{}}
	names, byHost := hostsOf(cfg)
	known := reaching{sites: cfg.Sites.Sites, byName: map[string]*sites.Site{}, lists: map[string][]netip.Addr{}}
	for i := range known.sites {
		known.byName[known.sites[i].Name] = &known.sites[i]
	}
	for i := range cfg.Targets {
		t := &pushedTarget{Target: &cfg.Targets[i], dirty: true, nodes: map[string][]netip.Addr{}}
		for _, name := range names {
			if !t.Takes(name) {
				continue
			}
			h := pushedHost{name: name, entries: byHost[name]}
			if own := slices.IndexFunc(h.entries, func(e pushedEntry) bool { return cfg.Sites.Sites[e.id.Site].Name == t.Site }); own >= 0 {
				h.entries = h.entries[own : own+1]
			}
			for _, e := range h.entries {
				p.touches[e.id] = append(p.touches[e.id], touch{i, len(t.hosts)})
			}
			t.nodes[name] = known.from(h.entries)
			t.hosts = append(t.hosts, h)
		}
		p.targets = append(p.targets, t)
	}
	return p
}

// poolName names a pool.
type poolName struct{ site, pool string }

// poolsOf finds every pool by its name.
func poolsOf(cfg *sites.Config) map[poolName]sites.PoolID {
	at := map[poolName]sites.PoolID{}
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		for j := range s.Pools {
			at[poolName{s.Name, s.Pools[j].Name}] = sites.PoolID{Site: i, Pool: j}
		}
	}
	return at
}

// hostsOf gives the hosts in their order, and the pools that can answer each.
func hostsOf(cfg *config.Config) (names []string, byHost map[string][]pushedEntry) {
	at := poolsOf(&cfg.Sites)
	byHost = map[string][]pushedEntry{}
	for i := range cfg.Sites.Services {
		svc := &cfg.Sites.Services[i]
		for _, host := range svc.Hosts {
			if byHost[host] == nil {
				names = append(names, host)
			}
			for _, site := range svc.Sites {
				id, ok := at[poolName{site, svc.Pool}]
				if !ok {
					continue
				}
				ttl := svc.TTL
				if ttl == 0 {
					ttl = cfg.Sites.Sites[id.Site].TTL
				}
				byHost[host] = append(byHost[host], pushedEntry{id, ttl})
			}
		}
	}
	return names, byHost
}

// reaching knows which addresses can come to be answered.
type reaching struct {
	sites  []sites.Site
	byName map[string]*sites.Site
	lists  map[string][]netip.Addr // what was found, by the sites
}

// from lists the addresses of all nodes that can come to serve a name: of its
// pools' sites, and of those that may step in for them (A4).
func (r *reaching) from(entries []pushedEntry) (list []netip.Addr) {
	var names strings.Builder
	visited := map[*sites.Site]bool{}
	var order []*sites.Site
	for _, e := range entries {
		for s := &r.sites[e.id.Site]; s != nil && !visited[s]; s = r.byName[s.EmergencySite] {
			visited[s] = true
			order = append(order, s)
			names.WriteString(s.Name + "\n")
		}
	}
	key := names.String()
	if list, ok := r.lists[key]; ok {
		return list
	}
	for _, s := range order {
		for i := range s.Nodes {
			list = append(append(list, s.Nodes[i].Addresses...), s.Nodes[i].Secondary...)
		}
		for i := range s.Pools {
			list = append(list, s.Pools[i].Sorry...)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	r.lists[key] = slices.Compact(list)
	return r.lists[key]
}

// update takes in the answers of touched pools, and gives what has changed of
// targets whose sites are settled.
func (p *pushed) update(m *sites.Machine, touched []sites.PoolID) map[string]publish.Desired {
	for _, id := range touched {
		for _, at := range p.touches[id] {
			t := p.targets[at.target]
			if t.hosts[at.host].answer(m, &p.cfg.Sites) {
				t.dirty = true
			}
		}
	}
	var out map[string]publish.Desired
	for _, t := range p.targets {
		if !t.settled && m.SiteSettled(t.Site) {
			t.settled, t.dirty = true, true
		}
		if !t.settled || !t.dirty {
			continue
		}
		t.dirty = false
		if out == nil {
			out = map[string]publish.Desired{}
		}
		out[t.Name] = t.desired()
	}
	return out
}

// all takes in every answer.
func (p *pushed) all(m *sites.Machine) {
	for _, t := range p.targets {
		for i := range t.hosts {
			t.hosts[i].answer(m, &p.cfg.Sites)
		}
		t.dirty = true
	}
}

// chosen gives the pool that answers a name now, as dnsserver does: the first
// that serves, else the first.
func (h *pushedHost) chosen(m *sites.Machine) (pushedEntry, sites.Answer) {
	e := h.entries[0]
	a := m.Answer(e.id)
	for _, x := range h.entries[1:] {
		if a.Serves() {
			break
		}
		if other := m.Answer(x.id); other.Serves() {
			e, a = x, other
		}
	}
	return e, a
}

// answer finds what a name is answered now, and says whether that is new.
func (h *pushedHost) answer(m *sites.Machine, cfg *sites.Config) bool {
	if len(h.entries) == 0 {
		return false
	}
	e, a := h.chosen(m)
	var list []providers.Record
	for _, addrs := range [][]netip.Addr{a.IPv4, a.IPv6} {
		for _, addr := range addrs {
			list = append(list, providers.Record{Name: h.name, Addr: addr, TTL: e.ttl})
		}
	}
	emptied := len(list) == 0 && a.Source == sites.Removed && cfg.Sites[e.id.Site].Pools[e.id.Pool].OnEmpty == sites.OnEmptyRemove
	if len(list) == 0 && !emptied {
		return false // never push that nothing is known: the last answer stands
	}
	if h.emptied == emptied && slices.Equal(h.records, list) {
		return false
	}
	h.records, h.emptied = list, emptied
	return true
}

// desired gives what the target is to hold.
func (t *pushedTarget) desired() publish.Desired {
	d := publish.Desired{Nodes: t.nodes}
	for i := range t.hosts {
		h := &t.hosts[i]
		switch {
		case h.emptied:
			d.Emptied = append(d.Emptied, h.name)
		case len(h.records) == 0:
			d.Unknown = append(d.Unknown, h.name)
		default:
			d.Records = append(d.Records, h.records...)
		}
	}
	if t.AdGuard != nil {
		for i := range d.Records {
			d.Records[i].TTL = 0 // the server has one for all
		}
	}
	return d
}
