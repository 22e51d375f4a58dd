package web

import (
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/browser"
)

// stage serves a scene to whoever has a role.
type stage struct {
	*scene
	t    testing.TB
	tab  *browser.Tab
	mu   sync.Mutex
	role auth.Role
	// answers are the statuses that paths are answered with in place of their pages.
	answers map[string]int
	url     string
	// streams are open, and most were at one time.
	streams, most int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, tab: browser.Open(t), scene: newScene(time.Now().Truncate(time.Second))}
	h, err := New(Deps{
		Reader: s, Operator: s, Historian: s, Entrance: s, Alerter: s, Publisher: s, Configuration: s, Levers: s, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		SiteOf: func(netip.Addr) (string, bool) { return "berlin", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	// The browser ends before its connections are waited for.
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(":\n\n"))
			_ = http.NewResponseController(w).Flush()
			s.stream(1)
			<-r.Context().Done()
			s.stream(-1)
			return
		}
		s.mu.Lock()
		role, status := s.role, s.answers[r.URL.Path]
		s.mu.Unlock()
		if status != 0 {
			http.Error(w, "what stands in front says no", status)
			return
		}
		c := &api.Caller{Role: role}
		if role != auth.Nobody {
			c.Name = role.String()
		}
		h.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), c)))
	}))
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = server.URL
	return s
}

// stream counts a stream of events that begins or ends.
func (s *stage) stream(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams += by
	s.most = max(s.most, s.streams)
}

// left holds that pages which are left keep no stream: the seventh that is opened would
// wait for a connection, of which a browser has six.
func (s *stage) left() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 3 {
		s.t.Errorf("%d streams were open at a time", s.most)
	}
}

// Enter lets nobody in.
func (s *stage) Enter(http.ResponseWriter, *http.Request, string, string) (auth.Caller, error) {
	return auth.Caller{}, &api.Problem{Status: http.StatusUnauthorized, Detail: "this name and password do not fit; the next try is possible in 4 s"}
}

// as makes who looks another.
func (s *stage) as(role auth.Role) {
	s.mu.Lock()
	s.role = role
	s.mu.Unlock()
}

// open opens a page and waits until its scripts have run.
func (s *stage) open(path string) {
	s.t.Helper()
	s.tab.Go(s.url + path)
	s.tab.Until("the scripts of "+path, `document.getElementById("live").textContent !== "" && !document.querySelector("main time:not([data-local])")`)
}

// thorough looks at each screen in both themes on a phone and on a desk; else it is one
// theme on each, which has every element and every colour in it.
var thorough = flag.Bool("thorough", false, "look at every screen in both themes on a phone and on a desk")

// look holds what is seen now against axe's rules on a phone and a desk, in both
// themes, and against the width of the screen, up to one of 3840 pixels.
func (s *stage) look(name string) {
	s.t.Helper()
	for _, at := range []struct {
		width int64
		dark  bool
		check func(string)
	}{
		{360, false, s.tab.Axe},
		{360, true, s.tab.AxeColors},
		{1280, true, s.tab.Axe},
		{1280, false, s.tab.AxeColors},
		{3840, false, func(string) {}},
	} {
		if !*thorough && at.width != 3840 && at.dark != (at.width == 1280) {
			continue
		}
		s.tab.Size(at.width, 900)
		s.tab.Dark(at.dark)
		where := fmt.Sprintf("%s, %d pixels wide, dark %v", name, at.width, at.dark)
		at.check(where)
		if wide := s.tab.Wide(); wide > 0 {
			s.t.Errorf("%s: %d pixels too wide", where, wide)
		}
		for _, line := range s.tab.LongLines(maxLine) {
			s.t.Errorf("%s: a line is too long to be read: %s", where, line)
		}
	}
}

// maxLine is how many characters a line of prose may have.
const maxLine = 100

// If this fails, somebody who cannot see well, or has a narrow or a very wide screen,
// cannot read a screen, or act on it in a dialog; or a page takes long to come.
func TestScreens(t *testing.T) {
	s := newStage(t)
	for _, part := range []struct {
		name string
		play func(*stage)
	}{{"first view", (*stage).firstView}, {"pages", (*stage).pages}, {"dialogs", (*stage).dialogs}, {"empty", (*stage).empty}} {
		t.Run(part.name, func(t *testing.T) {
			s.t, s.tab = t, s.tab.For(t)
			s.as(auth.Admin)
			part.play(s)
		})
	}
}

// What a first view may take: requests, bytes as they travel and as the browser reads
// them, and elements that it lays out. The time, which depends on the machine, is told
// and not held.
const (
	mostRequests = 4
	mostTravels  = 40_000
	mostScript   = 25_000
	mostElements = 1500
)

// firstView opens the overview in trouble, on a phone, with nothing in the cache.
func (s *stage) firstView() {
	s.tab.Size(390, 844)
	s.tab.Slow(4)
	s.open("/")
	got := browser.Eval[struct {
		Requests, Travels, Script, Elements int
		Blocking                            []string
		Read                                float64
	}](s.tab, `(async () => {
		const of = (kind) => performance.getEntriesByType(kind), parts = of("resource").filter((r) => /assets/.test(r.name)), sum = (list, of) => list.reduce((n, r) => n + r[of], 0);
		const read = await new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0)).observe({type: "paint", buffered: true}));
		return {
			requests: 1 + parts.length, travels: sum(parts, "encodedBodySize"), script: sum(parts.filter((r) => r.initiatorType === "script"), "decodedBodySize"),
			elements: document.querySelectorAll("*").length, blocking: parts.filter((r) => r.renderBlockingStatus === "blocking").map((r) => new URL(r.name).pathname), read,
		};
	})()`)
	s.tab.Slow(1)
	all, parts := s.tab.Work(func() { s.open("/?again") })
	s.t.Logf("the page's thread works for %s: scripts %s, styles %s, layout %s", all, parts["ScriptDuration"], parts["RecalcStyleDuration"], parts["LayoutDuration"])
	s.t.Logf("first view with a processor four times slower: after %.0f ms; %d requests, %d bytes beside the page, %d of scripts, %d elements", got.Read, got.Requests, got.Travels, got.Script, got.Elements)
	if got.Requests > mostRequests || got.Travels > mostTravels || got.Script > mostScript || got.Elements > mostElements {
		s.t.Errorf("%+v: at most %d requests, %d bytes, %d of scripts, %d elements", got, mostRequests, mostTravels, mostScript, mostElements)
	}
	if want := []string{"/assets/style.css"}; !slices.Equal(got.Blocking, want) {
		s.t.Errorf("nothing is shown before %v are there, want %v", got.Blocking, want)
	}
}

// pages looks at every screen in every trouble.
func (s *stage) pages() {
	for _, path := range []string{
		"/", "/sites/berlin", "/sites/berlin/up", "/sites/berlin/" + long, "/services", "/services?client=10.1.0.9&name=app",
		"/services?client=berlin&name=unknown", "/targets", "/alerts", "/events", "/configuration", "/levers", "/sites/nowhere", "/targets/certificates?target=router-1",
		"/act?verb=maintenance&site=berlin&node=up",
	} {
		s.open(path)
		s.look(path)
	}
	s.open("/sites/berlin/up")
	if !browser.Eval[bool](s.tab, `document.querySelector(".axis").offsetWidth >= Math.floor(document.querySelector(".strip").getBoundingClientRect().width)`) {
		s.t.Error("the ends of the day do not stand below those of its strip")
	}
	for path, press := range map[string]string{
		"/alerts": "article form button", "/configuration": "main form button", "/levers": ".levers button", "/sites/berlin/up": "form[action*=probe] button",
	} {
		s.open(path)
		s.tab.Click(press)
		s.tab.Until("what came of it", `document.querySelector(".result, .refused, .probed") && !document.querySelector("main time:not([data-local])")`)
		s.look(path + ", done")
	}
	s.left()
	s.broken = true
	s.open("/")
	s.look("a controller that does not answer")
	s.broken = false
	s.as(auth.Viewer)
	for _, path := range []string{"/sites/berlin/up", "/act?verb=pause&site=berlin"} {
		s.open(path)
		s.look(path + " of a viewer")
	}
	s.as(auth.Nobody)
	s.open("/")
	s.look("login")
	s.tab.Type("#user", "vera")
	s.tab.Type("#password", "wrong")
	s.tab.Click("button.go")
	s.tab.Until("the fault", `document.querySelector(".refused")`)
	s.look("login, refused")
}

// empty looks at every screen of a controller that has nothing to show.
func (s *stage) empty() {
	s.scene = &scene{fake: &fake{}, at: time.Now(), bare: true}
	s.fake.status.Config.Path = "/etc/dnsteer/dnsteer.yaml"
	for _, path := range []string{"/", "/services", "/targets", "/alerts", "/events", "/configuration"} {
		s.open(path)
		s.look(path + ", empty")
	}
}

// dialogs looks at every dialog in which is acted, and at what comes of it.
func (s *stage) dialogs() {
	s.open("/")
	// dialog opens what a link of this address would open.
	dialog := func(href string) {
		s.t.Helper()
		browser.Eval[int](s.tab, fmt.Sprintf(`(a => (a.className = "do", a.href = %q, a.textContent = "it", document.querySelector("main").append(a), a.click(), a.remove(), 1))(document.createElement("a"))`, href))
		s.tab.Until("the dialog of "+href, `document.querySelector("dialog[open] h1") && !document.querySelector("dialog time:not([data-local])")`)
	}
	leave := func() {
		s.t.Helper()
		browser.Eval[int](s.tab, `(document.querySelector("dialog").close(), 1)`)
		s.tab.Until("it is gone", `!document.querySelector("dialog")`)
	}
	send := func(reason string) {
		s.t.Helper()
		s.tab.Type("dialog #reason", reason)
		s.tab.Click("dialog button.go")
	}
	for _, href := range everyDialog() {
		dialog(href)
		s.look(href)
		leave()
	}
	refused := "/act?verb=maintenance&site=berlin&node=" + long
	dialog(refused)
	send("new disks")
	s.tab.Until("the refusal and its way out", `document.querySelector('dialog .refused') && document.querySelector('dialog button[name="force"]')`)
	s.look("a refusal")
	s.tab.Click(`dialog button[name="force"]`)
	s.tab.Until("done", `document.querySelector("dialog .done")`)
	s.look("a confirmation")
	leave()
	dialog("/act?verb=maintenance&site=berlin&node=up")
	s.tab.Type("dialog #for", "for ever")
	send("new disks")
	s.tab.Until("what is wrong with it", `/no duration/.test(document.querySelector("dialog .refused")?.textContent ?? "")`)
	s.look("a duration that is none")
	leave()
	dialog("/act?verb=pause&site=berlin")
	browser.Eval[int](s.tab, `(window.fetch = () => Promise.reject(new Error("gone")), 1)`)
	send("")
	s.tab.Until("nobody answers", `/did not answer/.test(document.querySelector("dialog .refused")?.textContent ?? "")`)
	s.look("no answer")
}

// everyDialog lists the links of what can be ordered.
func everyDialog() []string {
	list := []string{"/targets/certificates?target=router-0"}
	for _, verb := range []string{"maintenance", "maintenance_end", "disable", "enable", "failback", "switch", "drill", "drill_end"} {
		list = append(list, "/act?verb="+verb+"&site=berlin&node=up")
	}
	for _, verb := range []string{"pause", "resume", "release", "nonsense"} {
		list = append(list, "/act?verb="+verb+"&site=berlin")
	}
	for _, verb := range []string{"disable", "enable", "adopt", "purge"} {
		list = append(list, "/targets/act?"+url.Values{"verb": {verb}, "target": {"router-0"}}.Encode())
	}
	return append(list, "/targets/act?verb=purge&target=router-1")
}
