package app

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Stand is what a simulation puts in the place of the machine and the network.
// Everything between is the real controller. It opens no socket. Fields that are
// nil or 0 are the real thing; the functions are called by many goroutines.
type Stand struct {
	// Clock gives the time by both clocks (O5, O6).
	Clock func() sites.Instant
	// Probers gives what asks a subject, one in the place of each that is
	// configured.
	Probers func(s sites.Subject, configured []probes.Prober) []probes.Prober
	// Ask asks a DNS server for the addresses of a name.
	Ask func(ctx context.Context, server netip.AddrPort, name string, v6 bool) ([]netip.Addr, error)
	// Target may change a target before it is taken into use: its servers.
	Target func(*publish.Target)
	// Jitter is that of [publish.Deps].
	Jitter func() float64
	// Sender sends by an alert channel.
	Sender func(channel string) alert.Sender
	// Commit stands between the writer and the store.
	Commit func(b store.Batch, commit func(store.Batch) error) error
	// Turned is called in the loop's goroutine when a turn was carried out.
	Turned func(a *App, now sites.Instant, t engine.Turn)
	// Pace is how often the loop turns at least, and WatchEvery how often the
	// configuration's files are looked at.
	Pace, WatchEvery time.Duration
}

// On gives the options of a controller on the stand.
func (s *Stand) On(opt Options) Options {
	opt.stand, opt.disk, opt.provider, opt.watchEvery = s, s.Commit, s.Target, s.WatchEvery
	return opt
}

// Published gives the addresses that clients of a site get for a host from the
// built-in server. It is for the loop's goroutine and for simulations.
func (a *App) Published(site, host string) []netip.Addr {
	server := a.names.get()
	if server == nil {
		return nil
	}
	return slices.Concat(server.Lookup(site, host, dns.TypeA).Addresses, server.Lookup(site, host, dns.TypeAAAA).Addresses)
}

// Machine gives the rules' part, to be read in the loop's goroutine.
func (a *App) Machine() *sites.Machine { return a.loop.engine.Machine() }

// boot gives the clock that counts sleep.
func (s *Stand) boot() func() time.Duration {
	if s == nil || s.Clock == nil {
		return clock.Boot
	}
	return func() time.Duration { return s.Clock().Boot }
}

// probers gives what asks a subject.
func (s *Stand) probers(subject sites.Subject, configured []probes.Prober) []probes.Prober {
	if s == nil || s.Probers == nil {
		return configured
	}
	return s.Probers(subject, configured)
}

// asked gives what asks a DNS server for addresses, and the publisher's jitter.
func (s *Stand) asked() (ask func(context.Context, netip.AddrPort, string, bool) ([]netip.Addr, error), jitter func() float64) {
	if s == nil {
		return askAddresses, nil
	}
	return s.Ask, s.Jitter
}

// seal puts the stand around the loop.
func (s *Stand) seal(a *App) {
	if s == nil {
		return
	}
	if s.Turned != nil {
		a.loop.turned = func(now sites.Instant, t engine.Turn) { s.Turned(a, now, t) }
	}
	if s.Pace > 0 {
		a.loop.pace = s.Pace
	}
}

// alertsOf gives the alerts of a configuration, by the stand's channels where
// there is one.
func (a *App) alertsOf(cfg *config.Config) *alert.Config {
	if a.opt.stand == nil || a.opt.stand.Sender == nil {
		return cfg.Alerts
	}
	alerts := *cfg.Alerts
	alerts.Channels = slices.Clone(alerts.Channels)
	for i := range alerts.Channels {
		alerts.Channels[i].Sender = a.opt.stand.Sender(alerts.Channels[i].Name)
	}
	return &alerts
}
