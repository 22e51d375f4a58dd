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

// visible are settings with which a test sees each step.
const visible = `  threshold: 9s
  grace: 2s
  probe_interval: 200ms
  probe_timeout: 400ms
  site_threshold: 1s
`

const (
	up      = `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "up"`
	allUp   = `[...document.querySelectorAll(".node .word")].length === 8 && [...document.querySelectorAll(".node .word")].every(e => e.textContent.trim() === "up")`
	answers = `document.querySelector("#site-berlin .answer .mono")?.textContent ?? ""`
)

// If this fails, the person who is woken at night looks at a page that does not
// move: a node dies, and card, countdown and answer stay as they were.
func TestDashboardFollowsAnOutage(t *testing.T) {
	_, b, at := dashboard(t, visible)
	b.Go(at + "/")
	b.Until("live", `document.getElementById("live").textContent === "live"`)
	b.Until("all nodes up", allUp)
	pull(t, at, "1")
	b.Until("the card says failing", `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "failing"`)
	b.Until("a countdown with its time", `/\(in \d+ s\)/.test(document.querySelector("#node-berlin-a .count")?.textContent ?? "")`)
	b.Until("the node is out", `document.querySelector("#node-berlin-a .word")?.textContent.trim() === "out"`)
	b.Until("the answer moved", `!(`+answers+`).includes("127.1.0.11") && (`+answers+`).includes("127.1.0.12")`)
	b.Until("the event is told", `/berlin\/a was taken out/.test(document.querySelector(".events")?.textContent ?? "")`)
	pull(t, at, "1")
	b.Until("it is back", up+` && (`+answers+`).includes("127.1.0.11")`)
}

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

// If this fails, one cannot act from the dashboard: maintenance with a reason and an
// end, a refusal with its way out, and the end of it.
func TestDashboardActs(t *testing.T) {
	_, b, at := dashboard(t, visible)
	b.Go(at + "/sites/berlin/a")
	b.Until("the node is up", up)
	order := func(selector, reason, lasts string) {
		t.Helper()
		b.Click(selector)
		b.Until("the dialog", `document.querySelector("dialog[open] form.order button.go")`)
		b.Type("dialog #reason", reason)
		if lasts != "" {
			b.Type("dialog #for", lasts)
		}
		b.Click("dialog button.go")
	}
	b.Click(`a.do[href*="verb=maintenance&"]`)
	b.Until("what will change", `/127\.1\.0\.11, 127\.1\.0\.12 → 127\.1\.0\.12/.test(document.querySelector("dialog .changes")?.textContent ?? "")`)
	b.Click("dialog a.button")
	b.Until("the dialog is gone", `!document.querySelector("dialog")`)
	order(`a.do[href*="verb=maintenance&"]`, "new disks", "2h")
	b.Until("done", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	b.Until("maintenance with its reason and its end", `/maintenance.*new disks, until/s.test(document.querySelector("#node-berlin-a")?.textContent ?? "")`)

	// The other node would leave nothing but the emergency site, which stands in;
	// switching to a node that is out is refused.
	pull(t, at, "4")
	b.Go(at + "/sites/hamburg/b")
	b.Until("the other site's node is out", `document.querySelector("#node-hamburg-b .word")?.textContent.trim() === "out"`)
	order(`a.do[href*="verb=switch"]`, "try", "")
	b.Until("refused, with a way out", `document.querySelector("dialog .refused") && document.querySelector('dialog button[name="force"]')`)
	b.Click(`dialog button[name="force"]`)
	b.Until("done all the same", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")

	b.Go(at + "/sites/berlin/a")
	order(`a.do[href*="verb=maintenance_end"]`, "", "")
	b.Until("done", `document.querySelector("dialog .done")`)
	b.Click("dialog a.button")
	b.Until("it comes back", up)
	b.Go(at + "/sites/berlin/a")
	order(`a.do[href*="verb=failback"]`, "", "")
	b.Until("failback is answered", `document.querySelector("dialog .done, dialog .refused")`)
}

// If this fails, a page whose controller is gone looks as if all were as shown.
func TestDashboardSaysThatItIsStale(t *testing.T) {
	s, b, at := dashboard(t, visible)
	b.Go(at + "/")
	b.Until("live", `document.getElementById("live").textContent === "live"`)
	s.stop()
	b.Until("the mark", `/^stale since \d\d:\d\d:\d\d/.test(document.getElementById("live").textContent) && document.getElementById("live").classList.contains("stale")`)
}

// Writes the pictures of the documentation where -pictures says so; without it, it
// holds that every screen of the demo can be opened, is no wider than a phone, and
// that axe finds nothing.
func TestScreens(t *testing.T) {
	_, b, at := dashboard(t, visible)
	b.Go(at + "/")
	b.Until("all nodes up", allUp)
	shoot := func(state string) {
		t.Helper()
		for name, path := range map[string]string{
			"overview": "/", "site": "/sites/berlin", "node": "/sites/berlin/a", "services": "/services?client=127.2.0.9&name=app.example.lan",
			"events": "/events", "configuration": "/configuration", "levers": "/levers", "targets": "/targets",
			"act": "/act?verb=maintenance&site=berlin&node=a",
		} {
			for _, dark := range []bool{false, true} {
				scheme := map[bool]string{false: "light", true: "dark"}[dark]
				b.Dark(dark)
				b.Size(360, 740)
				b.Go(at + path)
				b.Until("the page's scripts", `document.querySelector("time[data-local]") || !document.querySelector("time")`)
				if wide := b.Wide(); wide > 0 {
					t.Errorf("%s is %d pixels too wide for a phone", name, wide)
				}
				b.Axe(name + " " + scheme)
				if *pictures == "" {
					continue
				}
				b.Shot(filepath.Join(*pictures, name+"-"+state+"-360-"+scheme+".png"))
				b.Size(1280, 720)
				b.Shot(filepath.Join(*pictures, name+"-"+state+"-1280-"+scheme+".png"))
			}
		}
	}
	shoot("quiet")
	pull(t, at, "1")
	pull(t, at, "h")
	b.Go(at + "/")
	b.Until("trouble", `document.querySelector("#node-berlin-a.gone") && document.querySelector("#site-hamburg .witnesses .held")`)
	shoot("trouble")
}
