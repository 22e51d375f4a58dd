package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// If this fails, whose session has ended while they filled in a form, or before they
// pressed a button, is led to a page after the login that does not exist, and has to
// find the way back and to write the reason again.
func TestLoginLeadsBackToTheForm(t *testing.T) {
	h := pagesOf(t, hostile(1))
	for _, tt := range []struct{ path, form, want string }{
		{"/act", "verb=maintenance&site=berlin&node=a&reason=new+disks&for=2h&force=yes", "/act?for=2h&node=a&reason=new+disks&site=berlin&verb=maintenance"},
		{"/targets/act", "verb=purge&target=router&reason=moved", "/targets/act?reason=moved&target=router&verb=purge"},
		{"/probe/berlin/a", "", "/sites/berlin/a"},
		{"/alerts/test/mail", "", "/alerts"},
		{"/configuration", "", "/configuration"},
	} {
		w := ask(h, auth.Nobody, http.MethodPost, tt.path, tt.form)
		if want := "/login?to=" + url.QueryEscape(tt.want); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %s, want %s", tt.path, w.Code, w.Header().Get("Location"), want)
		}
		if w := ask(h, auth.Admin, http.MethodGet, tt.want, ""); w.Code != http.StatusOK {
			t.Errorf("%s is answered %d after the login", tt.want, w.Code)
		}
	}
}
