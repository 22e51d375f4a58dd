package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// LoginRequest is a name with its password.
type LoginRequest struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// SessionView says who asks.
type SessionView struct {
	// Name is empty for who has not logged in.
	Name string `json:"name"`
	// Role is nobody, viewer, operator or admin.
	Role string `json:"role"`
	// Token: a program's, not a person's.
	Token bool `json:"token"`
	// Expires is when it ends at the latest; left out where nothing ends it.
	Expires time.Time `json:"expires,omitzero"`
}

// Cookies of sessions. The first, which browsers let no other host and no plain
// connection set, is used wherever the client's side is encrypted.
const (
	secureCookie = "__Host-dnsteer"
	plainCookie  = "dnsteer"
)

// cookieName gives the name of the cookie for a caller's way. The base path is in it: of
// several controllers below one name, none takes the session of another away.
func cookieName(c *Caller) string {
	name := plainCookie
	if c.Secure {
		name = secureCookie
	}
	return name + strings.ReplaceAll(c.BasePath, "/", ".")
}

// SessionSecret gives the secret that a browser sent; "" for none.
func SessionSecret(r *http.Request, c *Caller) string {
	if cookie, err := r.Cookie(cookieName(c)); err == nil {
		return cookie.Value
	}
	return ""
}

func setCookie(w http.ResponseWriter, c *Caller, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // plain HTTP is served on loopback alone
		Name: cookieName(c), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: c.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// Enter logs a user in and sets the cookie of the session. The error is a
// [*Problem].
func (h *Handler) Enter(w http.ResponseWriter, r *http.Request, user, password string) (auth.Caller, error) {
	c := CallerOf(r.Context())
	if h.Gate == nil || c.Local {
		return auth.Caller{}, problem(http.StatusConflict, "there is no login here: who may connect to the socket may do everything")
	}
	secret, in, err := h.Gate.Login(r.Context(), user, password, c.Source)
	switch wait, slow := errors.AsType[*auth.WaitError](err); {
	case slow:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.For.Seconds()))))
		return in, problem(http.StatusTooManyRequests, "%v", err)
	case errors.Is(err, auth.ErrBusy):
		return in, problem(http.StatusServiceUnavailable, "%v", err)
	case errors.Is(err, auth.ErrWrong):
		h.Log.Warn("a login failed", "from", c.Source)
		return in, problem(http.StatusUnauthorized, "%v", err)
	case err != nil:
		return in, ProblemOf(err)
	}
	// Another session that the browser had has no use any more.
	h.Gate.Logout(c.Login, false)
	setCookie(w, c, secret, int(auth.SessionTime/time.Second))
	h.Log.Info("logged in", "user", in.Name, "from", c.Source)
	return in, nil
}

// HasUsers says whether anybody can log in.
func (h *Handler) HasUsers() bool { return h.Gate != nil && h.Gate.HasUsers() }

// Leave logs out, with everywhere on all machines.
func (h *Handler) Leave(w http.ResponseWriter, r *http.Request, everywhere bool) {
	c := CallerOf(r.Context())
	if h.Gate == nil || c.Local {
		return
	}
	h.Gate.Logout(c.Login, everywhere)
	setCookie(w, c, "", -1)
}

func (h *Handler) login(w http.ResponseWriter, r *http.Request) error {
	body, err := jsonBody(r)
	if err != nil {
		return err
	}
	var in LoginRequest
	if err := decode(body, "login", &in); err != nil {
		return err
	}
	if in.User == "" || in.Password == "" {
		return problem(http.StatusBadRequest, `expected {"user": "…", "password": "…"}`)
	}
	who, err := h.Enter(w, r, in.User, in.Password)
	if err != nil {
		return err
	}
	writeJSON(w, SessionView{Name: who.Name, Role: who.Role.String(), Expires: who.Expires})
	return nil
}

func (h *Handler) logout(w http.ResponseWriter, r *http.Request) error {
	v, err := parameters(r.URL, "everywhere")
	if err != nil {
		return err
	}
	everywhere := false
	if text := v.Get("everywhere"); text != "" {
		if everywhere, err = strconv.ParseBool(text); err != nil {
			return problem(http.StatusBadRequest, "everywhere: %q is neither true nor false", text)
		}
	}
	h.Leave(w, r, everywhere)
	writeJSON(w, SessionView{Role: auth.Nobody.String()})
	return nil
}

func (h *Handler) session(w http.ResponseWriter, r *http.Request) error {
	c := CallerOf(r.Context())
	writeJSON(w, SessionView{Name: c.Name, Role: c.Role.String(), Token: c.Login.Token, Expires: c.Login.Expires})
	return nil
}

// challenge is what a client is told that must say who it is.
func challenge(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q", "dnsteer"))
}
