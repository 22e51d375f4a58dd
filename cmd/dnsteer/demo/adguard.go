package demo

import (
	"fmt"
	"net/netip"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
)

// adguardName is what the demo's configuration calls the AdGuard Home.
const adguardName = "adguard-leipzig"

// adguard is the resolver of a site and what its answers are pushed to, with a
// rewrite of somebody else's.
type adguard struct {
	site *place
	dns  netip.AddrPort
	sim  *adguardsim.Server
}

func newAdguard(p *place) *adguard {
	p.upstream = nil
	return &adguard{site: p, dns: p.resolver}
}

func (a *adguard) open() error {
	sim, err := adguardsim.Start(adguardsim.Options{
		Username: deviceUser, Password: devicePassword,
		HTTP: netip.AddrPortFrom(a.dns.Addr(), 0).String(), DNS: a.dns.String(), Lost: a.site.lost,
	})
	if err != nil {
		return fmt.Errorf("start the AdGuard Home of %s: %w", a.site.name, takenError(err))
	}
	a.sim = sim
	err = sim.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		return append(list, adguardsim.Rewrite{Domain: "printer.example.lan", Answer: "127.4.0.9", Enabled: true})
	})
	if err != nil {
		return fmt.Errorf("fill the AdGuard Home of %s: %w", a.site.name, err)
	}
	return nil
}

func (a *adguard) close() {
	if a.sim != nil {
		_ = a.sim.Close() // it ends with the demo
		a.sim = nil
	}
}

// config is the target in the demo's configuration.
func (a *adguard) config() string {
	return fmt.Sprintf("  - {name: %s, type: adguard, servers: [%q], username: %s, password: %s, reconcile: \"* * * * *\"}\n",
		adguardName, a.sim.URL(), deviceUser, devicePassword)
}
