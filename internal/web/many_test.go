package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// fleet is a controller with many targets.
type fleet struct {
	*fake
	list []api.TargetView
}

func (f fleet) Targets(context.Context) ([]api.TargetView, error) { return f.list, nil }

// fleetOf makes so many routers, each with so many records of ours, of others, and of others
// that stand in our way.
func fleetOf(routers, ours, others, inTheWay int) fleet {
	f := fleet{fake: &fake{}}
	for i := range routers {
		t := api.TargetView{
			Name: fmt.Sprintf("router-%d.", i), Server: fmt.Sprintf("10.%d.%d.1:8729", i/250, i%250), Kind: "routeros", Site: fmt.Sprintf("site-%d", i), State: api.TargetCurrent, Strangers: others,
		}
		for j := range ours {
			t.Records = append(t.Records, api.TargetRecord{Name: fmt.Sprintf("name-%d.example.lan", j), Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}})
		}
		for j := range others {
			t.Foreign = append(t.Foreign, api.TargetForeign{Name: fmt.Sprintf("printer-%d.example.lan", j), Type: "A", Address: "10.1.0.200"})
		}
		for j := range inTheWay {
			t.NoFailover = append(t.NoFailover, api.TargetConflict{Name: fmt.Sprintf("name-%d.example.lan", j), Type: "A", Text: sentenceOf("it")})
		}
		f.list = append(f.list, t)
	}
	return f
}

// If this fails, the page of targets where each of many sites has a router weighs megabytes,
// anew every two seconds; or one of them is nowhere, or one in trouble is no more than a name.
func TestPageOfManyTargetsIsLight(t *testing.T) {
	for _, f := range []fleet{fleetOf(300, 10, 20, 0), fleetOf(24, 100, 200, 0), fleetOf(1, 100, 200, 1000), fleetOf(300, 1, 0, 1)} {
		last := &f.list[len(f.list)-1]
		last.State, last.Error = api.TargetFailing, "connection refused"
		f.list[len(f.list)/2].Findings = []api.TargetFinding{{Severity: sites.Critical, Text: sentenceOf("it")}}
		h := pagesOf(t, f.fake)
		h.Publisher = f
		body := ask(h, auth.Admin, http.MethodGet, "/targets", "").Body.String()
		what := fmt.Sprintf("%d targets of %d records", len(f.list), len(last.Records))
		if total := weightOfAssets(t) + len(body); total > 150_000 {
			t.Errorf("%s: it weighs %d bytes without a cache", what, total)
		}
		for i := range f.list {
			if !strings.Contains(body, ">"+f.list[i].Name+"<") {
				t.Fatalf("%s: %s is nowhere", what, f.list[i].Name)
			}
		}
		for _, i := range []int{len(f.list) / 2, len(f.list) - 1} {
			if !strings.Contains(body, `id="target-`+f.list[i].Name) {
				t.Errorf("%s: %s is in trouble and a line", what, f.list[i].Name)
			}
		}
	}
}

// If this fails, what can be done about a target, and what it holds, is to be had of the
// first few alone.
func TestPageOfOneTargetOfMany(t *testing.T) {
	f := fleetOf(300, 1, 0, 0)
	h := pagesOf(t, f.fake)
	h.Publisher = f
	if body := ask(h, auth.Admin, http.MethodGet, "/targets", "").Body.String(); strings.Contains(body, "target=router-200.") == strings.Contains(body, "target-router-200.") {
		t.Error("router-200 is neither shown nor led to, or both")
	}
	if body := ask(h, auth.Admin, http.MethodGet, "/targets", "").Body.String(); !strings.Contains(body, "All targets") || strings.Contains(body, "No targets are configured") {
		t.Error("the lines of all have no head, or it says that there are none")
	}
	body := ask(h, auth.Admin, http.MethodGet, "/targets?target=router-200.", "").Body.String()
	if !strings.Contains(body, "verb=disable&amp;target=router-200.") || !strings.Contains(body, "name-0.example.lan") || strings.Contains(body, "router-199.") {
		t.Error(body[strings.Index(body, "<main"):])
	}
	if w := ask(h, auth.Admin, http.MethodGet, "/targets?target=nothing", ""); w.Code != http.StatusNotFound {
		t.Errorf("one that is not there: %d", w.Code)
	}
}

// If this fails, a target whose records have no place on the page is said to hold nothing.
func TestATargetWithoutAPlaceIsNotEmpty(t *testing.T) {
	f := fleetOf(10, 100, 0, 0)
	h := pagesOf(t, f.fake)
	h.Publisher = f
	body := ask(h, auth.Viewer, http.MethodGet, "/targets", "").Body.String()
	if strings.Contains(body, "holds nothing") || !strings.Contains(body, "100 more records of") {
		t.Error("records for which there is no place are left out without a word")
	}
	if n := strings.Count(body, "More of router-"); n != 9 { // the first has all of its own
		t.Errorf("%d lead to a page with more", n)
	}
	body = ask(h, auth.Viewer, http.MethodGet, "/targets?target=router-9.", "").Body.String()
	if strings.Count(body, `class="value"`) != 2*100 || strings.Contains(body, "More of") {
		t.Errorf("the page of one has %d values", strings.Count(body, `class="value"`))
	}
}

// alarmed is a controller that has told of much which lasts.
type alarmed struct {
	*fake
	open int
}

func (a alarmed) Alerts(context.Context) (*alert.Status, error) {
	st := &alert.Status{Channels: []alert.ChannelStatus{{Name: "mail", Type: "smtp"}}}
	for i := range a.open {
		st.Open = append(st.Open, alert.Incident{Thread: fmt.Sprint(i), Subject: sentenceOf("berlin/node"), To: []string{"mail"}, Since: now(), LastSent: now(), Sent: 1})
	}
	return st, nil
}

// If this fails, the page of alerts is too heavy to be read when much fails at once.
func TestPageOfManyAlertsIsLight(t *testing.T) {
	for open, want := range map[int]string{maxOpen: "", maxOpen + 1: "and 1 more<", 1000: "and 900 more<"} {
		h := pagesOf(t, &fake{})
		h.Alerter = alarmed{&fake{}, open}
		body := ask(h, auth.Viewer, http.MethodGet, "/alerts", "").Body.String()
		if total := weightOfAssets(t) + len(body); total > 150_000 || !strings.Contains(body, want) || want == "" && strings.Contains(body, "more<") {
			t.Errorf("%d that last: it weighs %d bytes without a cache, or lacks %q", open, total, want)
		}
	}
}
