package web

import (
	"fmt"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

// If this fails, the overview of many sites takes far more than twice as long as that of
// half as many.
func TestOverviewGrowsWithItsSize(t *testing.T) {
	cost := func(places int) float64 {
		f := hostile(places)
		for i := range f.status.Sites {
			s := &f.status.Sites[i]
			s.Name = fmt.Sprintf("site%d", i)
			f.status.Services = append(f.status.Services, api.ServiceView{
				Hosts: []string{s.Name}, Pool: s.Pools[0].Name, Sites: []api.ServiceAnswerView{{Site: s.Name, TTL: 30}},
			})
			f.status.Resolved = append(f.status.Resolved, api.ResolvedView{Site: s.Name})
		}
		h := pagesOf(t, f)
		return testing.AllocsPerRun(1, func() { ask(h, auth.Operator, "GET", "/", "") })
	}
	if few, many := cost(50), cost(400); many > 10*few {
		t.Errorf("%v allocations with 50 sites, %v with 400", few, many)
	}
}

// If this fails, the overview says of a pool how long the answers of another may be kept,
// or of a site what the resolver of another gives.
func TestBesides(t *testing.T) {
	at := func(site string, ttl int) api.ServiceAnswerView { return api.ServiceAnswerView{Site: site, TTL: ttl} }
	b := besides(&api.Status{
		Services: []api.ServiceView{
			{Pool: "web", Sites: []api.ServiceAnswerView{at("berlin", 30), at("hamburg", 5)}},
			{Pool: "web", Sites: []api.ServiceAnswerView{at("berlin", 10)}},
			{Pool: "mail", Sites: []api.ServiceAnswerView{at("berlin", 60)}},
		},
		Resolved: []api.ResolvedView{{Site: "hamburg"}},
	})
	for at, want := range map[place]string{
		{"berlin", "web"}: "TTL 10 to 30 s", {"hamburg", "web"}: "TTL 5 s", {"berlin", "mail"}: "TTL 60 s", {"hamburg", "mail"}: "",
	} {
		if got := b.ttls[at].String(); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
	if b.resolved["berlin"] != nil || b.resolved["hamburg"] == nil {
		t.Error("what a resolver gives is another's")
	}
}
