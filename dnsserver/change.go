package dnsserver

import (
	"net/netip"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

// Change is another configuration, ready to take the place of the one that is
// served. Its owner gives it the answers that its pools begin with and ends it
// with Commit or Discard. It is not safe for concurrent use.
type Change struct {
	server      *Server
	want        []netip.AddrPort
	snap        *snapshot
	pools       map[poolKey]*pool
	next, added []*listener
	diffs       map[string]*diff // of zones that are transferred, by wire name
}

// Prepare does all of a reload that can fail: it builds the names and opens the
// added addresses, on which nothing is answered yet. For queries nothing changes.
// The next Prepare waits for the end of this one's Change.
func (s *Server) Prepare(cfg *Config) (*Change, error) {
	s.changing.Lock()
	c, err := s.prepare(cfg)
	if err != nil {
		s.changing.Unlock()
	}
	return c, err
}

func (s *Server) prepare(cfg *Config) (*Change, error) {
	c := &Change{server: s, want: cfg.Listen, pools: map[poolKey]*pool{}}
	var err error
	c.snap, err = build(cfg, s.snap.Load(), func(k poolKey) *pool {
		p := c.pools[k]
		if p == nil {
			p = &pool{key: k}
			c.pools[k] = p
		}
		return p
	})
	if err != nil {
		return nil, err
	}
	c.compare()
	s.mu.Lock()
	opened, open := s.net.opened, slices.Clone(s.net.open)
	s.mu.Unlock()
	if opened {
		c.next, c.added, err = s.plan(open, cfg.Listen)
	}
	return c, err
}

// SetAnswer says what a pool gives from the change on. Pools of which nothing is
// said keep the answer that they have, and new ones fail with SERVFAIL. A pool
// that no service names is left out.
func (c *Change) SetAnswer(site, poolName string, a sites.Answer) {
	if p := c.pools[poolKey{site, poolName}]; p != nil {
		p.body.Store(newBody(a))
	}
}

// Commit puts the change in place. A query is answered from the old
// configuration with the old answers or from the new one with the new answers.
// Addresses that are no longer listed are closed.
func (c *Change) Commit() {
	s := c.server
	defer s.changing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := c.inherit()
	c.settle(moved)
	c.count(moved)
	c.remember()
	if old := s.snap.Load(); old != nil {
		for _, z := range old.zones { // for zones that leave and return
			s.stored[zoneKey(z)] = z.serial.Load()
		}
	}
	s.want, s.pools = c.want, c.pools
	s.snap.Store(c.snap)
	s.aheadOf(nil)
	if !s.net.opened {
		stopAll(c.added) // Serve has ended meanwhile
		return
	}
	leave := slices.DeleteFunc(s.net.open, func(l *listener) bool { return slices.Contains(c.next, l) })
	s.net.open = c.next
	if s.net.serving {
		for _, l := range c.added {
			s.start(l)
		}
	}
	stopAll(leave)
}

// Discard gives the change up: the old configuration is served on.
func (c *Change) Discard() {
	defer c.server.changing.Unlock()
	stopAll(c.added)
}

// inherit gives the pools of which nothing was said the answers that they have,
// and gives the zones whose records change with the answers of the others.
func (c *Change) inherit() map[*zone]bool {
	moved := map[*zone]bool{}
	for k, p := range c.pools {
		var old *poolBody
		if before := c.server.pools[k]; before != nil {
			old = before.body.Load()
		}
		body := p.body.Load()
		if body == nil {
			p.body.Store(old)
			continue
		}
		if old == nil || !old.answer.SameRecords(body.answer) {
			for _, z := range c.snap.feeds[p] {
				moved[z] = true
			}
		}
	}
	return moved
}

// count gives the zones serials that follow those that are served.
func (c *Change) count(moved map[*zone]bool) {
	s, old := c.server, c.server.snap.Load()
	for wire, z := range c.snap.zones {
		var before *zone
		if old != nil {
			before = old.zones[wire]
		}
		if before == nil {
			stored, known := s.stored[zoneKey(z)]
			z.serial.Store(firstSerial(z.written, stored, known, z.moving, s.now()))
			continue
		}
		z.serial.Store(nextSerial(before.serial.Load(), z.written, z.digest != before.digest || moved[z]))
	}
}

// Reload takes another configuration, wholly or not at all: after an error the
// old one is served on, unchanged. Pools that stay keep their answer, serials
// grow where records changed. Where the server listens, added addresses are
// opened before and removed ones closed after the change.
func (s *Server) Reload(cfg *Config) error {
	c, err := s.Prepare(cfg)
	if err == nil {
		c.Commit()
	}
	return err
}
