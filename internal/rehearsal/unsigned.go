package rehearsal

import (
	"slices"

	"github.com/dnsteer/dnsteer/dnsserver"
)

// unsigned gives the zones without signing: what is looked up is the same, and the
// controller's keys are not a rehearsal's.
func unsigned(cfg *dnsserver.Config) *dnsserver.Config {
	c := *cfg
	c.Zones = slices.Clone(cfg.Zones)
	for i := range c.Zones {
		c.Zones[i].DNSSEC = nil
	}
	return &c
}
