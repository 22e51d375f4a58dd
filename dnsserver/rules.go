package dnsserver

import (
	"fmt"
	"net/netip"
	"slices"
)

// transferRules say who may take a zone, and what they get.
type transferRules struct {
	allow ranges
	keys  []*tsigKey // one of them must sign; none where the address is enough
	site  int32
	// name is the site's; what the zone holds for secondaries depends on it.
	name string
	// hosts are the zone's names with records of services, by number of the
	// service.
	hosts map[int][]string
	// uses lists the services that a pool may answer.
	uses   map[*pool][]int
	notify []secondary
}

// secondary is a server that is told of changes.
type secondary struct {
	addr netip.AddrPort
	key  *tsigKey // nil for none
}

// may says whether a zone is given to the sender of a message: by its address and
// by the key that signed it, the same for every transport.
func (r *transferRules) may(from netip.Addr, signed *signer) bool {
	if r == nil || r.allow.find(from) == none {
		return false
	}
	return len(r.keys) == 0 || signed != nil && slices.Contains(r.keys, signed.key)
}

// maxText is the length of a string in a record, in octets.
const maxText = 255

// addTransfers prepares keys, and who may take zones.
func (b *builder) addTransfers() {
	b.rate, b.queryLog, b.serverID, b.version = b.cfg.RateLimit, b.cfg.QueryLog, b.cfg.ServerID, b.cfg.Version
	if max(len(b.serverID), len(b.version)) > maxText {
		b.fail("the server's ID or version is longer than %d octets", maxText)
	}
	b.keys = map[string]*tsigKey{}
	for i := range b.cfg.Keys {
		k, err := newKey(&b.cfg.Keys[i])
		switch {
		case err != nil:
			b.fail("TSIG key %q: %w", b.cfg.Keys[i].Name, err)
		case b.keys[k.name] != nil:
			b.fail("TSIG key %q is there twice: remove one", b.cfg.Keys[i].Name)
		default:
			b.keys[k.name] = k
		}
	}
	for i := range b.cfg.Zones {
		if z := &b.cfg.Zones[i]; z.Transfer != nil || len(z.Notify) > 0 {
			if err := b.addRules(z); err != nil {
				b.fail("zone %s: %w", z.Name, err)
			}
		}
	}
}

// addRules prepares who may take one zone.
func (b *builder) addRules(cfg *Zone) error {
	wire, err := wireName(cfg.Name)
	if err != nil {
		return err
	}
	r := &transferRules{site: none, hosts: map[int][]string{}, uses: map[*pool][]int{}}
	t := cfg.Transfer
	if t == nil {
		t = &Transfer{}
	}
	var allow []valued
	for _, p := range t.Allow {
		allow = append(allow, valued{p, 0})
	}
	if r.allow, err = newRanges(allow, func(int32) string { return "transfer" }); err != nil {
		return err
	}
	for _, name := range t.Keys {
		k, err := b.key(name)
		if err != nil {
			return err
		}
		r.keys = append(r.keys, k)
	}
	if r.name = t.Site; t.Site != "" {
		site, ok := b.siteIndex[t.Site]
		if !ok {
			return fmt.Errorf("transfer: there is no site %q", t.Site)
		}
		r.site = site
	}
	for _, s := range cfg.Notify {
		to := secondary{addr: s.Addr}
		if s.Key != "" {
			if to.key, err = b.key(s.Key); err != nil {
				return err
			}
		}
		r.notify = append(r.notify, to)
	}
	if z := b.zones[wire]; z != nil { // nil where the zone has faults
		z.transfer = r
		b.names.walk(z, func(n node) bool {
			if i := n.service(); i > 0 {
				r.hosts[i] = append(r.hosts[i], string(n.name()))
			}
			return true
		})
	}
	for number := range r.hosts {
		for _, e := range b.services[number-1].entries {
			r.uses[e.pool] = append(r.uses[e.pool], number)
		}
	}
	return nil
}

// key gives a key by its configured name.
func (b *builder) key(name string) (*tsigKey, error) {
	wire, err := wireName(name)
	if err != nil {
		return nil, err
	}
	k := b.keys[wire]
	if k == nil {
		return nil, fmt.Errorf("there is no TSIG key %q", name)
	}
	return k, nil
}

// walk goes over the nodes of a zone, those too that zones inside it hide, until f is
// false. There may be thousands of zones: it looks at no node of another.
func (x *nameIndex) walk(z *zone, f func(node) bool) {
	for at := z.begin; at < z.end; {
		n := node(x.arena[at:])
		if n[0] == 0 { // no node: every name has its final zero
			at += nodeUnit
			continue
		}
		if !f(n) {
			return
		}
		at += n.size()
	}
}

// size counts the octets that a node takes in the arena.
func (n node) size() int {
	s, count := n.sets()
	size := n.head() + int(n[0])
	for range count {
		size += s.size()
		s = s.next()
	}
	if glue := n.glue(); glue != nil {
		size += glue.size()
	}
	return units(size)
}
