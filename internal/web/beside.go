package web

import (
	"fmt"

	"github.com/dnsteer/dnsteer/internal/api"
)

// beside is what the status says of sites apart from themselves: it is gone through
// once, however many sites are shown.
type beside struct {
	resolved map[string]*api.ResolvedView // by site
	ttls     map[place]ttlSpan            // of the services that a pool of a site answers
}

type place struct{ site, pool string }

// ttlSpan is from the least TTL to the greatest, in seconds; zero where there is none.
type ttlSpan struct{ least, most int }

func besides(st *api.Status) *beside {
	b := &beside{make(map[string]*api.ResolvedView, len(st.Resolved)), make(map[place]ttlSpan)}
	for i := range st.Resolved {
		b.resolved[st.Resolved[i].Site] = &st.Resolved[i]
	}
	for i := range st.Services {
		for j := range st.Services[i].Sites {
			x := &st.Services[i].Sites[j]
			at := place{x.Site, st.Services[i].Pool}
			b.ttls[at] = b.ttls[at].with(x.TTL)
		}
	}
	return b
}

func (s ttlSpan) with(ttl int) ttlSpan {
	if s.most == 0 {
		return ttlSpan{ttl, ttl}
	}
	return ttlSpan{min(s.least, ttl), max(s.most, ttl)}
}

func (s ttlSpan) String() string {
	switch {
	case s.most == 0:
		return ""
	case s.least == s.most:
		return fmt.Sprintf("TTL %d s", s.most)
	default:
		return fmt.Sprintf("TTL %d to %d s", s.least, s.most)
	}
}
