package app

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// How the sites' resolvers are asked for what their clients get: only while
// somebody looks at the status, and then no more often than this.
const (
	seenEvery  = 4 * time.Second
	seenWithin = 2 * time.Second
	seenAtOnce = 16
)

// seen knows what the sites' resolvers last gave for a name of theirs. It decides
// nothing.
type seen struct {
	looked chan struct{} // holds one: somebody looks

	mu   sync.Mutex
	list []api.ResolvedView
}

func newSeen() *seen { return &seen{looked: make(chan struct{}, 1)} }

// views gives what is known and has it looked up anew.
func (s *seen) views() []api.ResolvedView {
	select {
	case s.looked <- struct{}{}:
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// wanted is what a site's resolver should give.
type wanted struct {
	view   api.ResolvedView
	server netip.AddrPort
	v6     bool
	expect []string
}

// see asks the resolvers whenever somebody has looked, until ctx ends.
func (a *App) see(ctx context.Context) {
	for {
		select {
		case <-a.seen.looked:
		case <-ctx.Done():
			return
		}
		list := a.wanted(ctx)
		places := make(chan struct{}, seenAtOnce)
		var all sync.WaitGroup
		for i := range list {
			places <- struct{}{}
			all.Go(func() {
				defer func() { <-places }()
				list[i].ask(ctx)
			})
		}
		all.Wait()
		a.seen.take(list)
		select {
		case <-time.After(seenEvery):
		case <-ctx.Done():
			return
		}
	}
}

// wanted lists the first name of each site that can be seen, and what its clients
// should get for it now.
func (a *App) wanted(ctx context.Context) (list []wanted) {
	st, cfg, err := a.viewed(ctx)
	if err != nil {
		return nil
	}
	services := st.Services
	up := make(map[string]bool) // what is still to be asked
	for i := range st.Sites {
		up[st.Sites[i].Name] = st.Sites[i].Condition != sites.SiteIsDown
	}
	for i := range services {
		for j := range services[i].Sites {
			x := &services[i].Sites[j]
			if !up[x.Site] || len(x.Addresses) == 0 || len(services[i].Hosts) == 0 {
				continue
			}
			resolvers := resolversOf(cfg, x.Site)
			if len(resolvers) == 0 {
				up[x.Site] = false
				continue
			}
			up[x.Site] = false // one name is enough
			w := wanted{server: resolvers[0], expect: x.Addresses, view: api.ResolvedView{Site: x.Site, Resolver: resolvers[0].String(), Name: services[i].Hosts[0]}}
			if rest, wild := strings.CutPrefix(w.view.Name, "*."); wild {
				w.view.Name = "dnsteer-probe." + rest
			}
			w.v6 = !slices.ContainsFunc(x.Addresses, func(s string) bool { return strings.Contains(s, ".") })
			list = append(list, w)
		}
	}
	return list
}

// ask asks one resolver once.
func (w *wanted) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	found, err := askAddresses(ctx, w.server, w.view.Name, w.v6)
	w.view.Asked = time.Now()
	if err != nil {
		w.view.Error = err.Error()
		return
	}
	w.view.Addresses = texts(found)
	strange := func(a string) bool { return !slices.Contains(w.expect, a) }
	if len(found) > 0 && !slices.ContainsFunc(w.view.Addresses, strange) {
		w.view.Verified = w.view.Asked
	}
}

// take keeps what came of a round, and of what could not be verified when it last
// was.
func (s *seen) take(list []wanted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.list
	s.list = make([]api.ResolvedView, 0, len(list))
	for i := range list {
		v := list[i].view
		for j := range old {
			if o := &old[j]; v.Verified.IsZero() && o.Site == v.Site && o.Resolver == v.Resolver {
				v.Verified = o.Verified
			}
		}
		s.list = append(s.list, v)
	}
}
