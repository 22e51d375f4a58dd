package demo

import (
	"flag"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dnsteer/dnsteer/internal/browser"
)

var pictures = flag.String("pictures", "", "write pictures of the dashboard to this folder")

// dashboard starts a demo and opens its dashboard in a browser.
func dashboard(t *testing.T, settings string) (*show, *browser.Tab, string) {
	t.Helper()
	b := browser.Open(t) // before TMPDIR becomes the demo's
	s := startWith(t, false, settings)
	s.mu.Lock()
	at := regexp.MustCompile(`dashboard is at (http://\S+)/`).FindStringSubmatch(s.text.String())
	s.mu.Unlock()
	if at == nil {
		t.Fatal("the demo does not say where its dashboard is")
	}
	t.Cleanup(func() {
		s.stop()
		s.end()
		http.DefaultClient.CloseIdleConnections()
	})
	return s, b, at[1]
}

// visible are settings with which a test sees each step, also on a machine that is
// busy.
const visible = `  threshold: 15s
  grace: 2s
  probe_interval: 500ms
  probe_timeout: 2s
  site_threshold: 1s
`

const (
	up      = `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "up"`
	allUp   = `[...document.querySelectorAll(".node .word")].length === 8 && [...document.querySelectorAll(".node .word")].every(e => e.textContent.trim() === "up")`
	answers = `document.querySelector("#site-berlin .answer .mono")?.textContent ?? ""`
	scripts = `(document.querySelector("time[data-local]") || !document.querySelector("main time")) && document.getElementById("live").textContent !== ""`
)

// pull does on the demo what its page of levers does.
func pull(t *testing.T, at, id string) {
	t.Helper()
	res, err := http.PostForm(at+"/levers", map[string][]string{"id": {id}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the lever %s: %s", id, res.Status)
	}
}

// If this fails, the person who is woken at night looks at a page that does not
// move, or cannot act from it. One demo serves all steps: each leaves it as it was.
func TestDashboard(t *testing.T) {
	s, b, at := dashboard(t, visible)
	b.Go(at + "/")
	b.Until("live", `document.getElementById("live").textContent === "live"`)
	b.Until("all nodes up", allUp)
	b.Until("what the resolver gives", `/verified at the resolver \d+ s ago/.test(document.querySelector("#site-hamburg .seen")?.textContent ?? "")`)
	t.Run("screens", func(t *testing.T) { screens(t, b.For(t), at, "quiet", everyScreen) })
	t.Run("keys", func(t *testing.T) { strip(b.For(t), at) })
	t.Run("outage", func(t *testing.T) { outage(t, b.For(t), at) })
	t.Run("actions", func(t *testing.T) { actions(t, b.For(t), at) })
	t.Run("plain", func(t *testing.T) { plain(t, b.For(t), at) })
	t.Run("stale", func(t *testing.T) { stale(s, b.For(t), at) })
}

// strip goes through the day of a node with the keyboard.
func strip(b *browser.Tab, at string) {
	b.Size(360, 740)
	b.Go(at + "/sites/berlin/a")
	b.Until("the strip", `document.querySelector(".strip rect") && document.getElementById("live").textContent === "live"`)
	b.Until("what the first outcome was", `(s => s && (s.focus(), s.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true, cancelable: true})), `+
		`/^\d\d:\d\d:\d\d: (\d+ (answers|of)|nothing)/.test(document.querySelector(".says").textContent) && s.getAttribute("aria-valuenow") === "1"))(document.querySelector(".strip"))`)
	b.Until("the limit of the response time", `/A probe fails after 2/.test(document.querySelector("figcaption")?.textContent ?? "")`)
}

// outage: a node dies, and card, countdown, answer and events follow by themselves.
func outage(t *testing.T, b *browser.Tab, at string) {
	b.Size(360, 740)
	b.Go(at + "/")
	b.Until("all nodes up", allUp)
	pull(t, at, "1")
	b.Until("the card says failing", `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "failing"`)
	b.Until("a countdown with its time", `/\(in \d+ s\)/.test(document.querySelector("#node-berlin-a .count")?.textContent ?? "")`)
	b.Until("the node is out", `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "out"`)
	b.Until("the answer moved", `!(`+answers+`).includes("127.1.0.11") && (`+answers+`).includes("127.1.0.12")`)
	b.Until("the event is told, with what belongs to it", `/does? ?not|has not answered/.test(document.querySelector(".incident")?.textContent ?? "") && /berlin\/a was taken out/.test(document.querySelector(".incident")?.textContent ?? "")`)
	b.Until("the status line", `/berlin\/a/.test(document.getElementById("summary").textContent)`)
	pull(t, at, "5") // its address leaves munich's router as well
	pull(t, at, "h")
	b.Until("the site that cannot be seen", `document.querySelector("#site-hamburg .witnesses .held")`)
	b.Go(at + "/alerts")
	b.Until("the phone was told", `/delivered/.test(document.querySelector(".messages .deliveries")?.textContent ?? "") && /phone/.test(document.getElementById("channel-phone")?.textContent ?? "")`)
	screens(t, b, at, "trouble", []string{"overview", "site", "node", "alerts", "targets", "events"})
	pull(t, at, "1")
	pull(t, at, "5")
	pull(t, at, "h")
	b.Go(at + "/")
	b.Until("all is back", allUp+` && (`+answers+`).includes("127.1.0.11")`)
}

// actions: maintenance with a reason and an end, a refusal with its way out, a
// switch, and what is offered.
func actions(t *testing.T, b *browser.Tab, at string) {
	b.Size(360, 740)
	open := func(verb string) {
		t.Helper()
		b.Click(`a.do[href*="verb=` + verb + `&"]`)
		b.Until("the dialog", `document.querySelector("dialog[open] form.order button.go, dialog[open] .refused")`)
	}
	order := func(verb, reason, lasts string) {
		t.Helper()
		open(verb)
		b.Type("dialog #reason", reason)
		if lasts != "" {
			b.Type("dialog #for", lasts)
		}
		b.Click("dialog button.go")
	}
	b.Go(at + "/sites/berlin/a")
	b.Until("the node is up", up)
	open("maintenance")
	b.Until("what will change", `/berlin app\.example\.lan.*127\.1\.0\.11, 127\.1\.0\.12 → 127\.1\.0\.12/.test(document.querySelector("dialog .changes")?.textContent ?? "")`)
	b.Axe("the dialog")
	if wide := b.Wide(); wide > 0 {
		t.Errorf("the dialog is %d pixels too wide for a phone", wide)
	}
	b.Dark(true)
	b.AxeColors("the dialog, dark")
	b.Dark(false)
	b.Click("dialog a.button")
	b.Until("the dialog is gone", `!document.querySelector("dialog")`)
	order("maintenance", "new disks", "2h")
	b.Until("done", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	b.Until("maintenance with its reason and its end", `/maintenance.*new disks, until/s.test(document.querySelector("#node-berlin-a")?.textContent ?? "")`)
	b.Until("its history says who and why", `/maintenance.*new disks/s.test(document.querySelector("section[aria-labelledby=past] li")?.textContent ?? "")`)
	order("maintenance_end", "", "")
	b.Until("done", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	b.Until("it comes back", up)

	b.Click(`form[action*="/probe/"] button`)
	b.Until("what its probe has seen, step by step", `/Step\s*connect/.test(document.querySelector(".probed dl")?.textContent ?? "")`)

	// Switching to a node that is out is refused; that can be forced.
	pull(t, at, "4")
	b.Go(at + "/sites/hamburg/b")
	b.Until("the other site's node is out", `document.querySelector("#node-hamburg-b .word")?.textContent.trim() === "out"`)
	order("switch", "try", "")
	b.Until("refused, with a way out", `document.querySelector("dialog .refused") && document.querySelector('dialog button[name="force"]')`)
	b.Axe("the refusal")
	b.Click(`dialog button[name="force"]`)
	b.Until("done all the same", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	pull(t, at, "4")
	b.Go(at + "/sites/hamburg")
	order("failback", "enough", "")
	b.Until("failed back", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	b.Until("hamburg is as it was", `/127\.2\.0\.11/.test(document.querySelector("#site-hamburg .answer .mono").textContent) && !document.querySelector(".pool.held")`)
	if b.Text(`a.do[href*="verb=release"]`) != "" {
		t.Error("the brake can be released, and does not hold")
	}
}

// plain: everything can be read, and orders given, without JavaScript.
func plain(t *testing.T, b *browser.Tab, at string) {
	b.Scripts(false)
	for path, want := range map[string]string{
		"/": "127.1.0.12", "/sites/berlin": "What can be done", "/sites/berlin/a": "History of its states", "/targets": "router-munich",
		"/alerts": "Last delivered", "/events": "berlin/a", "/services?client=127.2.0.9&name=app.example.lan": "one of the clients of hamburg",
		"/configuration": "default_site", "/levers": "a record at munich's router",
	} {
		b.Go(at + path)
		if text := b.Text("main"); !regexp.MustCompile(regexp.QuoteMeta(want)).MatchString(text) {
			t.Errorf("%s without scripts lacks %q: %s", path, want, text)
		}
	}
	b.Paper()
	b.Go(at + "/sites/berlin/a")
	b.Until("a report, with its time and without what cannot be pressed", `(shown => shown(".printed") && shown(".node") && !shown(".top nav") && !shown(".actions"))(s => document.querySelector(s).checkVisibility())`)
	b.Dark(false)
	b.Go(at + "/act?verb=pause&site=berlin&back=/sites/berlin")
	b.Click("button.go")
	b.Until("done", `document.querySelector(".done")`)
	b.Click("a.button")
	b.Until("it is paused", `/Paused/.test(document.querySelector("#site-berlin")?.textContent ?? "")`)
	b.Go(at + "/act?verb=resume&site=berlin&back=/sites/berlin")
	b.Click("button.go")
	b.Until("done", `document.querySelector(".done")`)
	b.Scripts(true)
}

// stale: a page whose controller is gone says so, and so does one that gets another's
// pages in its place; who is no longer logged in is sent to the login.
func stale(s *show, b *browser.Tab, at string) {
	const (
		live = `document.getElementById("live").textContent === "live"`
		mark = `/^stale since \d\d:\d\d:\d\d/.test(document.getElementById("live").textContent) && document.getElementById("live").classList.contains("stale")`
	)
	b.Go(at + "/")
	b.Until("live", live)
	b.Until("a proxy that answers by itself", `(window.fetch = async () => new Response("<p>Log in</p>", {headers: {"Content-Type": "text/html"}}), true)`)
	b.Until("the mark", mark)
	b.Until("a redirect", `(window.fetch = async () => Object.defineProperty(new Response(), "type", {value: "opaqueredirect"}), window.before = true)`)
	b.Until("the page is asked for again", `!window.before && document.getElementById("live")?.textContent === "live"`)
	s.stop()
	b.Until("the mark", mark)
}

// paths of all screens of the demo.
var paths = map[string]string{
	"overview": "/", "site": "/sites/berlin", "node": "/sites/berlin/a", "services": "/services?client=127.2.0.9&name=app.example.lan",
	"events": "/events", "configuration": "/configuration", "levers": "/levers", "targets": "/targets", "alerts": "/alerts",
	"act": "/act?verb=maintenance&site=berlin&node=a", "problem": "/sites/nowhere", "login": "/login",
}

var everyScreen = []string{"overview", "site", "node", "services", "events", "configuration", "levers", "targets", "alerts", "act", "problem", "login"}

// screens holds that screens are no wider than a phone and that axe finds nothing in
// trouble, in both themes; or, where -pictures says so, it takes their pictures.
func screens(t *testing.T, b *browser.Tab, at, state string, names []string) {
	t.Helper()
	for _, name := range names {
		b.Dark(false)
		b.Size(360, 740)
		b.Go(at + paths[name])
		b.Until("the scripts of "+name, scripts)
		if wide := b.Wide(); wide > 0 {
			t.Errorf("%s is %d pixels too wide for a phone", name, wide)
		}
		if *pictures == "" {
			if state == "trouble" { // where all colours are; quiet, internal/web looks at them
				b.Axe(name)
				b.Dark(true)
				b.AxeColors(name + " dark")
			}
			continue
		}
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			file := filepath.Join(*pictures, name+"-"+state+"-%s-"+map[bool]string{false: "light", true: "dark"}[dark]+".png")
			b.Size(390, 844)
			b.Shot(regexp.MustCompile("%s").ReplaceAllString(file, "phone"))
			b.Size(1280, 720)
			b.Shot(regexp.MustCompile("%s").ReplaceAllString(file, "desktop"))
		}
	}
	b.Dark(false)
}

// patientEnough are settings with which pictures look as they do in earnest.
const patientEnough = `  threshold: 20s
  grace: 20s
  probe_interval: 1s
  probe_timeout: 2s
  site_threshold: 4s
`

// firstView is after how many milliseconds something could be read.
const firstView = `new Promise(resolve => new PerformanceObserver(list => resolve(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))`

// Writes the pictures of the documentation where -pictures says so.
func TestScreens(t *testing.T) {
	if *pictures == "" {
		t.Skip("no pictures are asked for: TestDashboard looks at the screens")
	}
	_, b, at := dashboard(t, patientEnough)
	b.Go(at + "/")
	b.Until("all nodes up", allUp)
	b.Size(390, 844)
	b.Slow(4)
	b.Go(at + "/")
	t.Logf("with a processor four times slower the first view is there after %.0f ms", browser.Eval[float64](b, firstView))
	b.Slow(1)
	screens(t, b, at, "quiet", everyScreen)
	pull(t, at, "1")
	pull(t, at, "5")
	pull(t, at, "h")
	b.Go(at + "/")
	b.Until("trouble", `document.querySelector("#node-berlin-a.gone") && document.querySelector("#node-munich-a.gone") && document.querySelector("#site-hamburg .witnesses .held")`)
	pull(t, at, "3") // not seen behind the line that is cut
	pull(t, at, "8")
	b.Until("one that is about to go", `document.querySelector("#node-leipzig-b .count")?.textContent`)
	screens(t, b, at, "trouble", everyScreen)
	b.Go(at + "/")
	b.Until("the scripts", scripts)
	b.Size(1280, 720)
	for _, sight := range []string{"deuteranopia", "protanopia", "tritanopia", "achromatopsia"} {
		b.Vision(sight)
		b.Shot(filepath.Join(*pictures, "overview-trouble-"+sight+".png"))
	}
	b.Vision("none")
	b.Size(3840, 2160)
	b.Shot(filepath.Join(*pictures, "overview-trouble-3840.png"))
}
