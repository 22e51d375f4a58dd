package web

import (
	"net/http"
	"testing"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/browser"
)

// answer has a path answered with a status; 0 for its page.
func (s *stage) answer(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = map[string]int{path: status}
}

// If this fails, a page that its reader may no longer see, or that is no longer there,
// is called stale for ever, and nobody knows that logging in would help.
func TestPagesThatAreRefusedLater(t *testing.T) {
	s := newStage(t)
	s.as(auth.Viewer)
	s.tab.Size(1280, 900)
	for status, want := range map[int]string{http.StatusForbidden: "may no longer see", http.StatusNotFound: "no longer there"} {
		s.open("/services")
		s.answer("/services", status)
		s.tab.Until(want, `document.querySelector("#main .problem [role=alert]")?.textContent.includes("`+want+`")`)
		s.tab.Until("it is not called stale", `/^as of /.test(document.getElementById("live").textContent)`)
		s.tab.Axe(want)
		s.answer("/services", 0)
		s.tab.Until("the page is back", `!document.querySelector(".problem") && /live|connecting/.test(document.getElementById("live").textContent)`)
	}
	// A site that left the configuration: the controller itself says so.
	s.open("/sites/dim")
	s.leave("dim")
	s.tab.Until("it says that the site is gone", `/There is no site dim/.test(document.querySelector("#main .problem [role=alert]")?.textContent ?? "")`)
	s.leave("")
	s.tab.Until("the site is back", `document.querySelector("#main .card")`)
	// A session that has ended, with the way back.
	s.open("/services?client=berlin&name=app")
	s.answer("/services", http.StatusUnauthorized)
	s.tab.Until("the login", `location.pathname === "/login" && document.querySelector("form.login")`)
	if to := browser.Eval[string](s.tab, `new URLSearchParams(location.search).get("to")`); to != "/services?client=berlin&name=app" {
		t.Errorf("after the login it goes to %q", to)
	}
}
