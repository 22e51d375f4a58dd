package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// If this fails, a page cannot be made in some state, or a name, a reason or the
// text of an event runs as a script in the browser of who looks.
func TestPagesOfHostileTexts(t *testing.T) {
	paths := []string{
		"/", "/sites/berlin", "/sites/berlin/a", "/services?client=10.1.0.9&name=x", "/services?client=" + url.QueryEscape(canary) + "&name=x", "/targets",
		"/events", "/configuration", "/login?to=" + url.QueryEscape(canary), "/act?verb=maintenance&site=berlin&node=a&reason=" + url.QueryEscape(canary), "/alerts", "/targets/act?verb=adopt&target=router&reason=" + url.QueryEscape(canary),
		"/targets/act?verb=purge&target=stubborn", "/targets/certificates?target=router", "/act?verb=drill&site=berlin&node=a", "/none" + url.PathEscape(canary),
	}
	for name, f := range map[string]*fake{"rich": hostile(3), "huge": hostile(125)} {
		for _, path := range paths {
			w := ask(pagesOf(t, f), auth.Admin, "GET", path, "")
			if w.Code != http.StatusOK && !strings.HasPrefix(path, "/none") {
				t.Errorf("%s %s: %d %s", name, path, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "<script>alert") {
				t.Errorf("%s %s: the text is taken for a script", name, path)
			}
		}
	}
	for _, path := range []string{"/", "/services", "/targets", "/alerts", "/events", "/configuration"} {
		if w := ask(pagesOf(t, &fake{}), auth.Viewer, "GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("without sites: %s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(pagesOf(t, hostile(1)), auth.Operator, "POST", "/probe/berlin/a", ""); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>alert") {
		t.Errorf("probe now: %d %s", w.Code, w.Body)
	}
}

// If this fails, somebody acts who may only look, or who has not logged in reads.
func TestRolesOfPages(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	form := "verb=maintenance&site=berlin&node=a&force=yes"
	for _, path := range []string{"/act", "/probe/berlin/a", "/targets/act", "/alerts/test/mail", "/configuration"} {
		if w := ask(h, auth.Viewer, "POST", path, form); w.Code != http.StatusForbidden {
			t.Errorf("a viewer at %s: %d", path, w.Code)
		}
	}
	if w := ask(h, auth.Viewer, "GET", "/sites/berlin/a", ""); strings.Contains(w.Body.String(), `class="do"`) {
		t.Error("a viewer sees buttons")
	}
	if w := ask(h, auth.Nobody, "GET", "/events?site=x", ""); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?to=%2Fevents%3Fsite%3Dx" {
		t.Errorf("nobody: %d %v", w.Code, w.Header())
	}
	if w := ask(h, auth.Operator, "POST", "/targets/act", "verb=purge&target=router"); w.Code != http.StatusForbidden {
		t.Errorf("an operator purges: %d", w.Code)
	}
	if len(f.commands)+len(f.words) != 0 {
		t.Fatalf("commands were given: %+v %+v", f.commands, f.words)
	}
	if w := ask(h, auth.Operator, "POST", "/act", "verb=maintenance&site=berlin&node=a"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `name="force"`) {
		t.Errorf("refused without its way out: %d", w.Code)
	}
	if w := ask(h, auth.Operator, "POST", "/act", form+"&for=2h"); w.Code != http.StatusOK || f.commands[1].By != "bob" || f.commands[1].For != 2*time.Hour {
		t.Errorf("%d %+v", w.Code, f.commands)
	}
}

// If this fails, a link to our login leads to somebody else's page, or an export
// runs as a formula in a spreadsheet.
func TestNothingLeadsElsewhere(t *testing.T) {
	h := pagesOf(t, hostile(1))
	for _, to := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "/\t/evil.example", "/\n/evil.example", "/\x01", "evil", ""} {
		if w := ask(h, auth.Nobody, "POST", "/login", url.Values{"to": {to}}.Encode()); w.Header().Get("Location") != "/" {
			t.Errorf("%q leads to %q", to, w.Header().Get("Location"))
		}
	}
	text := ask(h, auth.Viewer, "GET", "/events.csv", "").Body.String()
	for _, sign := range []string{"=", "+", "@"} {
		if !strings.Contains(text, "'"+sign+"<script>") {
			t.Errorf("%q begins a cell: %s", sign, text)
		}
	}
}

// If this fails, a script of others is not the one that its package has, or a page
// is too heavy for a phone at night.
func TestAssetsAndWeight(t *testing.T) {
	for name, want := range map[string]string{
		"idiomorph.min.js": "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96", // idiomorph 0.8.0
		"dnsteer.js":       "", "style.css": "", "icon.svg": "",
	} {
		data, err := fs.ReadFile(files, "assets/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); want != "" && hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another than its package's", name)
		}
	}
	page := ask(pagesOf(t, hostile(3)), auth.Operator, "GET", "/", "").Body.Len()
	if total := weightOfAssets(t) + page; total > 150_000 {
		t.Errorf("the first page weighs %d bytes without a cache, at most 150,000", total)
	}
}

// If this fails, a browser keeps the scripts of one version by the URL of another for a
// year, so that after an upgrade that was taken back the page and its scripts do not fit;
// or anybody is shown what files there are.
func TestAssetsAreKeptByTheirOwnURL(t *testing.T) {
	h := pagesOf(t, &fake{})
	for path, want := range map[string]struct {
		status int
		kept   bool
	}{
		h.paths["dnsteer.js"]:     {http.StatusOK, true},
		h.paths["icon.svg"]:       {http.StatusOK, true},
		"/assets/dnsteer.js?v=1":  {http.StatusOK, false},
		"/assets/dnsteer.js":      {http.StatusOK, false},
		"/assets/nothing.js?v=1":  {http.StatusNotFound, false},
		"/assets/":                {http.StatusNotFound, false},
		"/assets":                 {http.StatusNotFound, false},
		"/assets/..%2ftemplates/": {http.StatusNotFound, false},
	} {
		w := ask(h, auth.Nobody, http.MethodGet, path, "")
		if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); w.Code != want.status || kept != want.kept {
			t.Errorf("%s: %d, kept %v, want %+v", path, w.Code, kept, want)
		}
	}
}

// The times of terminals become the reader's: one without a date is the nearest.
func TestProse(t *testing.T) {
	list := prose("out since 23:59:50 UTC, back at 2026-03-01 00:01:00 UTC", now())
	if len(list) != 5 || !list[1].At.Equal(now().Add(-20*time.Second)) || !list[3].At.Equal(now().Add(50*time.Second)) || list[4].Text != "." {
		t.Errorf("%+v", list)
	}
}

// If this fails, times in the sentences of a controller that is not set to UTC stand in
// its zone among times in the reader's, or are taken for others.
func TestProseOfAnotherZone(t *testing.T) {
	for _, tt := range []struct {
		zone *time.Location
		word string
		want string // "" for a word that stays as it is
	}{
		{time.FixedZone("CET", 3600), "01:00:05 CET", "2026-03-01T00:00:05Z"},
		{time.FixedZone("CET", 3600), "00:59:50 CET", "2026-02-28T23:59:50Z"},
		{time.FixedZone("CET", 3600), "2026-02-27 00:30:00 CET", "2026-02-26T23:30:00Z"},
		{time.FixedZone("CET", 3600), "23:59:50 UTC", "2026-02-28T23:59:50Z"},
		{time.FixedZone("-03", -3*3600), "20:59:50 -03", "2026-02-28T23:59:50Z"},
		{time.FixedZone("+0545", 5*3600+45*60), "05:45:00 +0545", "2026-03-01T00:00:00Z"},
		{time.UTC, "00:00:01 UTC", "2026-03-01T00:00:01Z"},
		{time.UTC, "2026-02-27 00:30:00 CET", ""},
		{time.UTC, "00:30:00 CET", ""},
	} {
		list := proseOf("out since "+tt.word+" (refused)", now(), tt.zone)
		got := ""
		if len(list) == 3 {
			got = list[1].At.Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%s at %s: %q, want %q", tt.word, tt.zone, got, tt.want)
		}
	}
}

// If this fails, a response time says nothing, such as 0.0 ms.
func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "", time.Microsecond: "< 0.1 ms", 1260 * time.Microsecond: "1.3 ms", 25 * time.Millisecond: "25 ms", 1500 * time.Millisecond: "1.5 s"} {
		if got := took(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// The overview of 1,000 nodes.
func BenchmarkOverview(b *testing.B) {
	h := pagesOf(b, hostile(125))
	for b.Loop() {
		ask(h, auth.Operator, "GET", "/", "")
	}
}
