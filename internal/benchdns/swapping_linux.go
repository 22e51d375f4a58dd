package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/sites"
)

// serveFlag lets this program be a server itself, whose answers are swapped while
// SIGUSR1 says so.
const serveFlag = "-serve-swapping"

// serveSwapping serves the zone until ctx ends, the steered names from a pool.
func serveSwapping(ctx context.Context, listen string) error {
	addr, err := netip.ParseAddrPort(listen)
	if err != nil {
		return fmt.Errorf("%s: %w", serveFlag, err)
	}
	cfg := &dnsserver.Config{
		Listen: []netip.AddrPort{addr}, DefaultSite: "here",
		Zones: []dnsserver.Zone{{Name: zoneName}},
		Services: []dnsserver.Service{{
			Pool:  "default",
			Sites: []dnsserver.ServiceSite{{Site: "here", TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second}},
		}},
	}
	p := dns.NewZoneParser(strings.NewReader(zoneText(false)), "", "")
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, rr)
	}
	if err := p.Err(); err != nil {
		return err
	}
	for i := range steered {
		cfg.Services[0].Hosts = append(cfg.Services[0].Hosts, fmt.Sprintf("f%d.%s", i, zoneName))
	}
	s, err := dnsserver.New(cfg, dnsserver.Options{})
	if err != nil {
		return err
	}
	swap := func(n int) {
		s.SetAnswer("here", "default", sites.Answer{IPv4: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + n%2)})}})
	}
	swap(0)
	toggle := make(chan os.Signal, 1)
	signal.Notify(toggle, syscall.SIGUSR1)
	go func() {
		t := time.NewTicker(swapsApart)
		defer t.Stop()
		on := false
		for n := 1; ; {
			select {
			case <-ctx.Done():
				return
			case <-toggle:
				on = !on
			case <-t.C:
				if on {
					swap(n)
					n++
				}
			}
		}
	}()
	return s.Serve(ctx)
}
