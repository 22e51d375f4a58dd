package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/browser"
)

// If this fails, people cannot log in with a browser, see buttons that are not for
// them, or are let in without a word.
func TestLoginWithABrowser(t *testing.T) {
	b := browser.Open(t)
	w := newWorld(t, "berlin")
	r := startWithPeople(w)
	at := "http://" + r.web.Addrs()[0].String()
	login := func(name, password string) {
		t.Helper()
		b.Type("#user", name)
		b.Type("#password", password)
		b.Click("button.go")
	}
	b.Size(360, 740)
	b.Go(at + "/sites/berlin")
	b.Until("the login", `document.querySelector("form.login") && !document.querySelector("nav")`)
	b.Axe("login")
	b.Dark(true)
	b.AxeColors("login, dark")
	if wide := b.Wide(); wide > 0 {
		t.Errorf("the login is %d pixels too wide for a phone", wide)
	}
	login("vera", "wrong")
	b.Until("the fault", `document.querySelector("form.login .refused")`)
	b.Axe("login, refused")
	login("vera", "night and day")
	b.Until("the page that was asked for", `/\/sites\/berlin$/.test(location.pathname) && /vera may look/.test(document.querySelector("main").textContent)`)
	if b.Text("a.do") != "" {
		t.Error("a viewer sees buttons")
	}
	b.Go(at + "/act?verb=pause&site=berlin")
	b.Until("no permission", `/takes the role operator/.test(document.querySelector("main").textContent)`)
	b.Axe("no permission")
	b.Click(".who button")
	b.Until("the login again", `document.querySelector("form.login")`)
	login("otto", "night and day")
	b.Until("the overview", `document.getElementById("site-berlin")`)
	b.Go(at + "/sites/berlin")
	b.Until("buttons", `document.querySelector("a.do")`)
	b.Click(`a.do[href*="verb=pause"]`)
	b.Until("the dialog", `document.querySelector("dialog[open] form.order button.go")`)
	b.Type("dialog #reason", "a try")
	b.Click("dialog button.go")
	b.Until("done", `document.querySelector("dialog .done")`)
	b.Go(at + "/events")
	b.Until("the event has a name", `/otto: a try/.test(document.querySelector("main").textContent)`)

	// A name that it does not have: its own words, not a program's.
	b.Go(strings.Replace(at, "127.0.0.1", "another.localhost", 1) + "/")
	b.Until("why it is refused", `/http\.hosts/.test(document.querySelector("main")?.textContent ?? "")`)
	b.Axe("another name")
	b.Dark(true)
	b.AxeColors("another name, dark")
	b.Dark(false)
	b.Go(at + "/events")

	// A session that is over leads to the login, and back.
	if res, text, _ := r.ask("POST", "/api/v1/login", `{"user": "otto", "password": "night and day"}`); len(res.cookies) == 0 {
		t.Fatal(text)
	} else if res, text, _ := r.ask("POST", "/api/v1/logout?everywhere=true", "{}", "Cookie: "+strings.Join([]string{res.cookies[0].Name, res.cookies[0].Value}, "=")); res.StatusCode != 200 {
		t.Fatal(res.StatusCode, text)
	}
	b.Until("the login, for the session has ended", `document.querySelector("form.login")`)
}

// startWithPeople starts a controller to which a viewer (vera), an operator (otto) and an
// admin (ada) log in by "night and day".
func startWithPeople(w *world) *running {
	w.t.Helper()
	hash, err := auth.HashPassword([]byte("night and day"))
	if err != nil {
		w.t.Fatal(err)
	}
	users := ""
	for name, role := range map[string]auth.Role{"vera": auth.Viewer, "otto": auth.Operator, "ada": auth.Admin} {
		users += fmt.Sprintf("    - {name: %s, role: %s, password_hash: '%s'}\n", name, role, hash.Reveal())
	}
	w.write(w.config() + "http:\n  listen: ['127.0.0.1:0']\n  users:\n" + users)
	r := w.start()
	r.settled()
	return r
}
