package app

import (
	"context"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// viewStep is how many nodes, pools and services are looked at in one turn of the
// loop: what is shown of thousands would hold decisions up for as long as it takes.
const viewStep = 256

// viewTries is how often a view begins anew because of a reload, before the whole is
// taken in one turn.
const viewTries = 3

// viewed gives what the loop knows of everything, and its configuration. Where it
// takes several turns, what happens between them is seen of the later sites alone.
func (a *App) viewed(ctx context.Context) (st api.Status, cfg *config.Config, err error) {
	for try := 1; ; try++ {
		v := view{app: a, whole: try > viewTries}
		for !v.done && err == nil {
			err = a.loop.do(ctx, v.step)
		}
		if err != nil || !v.stale {
			return v.st, v.cfg, err
		}
	}
}

// view is what has been looked at so far.
type view struct {
	app   *App
	whole bool // in one turn
	cfg   *config.Config
	st    api.Status
	sites int // seen; the services are st.Services
	done  bool
	stale bool // another configuration has come between

	pools map[poolName]sites.PoolID
}

// step looks at some more. It is called in the loop's goroutine.
func (v *view) step() {
	m, cfg := v.app.loop.engine.Machine(), v.app.cfg.Load()
	if v.cfg == nil {
		v.cfg, v.pools = cfg, poolsOf(&cfg.Sites)
	}
	if v.cfg != cfg {
		v.done, v.stale = true, true
		return
	}
	room := viewStep
	for ; v.sites < len(cfg.Sites.Sites) && (room > 0 || v.whole); v.sites++ {
		s := &cfg.Sites.Sites[v.sites]
		v.st.Sites = append(v.st.Sites, m.ViewOf(v.sites, v.sites+1)...)
		room -= len(s.Nodes) + len(s.Pools)
	}
	for n := len(v.st.Services); n < len(cfg.Sites.Services) && (room > 0 || v.whole); n++ {
		service := &cfg.Sites.Services[n]
		v.st.Services = append(v.st.Services, serviceView(m, cfg, service, v.pools))
		room -= len(service.Sites)
	}
	if v.sites < len(cfg.Sites.Sites) || len(v.st.Services) < len(cfg.Sites.Services) {
		return
	}
	v.done = true
	v.st.Time, v.st.Isolated = time.Now(), m.Isolated != 0
	switch {
	case m.Mass != 0:
		v.st.Brake = "holds"
	case m.Released:
		v.st.Brake = "released"
	}
}

// serviceView gives what each site's clients get for a service. It is called in the
// loop's goroutine.
func serviceView(m *sites.Machine, cfg *config.Config, service *sites.Service, pools map[poolName]sites.PoolID) api.ServiceView {
	view := api.ServiceView{Hosts: service.Hosts, Pool: service.Pool}
	for _, name := range service.Sites {
		id, ok := pools[poolName{name, service.Pool}]
		if !ok {
			continue
		}
		s := &cfg.Sites.Sites[id.Site]
		answer := m.Answer(id)
		ttl := service.TTL
		if ttl == 0 {
			ttl = s.TTL
		}
		view.Sites = append(view.Sites, api.ServiceAnswerView{
			Site: name, Serves: answer.String(), TTL: int(answer.TTL(ttl, s.TTLUnsettled) / time.Second),
			Addresses: texts(append(slices.Clone(answer.IPv4), answer.IPv6...)),
		})
	}
	return view
}
