package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
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

// If this fails, who looks at a dashboard without users, as the shortest configuration has
// it, is sent to log in, with a name and a password that cannot be right.
func TestNobodyIsSentToALoginThatIsNone(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	for _, nobody := range []bool{false, true} {
		f.nobody = nobody
		for _, path := range []string{"/sites/berlin", "/sites/berlin/a", "/act?verb=pause&site=berlin", "/login"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), &api.Caller{Role: auth.Viewer}))) // without a login
			text := w.Body.String()
			if offered := strings.Contains(text, `href="/login"`) || strings.Contains(text, `type="password"`); offered == nobody {
				t.Errorf("%s without users %v: a login is offered: %v", path, nobody, offered)
			}
			if told := strings.Contains(text, "http.users"); told != nobody {
				t.Errorf("%s without users %v: it is told: %v", path, nobody, told)
			}
		}
	}
}
