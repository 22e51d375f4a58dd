package config

import (
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// hasty is a failover_after that a router takes to start again.
const hasty = 2 * time.Minute

// failoverAfter resolves on_site_down: after how long the emergency site steps
// in for a site that cannot be seen; 0 for never (N5). What the defaults say
// holds for sites with an emergency site.
func (b *builder) failoverAfter(k *siteKeys) time.Duration {
	const remedy = "or write \"on_site_down: hold\""
	own := k.OnSiteDown
	switch after := first(own, b.file.Defaults.OnSiteDown).V.After; {
	case !after.Set:
		return 0
	case k.Emergency.Set:
		return after.V
	case own.Set && len(b.file.Sites) < 2:
		b.fault(after.At, "failover_after needs another site that steps in, and there is one site: add a site and the key \"emergency_site\", %s", remedy)
	case own.Set:
		b.fault(after.At, "failover_after needs a site that steps in: give site %s the key \"emergency_site\", %s", k.Name.V, remedy)
	}
	return 0
}

// sitesDown refuses a failover_after of the defaults that reaches no site.
func (b *builder) sitesDown() {
	after := b.file.Defaults.OnSiteDown.V.After
	if !after.Set || len(b.file.Sites) == 0 {
		return
	}
	for i := range b.file.Sites {
		if k := &b.file.Sites[i]; k.Emergency.Set {
			return
		}
	}
	b.fault(after.At, "failover_after needs sites that step in, and no site has the key \"emergency_site\": add it, or write \"on_site_down: hold\"")
}

// doubtSiteDown warns of what it means to move a site that cannot be seen.
func (b *builder) doubtSiteDown(k *siteKeys, s *sites.Site) {
	if s.FailoverAfter == 0 {
		return
	}
	at := first(k.OnSiteDown, b.file.Defaults.OnSiteDown).V.After.At
	after := formatDuration(s.FailoverAfter)
	switch {
	case s.NoWitness:
		b.warn(at, "failover_after never acts at site %s: without a witness it is never known to be down", s.Name)
	case !b.cfg.provable(s.Name):
		b.warn(at, "failover_after never acts at site %s: it needs a witness of another site that is not local, to prove that the controller's own line works", s.Name)
	default:
		b.warn(at, "failover_after gives up for site %s that only proven outages move an answer: a line to it that is down for %s moves its clients to %s although its nodes may work", s.Name, after, s.EmergencySite)
		if s.FailoverAfter < hasty {
			b.warn(at, "failover_after %s of site %s is under %s: a router that starts again, or a line that dials in again, may take longer", after, s.Name, formatDuration(hasty))
		}
	}
}

// provable says whether another site could prove that the controller's own
// line works while this one is down (N5).
func (c *Config) provable(site string) bool {
	for i := range c.Sites.Sites {
		if x := &c.Sites.Sites[i]; x.Name != site && !x.Local && !x.NoWitness {
			return true
		}
	}
	return false
}

// lossText says how long the loss of a whole site lasts, where another one ever
// steps in for it; "" elsewhere.
func (c *Config) lossText(s *sites.Site) string {
	if s.FailoverAfter == 0 || s.NoWitness || !c.provable(s.Name) {
		return ""
	}
	slowest := s.Timeout
	for i := range s.Nodes {
		slowest = max(slowest, s.Nodes[i].Timeout)
	}
	// Until the first witness probe that fails, until the site is asked as a
	// whole and its nodes have said nothing, until the machine looks again.
	found := s.Interval + max(s.Threshold, s.Timeout) + slowest
	return fmt.Sprintf("  If nothing of %s can be reached: %s steps in %s at most after that (%s until the site is known to be down, and failover_after %s), if another site answers throughout.\n",
		s.Name, s.EmergencySite, formatDuration(found+s.FailoverAfter), formatDuration(found), formatDuration(s.FailoverAfter))
}
