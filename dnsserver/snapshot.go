package dnsserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
)

// snapshot is everything that queries are answered from. It never changes; what
// moves lies behind the pointers of its pools and the serials of its zones.
type snapshot struct {
	// names finds what lies at a name. Of zones that are inside each other the
	// deepest has the name.
	names nameIndex
	// parents holds the upper side of a cut between two zones of ours, by wire
	// name: DS is asked there (RFC 4035 section 3.1.4.1).
	parents  map[string]node
	zones    map[string]*zone // by wire name
	zoneList []*zone
	services []*service
	depth    int // labels of the deepest name

	allow       ranges // empty: anybody may ask
	views       ranges
	siteIndex   map[string]int32
	siteNames   []string
	defaultSite int32

	keys     map[string]*tsigKey // by wire name
	serverID string
	version  string
	rate     RateLimit
	queryLog QueryLog

	signs bool // some zone
	// ahead gives the names of signed zones whose addresses move with a pool.
	ahead map[*pool][]node
	// feeds gives the zones whose records change with a pool.
	feeds map[*pool][]*zone
}

// zone is one zone of the snapshot.
type zone struct {
	index int // in the snapshot
	wire  string
	text  string
	apex  node
	soa   set
	// begin and end are where the zone's nodes lie in the arena, and no others.
	begin, end int
	negTTL     uint32 // of negative answers (RFC 2308 section 5)
	// serial grows with every change of records.
	serial atomic.Uint32
	// written is the SOA's serial in the configuration, digest that of all
	// records but the serial.
	written uint32
	digest  [sha256.Size]byte
	moving  bool // services put records into it
	// signer is nil for a zone that is not signed.
	signer *zoneSigner
	// transfer is nil where nobody may take the zone.
	transfer *transferRules
}

// find looks for the name of a question: gives its node, else the closest one
// above, else nil.
func (s *snapshot) find(q *query) (n node, exact bool) {
	name, labels := q.name(), q.labels
	if labels <= s.depth {
		if n = s.names.get(name); n != nil {
			return n, true
		}
	}
	for i := max(1, labels-s.depth); i <= labels; i++ {
		if n = s.names.get(name[q.starts[i]:]); n != nil {
			return n, false
		}
	}
	return nil, false
}

// zoneOf gives a node's zone.
func (s *snapshot) zoneOf(n node) *zone { return s.zoneList[n.zone()] }

// serviceOf gives the service that a node's A and AAAA come from, or nil.
func (s *snapshot) serviceOf(n node) *service {
	if i := n.service(); i > 0 {
		return s.services[i-1]
	}
	return nil
}

// siteOf gives the site of a client, and whether it was found by its address.
func (s *snapshot) siteOf(a netip.Addr) (site int32, found bool) {
	if site = s.views.find(a); site != none {
		return site, true
	}
	return s.defaultSite, !s.views.filled
}

// builder makes a snapshot of a configuration.
type builder struct {
	*snapshot
	cfg   *Config
	pools func(poolKey) *pool
	prior *snapshot // nil for none
	errs  []error
}

// build makes a snapshot. All faults of the configuration are reported
// together.
func build(cfg *Config, prior *snapshot, pools func(poolKey) *pool) (*snapshot, error) {
	b := &builder{
		snapshot: &snapshot{
			parents: map[string]node{}, zones: map[string]*zone{},
			siteIndex: map[string]int32{}, defaultSite: none, feeds: map[*pool][]*zone{}, ahead: map[*pool][]node{},
		},
		cfg: cfg, pools: pools, prior: prior,
	}
	b.addSites()
	b.addPrefixes()
	b.addZones()
	b.addTransfers()
	b.addSigners()
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	return b.snapshot, nil
}

func (b *builder) fail(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// site gives a site's index, a new one for a new name.
func (b *builder) site(name string) int32 {
	i, ok := b.siteIndex[name]
	if !ok {
		i = int32(len(b.siteNames))
		b.siteIndex[name] = i
		b.siteNames = append(b.siteNames, name)
	}
	return i
}

// addSites numbers the sites that are named anywhere.
func (b *builder) addSites() {
	for _, v := range b.cfg.Views {
		b.site(v.Site)
	}
	for _, s := range b.cfg.Services {
		for _, at := range s.Sites {
			b.site(at.Site)
		}
	}
	if b.cfg.DefaultSite != "" {
		b.defaultSite = b.site(b.cfg.DefaultSite)
	}
}

// addPrefixes makes the tables of clients.
func (b *builder) addPrefixes() {
	var views, allow []valued
	for _, v := range b.cfg.Views {
		site := b.site(v.Site)
		for _, p := range v.Clients {
			views = append(views, valued{p, site})
		}
		for _, a := range v.Resolvers {
			a = a.Unmap().WithZone("")
			views = append(views, valued{netip.PrefixFrom(a, a.BitLen()), site})
		}
	}
	for _, p := range b.cfg.AllowQuery {
		allow = append(allow, valued{p, 0})
	}
	var err error
	if b.views, err = newRanges(views, func(i int32) string { return "site " + b.siteNames[i] }); err != nil {
		b.fail("views: %w", err)
	}
	if b.allow, err = newRanges(allow, func(int32) string { return "allow_query" }); err != nil {
		b.fail("allow_query: %w", err)
	}
}
