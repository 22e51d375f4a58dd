// Package browser lets tests look at pages in a real headless Chromium, and holds
// them against axe's rules of accessibility. Only tests import it.
package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// axe is axe-core 4.14.1 as its npm package has it, compressed; axe.LICENSE is its
// licence.
//
//go:embed axe.min.js.gz
var axe []byte

// Patience is how long a test waits for what must come: a loaded machine is slow.
const Patience = 3 * time.Minute

// Tab is one page of the browser with cookies of its own.
type Tab struct {
	t   testing.TB
	ctx context.Context
}

// Open starts a Chromium that ends with the test.
func Open(t testing.TB) *Tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("Chromium is not installed: .ci/packages does that")
	}
	profile, err := os.MkdirTemp("", "chromium-") //nolint:usetesting // what Chromium is still writing would fail the clean-up
	if err != nil {
		t.Fatal(err)
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(Patience),
	}
	for _, flag := range []string{
		"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars",
		"disable-background-timer-throttling", "disable-renderer-backgrounding", "disable-dev-shm-usage",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	process, kill := chromedp.NewExecAllocator(context.Background(), options...) //nolint:usetesting // it ends in the clean-up
	ctx, end := chromedp.NewContext(process)
	t.Cleanup(func() {
		end()
		kill()
		_ = os.RemoveAll(profile) // what Chromium is still writing may stay
	})
	b := &Tab{t, ctx}
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as this context
		t.Fatalf("start Chromium: %v", err)
	}
	b.Size(1280, 900)
	return b
}

// For gives the same page to a subtest.
func (b *Tab) For(t testing.TB) *Tab {
	t.Helper()
	return &Tab{t, b.ctx}
}

// within bounds one step.
func (b *Tab) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, Patience)
}

func (b *Tab) run(what string, action chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// call sends one command to the browser.
func call[P, R any](b *Tab, cmd cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	answer, err := chromedp.Call(ctx, cmd, params)
	if err != nil {
		b.t.Fatalf("%s: %v", cmd.Method, err)
	}
	return answer
}

// Size sets the size of the window in CSS pixels.
func (b *Tab) Size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// Dark prefers the dark scheme, or the light one, and no motion.
func (b *Tab) Dark(dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "screen", Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Paper lets the page look as it is printed, until [Tab.Dark] is called.
func (b *Tab) Paper() {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}

// Vision lets the page be seen as by who has a deficiency, such as "deuteranopia"; "none"
// for one that has none.
func (b *Tab) Vision(deficiency string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedVisionDeficiency, emulation.SetEmulatedVisionDeficiencyParams{Type: emulation.SetEmulatedVisionDeficiencyType(deficiency)})
}

// Scripts lets pages run theirs, or not.
func (b *Tab) Scripts(on bool) {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Go opens a page.
func (b *Tab) Go(url string) {
	b.t.Helper()
	b.run("open "+url, chromedp.Navigate(url))
}

// Click presses the first element that a selector names.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.run("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type writes into a field.
func (b *Tab) Type(selector, text string) {
	b.t.Helper()
	b.Until(selector, fmt.Sprintf("(e => e && ((e.value = %q), true))(document.querySelector(%q))", text, selector))
}

// Text gives what a person reads in an element; "" where there is none.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// Eval gives the value of an expression, or of the promise that it is.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("evaluate %.100s: %v", expression, err)
	}
	return value
}

// Until waits until an expression is true.
func (b *Tab) Until(what, expression string) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		// A page that is being left gives an error: the next one may not.
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && yes {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.t.Fatalf("%s did not come (%v); the page shows:\n%s", what, err, b.Text("body"))
		}
	}
}

// Shot writes a picture of the whole page (PNG).
func (b *Tab) Shot(path string) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o750)
	}
	if err == nil {
		err = os.WriteFile(path, picture, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Wide says by how many pixels the page is wider than the window.
func (b *Tab) Wide() int {
	b.t.Helper()
	return Eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
}

// LongLines gives the texts of the page, or of the dialog that is open, whose lines
// have more than so many characters. What is set as it was written is none.
func (b *Tab) LongLines(most int) []string {
	b.t.Helper()
	return Eval[[]string](b, fmt.Sprintf(`[...(document.querySelector("dialog[open]") ?? document.body).querySelectorAll("p, li, dd, h1, label, caption, figcaption, summary")].flatMap(e => {
		const text = e.textContent.trim().replace(/\s+/g, " ");
		if (text.length <= %[1]d || e.closest("pre") || e.querySelector("p, ul, ol, dl, table, div, form, select") || !e.checkVisibility() || getComputedStyle(e).clipPath !== "none") return [];
		const range = document.createRange();
		range.selectNodeContents(e);
		const lines = [];
		for (const r of [...range.getClientRects()].filter(r => r.height > 0).sort((a, b) => a.bottom - b.bottom)) {
			const line = lines.at(-1);
			if (line && r.bottom - line.bottom < 10) { line.left = Math.min(line.left, r.left); line.right = Math.max(line.right, r.right); }
			else lines.push({bottom: r.bottom, left: r.left, right: r.right});
		}
		const widths = lines.map(l => l.right - l.left), longest = text.length * Math.max(...widths) / widths.reduce((a, b) => a + b, 0);
		return longest > %[1]d ? [Math.round(longest) + " characters in a line of: " + text.slice(0, 80)] : [];
	})`, most))
}

// Work gives what the page's thread has used of the processor for an action, in all
// and for "ScriptDuration", "RecalcStyleDuration" and "LayoutDuration" apart. It does
// not depend on what else the machine does.
func (b *Tab) Work(action func()) (all time.Duration, parts map[string]time.Duration) {
	b.t.Helper()
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	read := func(sign float64) {
		for _, m := range call(b, performance.GetMetrics, cdp.Empty{}).Metrics {
			if strings.HasSuffix(m.Name, "Duration") {
				parts[m.Name] += time.Duration(sign * m.Value * float64(time.Second))
			}
		}
	}
	parts = make(map[string]time.Duration)
	read(-1)
	action()
	read(1)
	return parts["TaskDuration"], parts
}

// Slow lets the processor seem so many times slower than it is (1 for as it is).
func (b *Tab) Slow(times float64) {
	b.t.Helper()
	call(b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: times})
}

// Axe fails the test for everything that axe finds, in the dialog that is open where
// there is one: the page below cannot be reached then.
func (b *Tab) Axe(name string) { b.t.Helper(); b.axe(name, `{resultTypes: ["violations"]}`) }

// AxeColors fails the test for colours that axe finds fault with: all of it that
// another colour scheme changes.
func (b *Tab) AxeColors(name string) {
	b.t.Helper()
	b.axe(name, `{runOnly: ["color-contrast"], resultTypes: ["violations"]}`)
}

func (b *Tab) axe(name, options string) {
	b.t.Helper()
	if !Eval[bool](b, "!!window.axe") {
		Eval[int](b, rules(b.t)+";0")
	}
	found := Eval[[]string](b, `axe.run(document.querySelector("dialog[open]") ?? document, `+options+`).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html + " (" + n.failureSummary + ")").join(" | ")))`)
	for _, f := range found {
		b.t.Errorf("%s: axe: %s", name, f)
	}
}

// rules gives axe itself.
func rules(t testing.TB) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(axe))
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}
