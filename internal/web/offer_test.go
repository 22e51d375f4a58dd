package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/history"
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
	given := len(f.words)
	if w := ask(h, auth.Admin, "POST", "/targets/act", "verb=disable&target=router&reason="+strings.Repeat("x", maxReason+1)); w.Code != http.StatusUnprocessableEntity || len(f.words) != given || !strings.Contains(w.Body.String(), "longer than") {
		t.Errorf("a reason that would be cut: %d, %d words", w.Code, len(f.words)-given)
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
	for _, name := range []string{"idiomorph.min.js", "dnsteer.js", "style.css", "icon.svg"} {
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

// If this fails, somebody who does not tell red from green takes one state for
// another: each is another shape and another word, and each shape is another drawing.
func TestStatesDifferWithoutColor(t *testing.T) {
	parts, err := fs.ReadFile(files, "templates/parts.html")
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(map[string]string)
	for _, m := range regexp.MustCompile(`<symbol id="s-(\w+)"[^>]*>(.*)</symbol>`).FindAllStringSubmatch(string(parts), -1) {
		for name, drawing := range drawn {
			if drawing == m[2] {
				t.Errorf("%s and %s are the same drawing", name, m[1])
			}
		}
		drawn[m[1]] = m[2]
	}
	var nodes, targets []sign
	for _, w := range words {
		nodes = append(nodes, signOf(w, false))
	}
	nodes = append(nodes, signOf(sites.WordUp, true))
	for _, s := range []api.TargetState{
		api.TargetCurrent, api.TargetPending, api.TargetFailing, api.TargetDenied, api.TargetDisabled, api.TargetHeld, api.TargetDryRun, api.TargetDiffers, api.TargetWaiting,
	} {
		targets = append(targets, targetSign(s))
	}
	seen := make(map[string]bool)
	for _, s := range nodes {
		if seen[s.Shape] {
			t.Errorf("two states of nodes are %q", s.Shape)
		}
		seen[s.Shape] = true
	}
	for name, list := range map[string][]sign{"nodes": nodes, "targets": targets} {
		said := make(map[string]bool)
		tones := make(map[string]Tone)
		for _, s := range list {
			if drawn[s.Shape] == "" {
				t.Errorf("%s: %+v is not drawn", name, s)
			}
			if said[s.Word] {
				t.Errorf("%s: two states are called %q", name, s.Word)
			}
			if tone, ok := tones[s.Shape]; ok && tone != s.Tone {
				t.Errorf("%s: %q differs from another by its colour", name, s.Shape)
			}
			said[s.Word], tones[s.Shape] = true, s.Tone
		}
	}
	height := make(map[[2]int]string)
	for _, p := range merged([]strip{{X: 1, Class: "up"}, {X: 2, Class: "down"}, {X: 3, Class: "unknown"}}) {
		if other := height[[2]int{p.Y, p.Height}]; other != "" {
			t.Errorf("in the strip of a day %s looks like %s", p.Class, other)
		}
		height[[2]int{p.Y, p.Height}] = p.Class
	}
}

// If this fails, who is woken does not see what else is in trouble without unfolding
// it, or is not told that somebody serves.
func TestStatusLine(t *testing.T) {
	addr := netip.MustParseAddr("10.1.0.12")
	site := func(name string, condition sites.Condition, nodes ...sites.NodeView) sites.SiteView {
		return sites.SiteView{Name: name, Condition: condition, Nodes: nodes, Pools: []sites.PoolView{{Name: sites.DefaultPool, Serves: "own", IPv4: []netip.Addr{addr}}}}
	}
	out := sites.NodeView{Name: "a", Word: sites.WordOut, Explain: "berlin/a is out"}
	failing := sites.NodeView{Name: "b", Word: sites.WordFailing, Explain: "munich/b fails"}
	h := &Handler{}
	got := h.summarise(&api.Status{Problems: []string{"berlin/a is out"}, Sites: []sites.SiteView{site("berlin", sites.SiteIsUp, out)}})
	if want := "berlin/a is out. Meanwhile berlin answers 10.1.0.12. Nothing has to be done at once."; got.Text != want || got.Also != nil {
		t.Errorf("%+v", got)
	}
	got = h.summarise(&api.Status{Problems: []string{"hamburg cannot be seen", "berlin/a is out", "munich/b fails"}, Sites: []sites.SiteView{
		site("berlin", sites.SiteIsUp, out), site("hamburg", sites.SiteIsDown, out), site("munich", sites.SiteIsUp, failing),
	}})
	if got := h.summarise(&api.Status{Problems: []string{"berlin/a is out", "more"}, Sites: []sites.SiteView{site("berlin", sites.SiteIsUp, out)}}); got.Text != "berlin/a is out. Meanwhile berlin answers 10.1.0.12." {
		t.Errorf("%+v", got)
	}
	if s := signOf(sites.WordOut, true); s.Shape != "out" || s.Word != "out, not seen" {
		t.Errorf("a node that was out before its site vanished is shown as %+v", s)
	}
	want := []also{{"berlin", "a", signOf(sites.WordOut, false)}, {"munich", "b", signOf(sites.WordFailing, false)}}
	if diff := cmp.Diff(want, got.Also); got.Text != "hamburg cannot be seen." || got.More != 2 || diff != "" {
		t.Errorf("%+v %s", got, diff)
	}
	down := api.Status{
		Problems: []string{"hamburg cannot be seen", "berlin/a is out"}, Sites: []sites.SiteView{site("hamburg", sites.SiteIsDown), site("berlin", sites.SiteIsUp, out)},
		Critical: []api.CriticalView{{Kind: sites.SiteDown, Site: "hamburg", Text: "hamburg cannot be seen", Do: "Look at the line."}},
	}
	if got := h.summarise(&down); got.Tone != Gone || got.Critical == nil || got.Critical.Site != "hamburg" {
		t.Errorf("a critical state is shown as %+v", got)
	}
	many := site("berlin", sites.SiteIsUp)
	for range maxAlso + 3 {
		many.Nodes = append(many.Nodes, failing)
	}
	if got := h.summarise(&api.Status{Problems: []string{"x", "y"}, Sites: []sites.SiteView{many}}); len(got.Also) != maxAlso || got.Others != 3 {
		t.Errorf("%+v", got)
	}
}

// If this fails, the chart of a node that has just been added is an empty box.
func TestOnePointIsDrawn(t *testing.T) {
	l := history.Line{Probes: []history.Probe{{Points: []history.Point{{Time: now().Add(-12 * time.Hour), Up: 1, Mean: time.Second, Most: time.Second}}}}}
	if got := course(l, 0, now()).Chart.Points; got != "144,0 144.9,0" {
		t.Errorf("%q", got)
	}
}
