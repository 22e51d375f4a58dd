package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, more than what helps is offered, such as to force what cannot be
// forced, or to release a brake that does not hold.
func TestOnlyWhatAppliesIsOffered(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	if w := ask(h, auth.Operator, "POST", "/act", "verb=maintenance&site=berlin&node=b"); strings.Contains(w.Body.String(), `name="force"`) {
		t.Error("force is offered where it does not help")
	}
	for _, brake := range []string{"", "holds"} {
		f.status.Brake = brake
		for _, path := range []string{"/", "/sites/berlin"} {
			if got := strings.Contains(ask(h, auth.Operator, "GET", path, "").Body.String(), "verb=release"); got != (brake == "holds") {
				t.Errorf("%s with the brake %q: its release is offered: %v", path, brake, got)
			}
		}
	}
	s, n := &f.status.Sites[0], sites.NodeView{Name: "c", Word: sites.WordUp, Answers: true}
	s.Pools[0].Mode = "active_active"
	verbs := func() (list []sites.Verb) {
		for _, a := range nodeActions(&visit{caller: &api.Caller{}}, s, &n) {
			list = append(list, a.Verb)
		}
		return list
	}
	if diff := cmp.Diff([]sites.Verb{sites.Maintenance, sites.Drill, sites.Disable}, verbs()); diff != "" {
		t.Error("a node that is well:", diff)
	}
	n.Word, n.Ordered = sites.WordDisabled, &sites.Hold{}
	if diff := cmp.Diff([]sites.Verb{sites.Enable}, verbs()); diff != "" {
		t.Error("a disabled node:", diff)
	}
	n.Word, n.Ordered, s.Pools[0].Mode = sites.WordRecovering, nil, "active_passive"
	if diff := cmp.Diff([]sites.Verb{sites.FailbackNow, sites.Maintenance, sites.Switch, sites.Disable}, verbs()); diff != "" {
		t.Error("one that recovers:", diff)
	}
}

// If this fails, a word about a target is given without its preview, or not as it
// was confirmed.
func TestTargetsAreOperated(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	text := ask(h, auth.Admin, "GET", "/targets", "").Body.String()
	for _, want := range []string{"differs", "something else", "10.1.0.99", "is not dnsteer", "never touched", "and 3 more", "verb=adopt&amp;target=router", "verb=purge"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of targets lacks %q", want)
		}
	}
	if text := ask(h, auth.Viewer, "GET", "/targets", "").Body.String(); strings.Contains(text, `class="do"`) {
		t.Error("a viewer sees buttons")
	}
	ask(h, auth.Admin, "GET", "/targets/act?verb=purge&target=router", "")
	if len(f.words) != 1 || f.words[0].Confirmed {
		t.Fatalf("the preview: %+v", f.words)
	}
	w := ask(h, auth.Admin, "POST", "/targets/act", "verb=purge&target=router&reason=moved")
	want := api.TargetRequest{Verb: api.TargetPurge, Target: "router", Confirmed: true, By: "bob", Reason: "moved"}
	if diff := cmp.Diff(want, f.words[len(f.words)-1]); w.Code != http.StatusOK || diff != "" {
		t.Errorf("%d: %s", w.Code, diff)
	}
	if w := ask(h, auth.Admin, "POST", "/targets/act", "verb=enable&target=stubborn"); w.Code != http.StatusConflict {
		t.Errorf("refused: %d", w.Code)
	}
}

// If this fails, what happened at one place in one go is not told as one story, or
// stories run into each other.
func TestIncidents(t *testing.T) {
	at := func(s int) time.Time { return now().Add(time.Duration(s) * time.Second) }
	list := []sites.Event{ // the newest first
		{ID: 9, Time: at(900), Site: "berlin", Node: "b", Kind: sites.NodeOffline, Severity: sites.Warning},
		{ID: 8, Time: at(400), Kind: sites.ConfigReloaded, Severity: sites.Info},
		{ID: 7, Time: at(300), Site: "berlin", Node: "a", Kind: sites.FailoverFailback, Severity: sites.Info, Resolves: 3},
		{ID: 6, Time: at(290), Site: "berlin", Node: "a", Kind: sites.NodeOnline, Severity: sites.Info, Resolves: 2},
		{ID: 5, Time: at(200), Site: "hamburg", Kind: sites.SiteDown, Severity: sites.Critical},
		{ID: 3, Time: at(31), Site: "berlin", Node: "a", Kind: sites.FailoverOutage, Severity: sites.Warning},
		{ID: 2, Time: at(30), Site: "berlin", Node: "a", Kind: sites.NodeOffline, Severity: sites.Warning},
	}
	type story struct {
		About string
		Tone  Tone
		Over  bool
		IDs   []uint64
	}
	var got []story
	for _, g := range incidents(list, &visit{caller: &api.Caller{}}) {
		s := story{About: g.About, Tone: g.Tone, Over: g.Over}
		for i := range g.Events {
			s.IDs = append(s.IDs, g.Events[i].ID)
		}
		got = append(got, s)
	}
	want := []story{
		{"berlin/b", Watch, false, []uint64{9}},
		{"", Calm, true, []uint64{8}},
		{"berlin/a", Calm, true, []uint64{2, 3, 6, 7}},
		{"hamburg", Gone, false, []uint64{5}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// If this fails, a message that is queued on one channel and delivered by another is
// told twice, or what became of it is not told.
func TestMessages(t *testing.T) {
	st, _ := hostile(1).Alerts(t.Context())
	list := messages(st)
	if len(list) != 2 {
		t.Fatalf("%d messages: %+v", len(list), list)
	}
	var got []string
	for _, d := range append(list[1].To, list[0].To...) {
		got = append(got, d.Channel+" "+d.Sign.Word)
	}
	if diff := cmp.Diff([]string{"mail delivered", "phone waits", "mail given up"}, got); diff != "" {
		t.Error(diff)
	}
}

// If this fails, the alarm threshold is drawn where it is not, or squeezes the times
// that the chart is for.
func TestLimitOfTheChart(t *testing.T) {
	for name, c := range map[string]struct {
		most, limit time.Duration
		top         time.Duration
		above       bool
	}{
		"near":  {800 * time.Millisecond, time.Second, 1125 * time.Millisecond, false},
		"far":   {10 * time.Millisecond, 2 * time.Second, 12500 * time.Microsecond, true},
		"none":  {10 * time.Millisecond, 0, 10 * time.Millisecond, false},
		"quiet": {0, 0, 1, false},
	} {
		x := chart{Most: c.most}
		if top := x.scale(c.limit); top != c.top || x.Above != c.above {
			t.Errorf("%s: %s, above %v", name, top, x.Above)
		}
	}
}

// If this fails, the overview of 1,000 nodes is too heavy for a phone at night, or
// sites are missing from it.
func TestOverviewOfManyIsLight(t *testing.T) {
	f := hostile(125)
	text := strings.Repeat("has not answered for 30s (connection refused) ", 4)
	for i := range f.status.Sites {
		s := &f.status.Sites[i]
		s.Name, s.Explain, s.Pools[0].Explain = fmt.Sprintf("site%d", i), text, text
		for j := range s.Nodes {
			s.Nodes[j].Name, s.Nodes[j].Explain = fmt.Sprintf("node%d", j), text
		}
	}
	for i := range f.status.Problems {
		f.status.Problems[i] = text
	}
	body := ask(pagesOf(t, f), auth.Operator, "GET", "/", "").Body.String()
	if n := strings.Count(body, `<article class="card"`); n != maxRows/len(words) {
		t.Errorf("%d cards", n)
	}
	for i := range 125 {
		if !strings.Contains(body, fmt.Sprintf(`/sites/site%d"`, i)) {
			t.Errorf("site%d is nowhere", i)
		}
	}
	if total := weightOfAssets(t) + len(body); total > 150_000 {
		t.Errorf("it weighs %d bytes without a cache, at most 150,000", total)
	}
}

// weightOfAssets is that of all files that a page brings along, as they travel.
func weightOfAssets(t *testing.T) (total int) {
	t.Helper()
	h := pagesOf(t, hostile(1))
	for _, name := range []string{"htmx.min.js", "idiomorph-ext.min.js", "dnsteer.js", "style.css", "icon.svg"} {
		r := httptest.NewRequest(http.MethodGet, "/assets/"+name, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Type"), map[bool]string{true: "css", false: "script"}[name == "style.css"]) && name != "icon.svg" {
			t.Fatalf("%s: %d %v", name, w.Code, w.Header())
		}
		total += w.Body.Len()
	}
	return total
}
