package publish

import (
	"errors"
	"net/netip"

	"github.com/robfig/cron/v3"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

var (
	a1    = netip.MustParseAddr("192.0.2.10")
	a2    = netip.MustParseAddr("192.0.2.11")
	alien = netip.MustParseAddr("198.51.100.7")
)

// names makes a desired state: each name with one address.
func names(pairs ...any) Desired {
	d := Desired{Nodes: map[string][]netip.Addr{}}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		d.Records = append(d.Records, providers.Record{Name: name, Addr: pairs[i+1].(netip.Addr)})
		d.Nodes[name] = []netip.Addr{a1, a2}
	}
	return d
}

var errDown = errors.New("connection refused")

// every5 is the default of reconcile.
var every5 = mustCron("*/5 * * * *")

func mustCron(s string) sites.Schedule {
	c, err := cron.ParseStandard(s)
	if err != nil {
		panic(err)
	}
	return c
}
