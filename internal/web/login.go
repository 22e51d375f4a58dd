package web

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/dnsteer/dnsteer/internal/api"
)

// loginPage asks who somebody is.
func (h *Handler) loginPage(v *visit) error { return h.showLogin(v, "", query(v.r, "to"), "") }

func (h *Handler) showLogin(v *visit, user, to, fault string) error {
	v.title = "Log in"
	return h.show(v, "login", struct{ User, To, Fault string }{user, local(to), fault})
}

// maxTo bounds the URL that is gone back to after a login: it stands in a URL itself.
const maxTo = 4000

// page gives the URL of the page that a request is about, to go back to it after a
// login: what a form sends has none of its own, so it is the page that the form stands
// on, as it was filled in.
func page(r *http.Request) string {
	switch path := r.URL.Path; {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return r.URL.RequestURI()
	case path == "/act", path == "/targets/act":
		if r.ParseForm() != nil {
			return "/"
		}
		form := maps.Clone(r.PostForm)
		form.Del("force") // whoever comes back is asked anew
		if to := path + "?" + form.Encode(); len(to) <= maxTo {
			return to
		}
		return "/"
	case strings.HasPrefix(path, "/probe/"):
		return "/sites/" + strings.TrimPrefix(r.URL.EscapedPath(), "/probe/")
	case strings.HasPrefix(path, "/alerts/"):
		return "/alerts"
	default:
		return r.URL.EscapedPath()
	}
}

// login lets somebody in and goes to the page that they came for.
func (h *Handler) login(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return &api.Problem{Status: http.StatusBadRequest, Title: "Bad Request", Detail: "the form cannot be read"}
	}
	user, to := v.r.PostForm.Get("user"), local(v.r.PostForm.Get("to"))
	_, err := h.Entrance.Enter(v.w, v.r, user, v.r.PostForm.Get("password"))
	if p, ok := errors.AsType[*api.Problem](err); ok {
		v.status = p.Status
		return h.showLogin(v, user, to, sentence(p.Detail))
	}
	if err != nil {
		return err
	}
	v.redirect(to)
	return nil
}

// logout ends the session.
func (h *Handler) logout(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return &api.Problem{Status: http.StatusBadRequest, Title: "Bad Request", Detail: "the form cannot be read"}
	}
	h.Entrance.Leave(v.w, v.r, v.r.PostForm.Get("everywhere") == "yes")
	v.redirect("/login")
	return nil
}
