package app

import (
	"context"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/web"
)

// pages makes the dashboard.
func (a *App) pages() (*web.Handler, error) {
	return web.New(web.Deps{
		Reader: a.api.Whole(), Operator: a, Historian: a, Publisher: a, Entrance: a.api, Alerter: a, Configuration: a, Levers: a.opt.Levers,
		SiteOf: a.siteOf, Log: a.log, Now: time.Now,
	})
}

// siteOf says to which site a client's questions belong; "" where no DNS server
// of ours answers them.
func (a *App) siteOf(client netip.Addr) (site string, known bool) {
	if s := a.names.get(); s != nil {
		return s.SiteOf(client)
	}
	return "", false
}

// Written gives the files of the configuration in place without their secrets
// ([web.Configuration]).
func (a *App) Written(context.Context) ([]config.Shown, error) { return a.cfg.Load().Shown() }
