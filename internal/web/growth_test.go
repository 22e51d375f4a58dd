package web

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
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

// crowded is a controller with one site of so many nodes.
type crowded struct{ *fake }

func (c crowded) Explain(context.Context, string) (x api.Explanation, err error) {
	for range c.status.Sites[0].Nodes {
		x.Sentences = append(x.Sentences, sentenceOf("berlin/node"))
	}
	return x, nil
}

// If this fails, the page of a site with 1,000 nodes, which comes anew every two seconds
// while somebody looks at it, weighs a megabyte and takes the processor from what decides;
// or a node is nowhere on it, or one in trouble is no more than a name.
func TestPageOfALargeSiteIsLight(t *testing.T) {
	for _, failing := range []int{0, 5, 1000} {
		f := &fake{}
		s := sites.SiteView{Name: "berlin", Condition: sites.SiteIsUp, Pools: []sites.PoolView{{Name: sites.DefaultPool, Serves: "own"}}}
		for i := range 1000 {
			n := sites.NodeView{Name: fmt.Sprintf("node-%d.", i), Word: sites.WordUp, Explain: sentenceOf("berlin/node"), Since: now().Add(-time.Hour)}
			if i%(1000/max(failing, 1)) == 0 && failing > 0 {
				n.Word = sites.WordFailing
				f.status.Problems = append(f.status.Problems, n.Explain)
			}
			s.Pools[0].IPv4 = append(s.Pools[0].IPv4, netip.AddrFrom4([4]byte{10, 1, byte(i / 250), byte(i%250 + 1)}))
			s.Nodes = append(s.Nodes, n)
		}
		f.status.Sites = []sites.SiteView{s}
		h := pagesOf(t, f)
		h.Reader = crowded{f}
		for _, path := range []string{"/", "/sites/berlin", "/act?verb=maintenance&site=berlin&node=node-7."} {
			if n := strings.Count(ask(h, auth.Operator, http.MethodGet, path, "").Body.String(), "10.1."); path == "/" && n > 0 || n > maxListed {
				t.Errorf("%d failing: %s has %d addresses, and nobody reads so many", failing, path, n)
			}
		}
		body := ask(h, auth.Operator, http.MethodGet, "/sites/berlin", "").Body.String()
		if total := weightOfAssets(t) + len(body); total > 150_000 {
			t.Errorf("%d failing: it weighs %d bytes without a cache, at most 150,000", failing, total)
		}
		for i := range 1000 {
			if !strings.Contains(body, fmt.Sprintf(`/sites/berlin/node-%d."`, i)) {
				t.Fatalf("%d failing: node %d is nowhere", failing, i)
			}
		}
		if n := strings.Count(body, `id="node-berlin-`); n != min(failing, maxRows) {
			t.Errorf("%d failing: %d are shown whole", failing, n)
		}
	}
}

// If this fails, the page of services of a large configuration is too heavy to be read, or
// what it leaves out is left out without a word.
func TestPageOfManyServicesIsLight(t *testing.T) {
	for _, tt := range []struct {
		services, hosts, sites, nodes int
		want                          []string
	}{
		{1, 10_000, 10, 2, []string{"and 9950 more<"}},
		{1, 1, 1000, 2, []string{"and 601 more sites"}},
		{1, 1, maxAnswers, 2, []string{"and 1 more site<"}},
		{1000, 2, 10, 2, []string{"and 964 more services"}},
		{maxAnswers/2 + 1, 2, 1, 2, []string{"and 1 more service."}},
		{1000, 1, 0, 2, []string{"and 600 more services"}},
		{100, 1, 1, 1000, []string{"and 984 more<"}},
		{2, 2, 2, 2, nil},
	} {
		f := &fake{}
		for i := range tt.services {
			v := api.ServiceView{Pool: sites.DefaultPool}
			for j := range tt.hosts {
				v.Hosts = append(v.Hosts, fmt.Sprintf("name-%d.service-%d.example.lan", j, i))
			}
			for j := range tt.sites {
				v.Sites = append(v.Sites, api.ServiceAnswerView{Site: fmt.Sprintf("site-%d", j), Addresses: slices.Repeat([]string{"10.1.0.11"}, tt.nodes), TTL: 10, Serves: "own"})
			}
			f.status.Services = append(f.status.Services, v)
		}
		body := ask(pagesOf(t, f), auth.Viewer, http.MethodGet, "/services", "").Body.String()
		if total := weightOfAssets(t) + len(body); total > 150_000 {
			t.Errorf("%+v: it weighs %d bytes without a cache", tt, total)
		}
		for _, want := range tt.want {
			if !strings.Contains(body, want) {
				t.Errorf("%+v: it lacks %q", tt, want)
			}
		}
		if tt.want == nil && strings.Contains(body, "more") {
			t.Errorf("%+v: something is left out", tt)
		}
	}
}

// pushed is a controller with one target.
type pushed struct {
	*fake
	target api.TargetView
}

func (p pushed) Targets(context.Context) ([]api.TargetView, error) {
	return []api.TargetView{p.target}, nil
}

// If this fails, the page of a target with many records is too heavy to be read, or what
// somebody should look at is behind what is well.
func TestPageOfManyRecordsIsLight(t *testing.T) {
	for _, wrong := range []int{0, 1, 300} {
		p := pushed{fake: &fake{}, target: api.TargetView{Name: "router", Server: "10.1.0.1:8729", Kind: "routeros", Site: "berlin", State: api.TargetCurrent}}
		for i := range 1000 {
			r := api.TargetRecord{Name: fmt.Sprintf("name-%d.example.lan", i), Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}}
			if i >= 1000-wrong {
				r.Actual = []string{"10.9.9.9"}
			}
			p.target.Records = append(p.target.Records, r)
		}
		h := pagesOf(t, p.fake)
		h.Publisher = p
		body := ask(h, auth.Admin, http.MethodGet, "/targets", "").Body.String()
		if total := weightOfAssets(t) + len(body); total > 150_000 {
			t.Errorf("%d wrong: it weighs %d bytes without a cache", wrong, total)
		}
		left := "and 900 more records of dnsteer's"
		if wrong == 300 {
			left += ", 200 of them not as they should be"
		}
		if !strings.Contains(strings.ReplaceAll(body, "&#39;", "'"), left+"<") || strings.Count(body, `<tr class="differs">`) != min(wrong, maxRecords) {
			t.Errorf("%d wrong: %d are shown, and it lacks %q", wrong, strings.Count(body, `<tr class="differs">`), left)
		}
	}
}
