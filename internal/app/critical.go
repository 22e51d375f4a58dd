package app

import (
	"context"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// What to do first about a critical state: one line each of the runbooks.
const (
	doIsolated = "Look at this machine first: its link, address, route, VPN and firewall."
	doBrake    = "Look for what has changed here or everywhere: a firewall, a path in all probes, a certificate, the clock."
	doSite     = "Look at the line first (VPN, provider, router), then ask somebody at the site. In dnsteer there is nothing to do."
	doPool     = "Look at its nodes, and for what they have in common: power, a switch, a backend, a certificate."
	doTaken    = "Put a node back: somebody, or a window, has taken all of them out."
	doHeld     = "Let it move with `dnsteer resume`, or mend the node: clients get one that does not answer."
	doStore    = "Look at the disk of the state folder: whether it is full, read-only or broken."
)

// critical lists the states that last and somebody should do something about at once,
// worst first. last gives when an event of a kind was last told of a pool, or of all.
func critical(cfg *sites.Config, st *api.Status, last func(k sites.Kind, site, pool string) time.Time) (list []api.CriticalView) {
	if st.Brake == "holds" {
		list = append(list, api.CriticalView{Kind: sites.MassFailure, Since: last(sites.MassFailure, "", ""), Text: brakeText, Do: doBrake})
	}
	if st.Isolated {
		list = append(list, api.CriticalView{Kind: sites.ControllerIsolated, Since: last(sites.ControllerIsolated, "", ""), Text: isolatedText, Do: doIsolated})
	}
	for i := range st.Sites {
		s := &st.Sites[i]
		if s.Condition == sites.SiteIsDown && !st.Isolated {
			list = append(list, api.CriticalView{Kind: sites.SiteDown, Site: s.Name, Since: s.Since, Text: s.Explain, Do: doSite})
		}
		for j := range s.Pools {
			c := api.CriticalView{Kind: sites.PoolOutageStarted, Site: s.Name, Pool: s.Pools[j].Name, Since: s.Pools[j].Since, Text: s.Pools[j].Explain, Do: doPool}
			switch p := &s.Pools[j]; {
			case p.Held:
				c.Kind, c.Since, c.Do = sites.MoveHeld, last(sites.MoveHeld, s.Name, s.Pools[j].Name), doHeld
			case p.Serves != "empty" && p.Serves != "last_resort":
				continue
			case allTaken(s, cfg.Sites[i].Pools[j].Nodes):
				c.Do = doTaken
			}
			list = append(list, c)
		}
	}
	if st.Store.Error != "" {
		list = append(list, api.CriticalView{Kind: sites.StoreFailed, Since: last(sites.StoreFailed, "", ""), Text: storeText(st), Do: doStore})
	}
	return list
}

// allTaken says whether orders and windows have taken out all nodes of a pool.
func allTaken(s *sites.SiteView, nodes []int) bool {
	for _, i := range nodes {
		if s.Nodes[i].Ordered == nil {
			return false
		}
	}
	return len(nodes) > 0
}

func storeText(st *api.Status) string { return "The state cannot be stored: " + st.Store.Error }

// recently is how many events of a site are looked through for the last of a pool.
const recently = 100

// last gives when an event of a kind was last told of a pool, or of all; zero where that
// is not known.
func (a *App) last(ctx context.Context) func(k sites.Kind, site, pool string) time.Time {
	return func(k sites.Kind, site, pool string) time.Time {
		list, err := a.Events(ctx, api.EventQuery{Kinds: []sites.Kind{k}, Site: site, Limit: recently})
		if err != nil {
			return time.Time{}
		}
		for i := range list {
			if list[i].Pool == pool {
				return list[i].Time
			}
		}
		return time.Time{}
	}
}
