package httpd

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

// state is a configuration in place.
type state struct {
	cfg *config.HTTP
	// hosts are the names by which may be asked.
	hosts map[string]bool
}

// newState collects the names: those of the configuration, localhost and the
// addresses themselves.
func newState(cfg *config.HTTP) *state {
	s := &state{cfg: cfg, hosts: map[string]bool{"localhost": true}}
	for _, name := range cfg.Hosts {
		s.hosts[strings.TrimSuffix(strings.ToLower(name), ".")] = true
	}
	return s
}

// known says whether a Host header names this server: a name of the list, with
// "*." in front for one label, or an address, which no DNS can have turned to us.
func (s *state) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	if s.hosts[name] {
		return true
	}
	_, above, ok := strings.Cut(name, ".")
	return ok && s.hosts["*."+above]
}

// unnamed says whether a request names no host because it need not (HTTP/1.0): balancers
// and monitors ask so, and no browser does.
func unnamed(r *http.Request) bool { return r.Host == "" && !r.ProtoAtLeast(1, 1) }

// guard says who asks and keeps out what nobody of ours has sent.
type guard struct {
	gate  *auth.Gate
	log   *slog.Logger
	state atomic.Pointer[state]
	cross http.CrossOriginProtection
}

// policy of a page: nothing but our own files, no script or style in the page
// itself, in nobody's frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers are those of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store") // pages that may be kept say so themselves
}

// wrap puts the guard before a handler.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := g.state.Load()
		c := g.caller(s, r)
		headers(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, api.MaxBody)
		if !s.known(r.Host) && !unnamed(r) {
			refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("this server is not known as %q: ask for it by its address, or name it in http.hosts", clip(r.Host)))
			return
		}
		if err := g.cross.Check(r); err != nil {
			refuse(w, r, http.StatusForbidden, "a page of another site has sent this request")
			return
		}
		if refused := g.identify(s, c, r); refused != "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="dnsteer", error="invalid_token"`)
			api.Fail(w, http.StatusUnauthorized, "%s", refused)
			return
		}
		if base := s.cfg.BasePath; base != "" {
			r2, ok := below(r, base)
			if !ok {
				refuse(w, r, http.StatusNotFound, fmt.Sprintf("there is nothing at %s: everything stands below %s/", clip(r.URL.Path), base))
				return
			}
			r = r2
			if to := clean(r.URL); to != "" { // the routes would lead to it without the base
				http.Redirect(w, r, base+to, http.StatusTemporaryRedirect) //nolint:gosec // it is a path of ours: the base stands before it
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), c)))
	})
}

// below gives a request as it would be without the base path.
func below(r *http.Request, base string) (*http.Request, bool) {
	rest, ok := strings.CutPrefix(r.URL.Path, base)
	if !ok || rest != "" && rest[0] != '/' {
		return nil, false
	}
	u := *r.URL
	u.Path = rest
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawPath = strings.TrimPrefix(u.RawPath, base)
	out := *r
	out.URL = &u
	return &out, true
}

// clean gives the URL that means the same as one with a slash or a dot too many; "" for
// one that has none.
func clean(u *url.URL) string {
	was := u.EscapedPath()
	to := path.Clean(was)
	if strings.TrimSuffix(was, "/") == strings.TrimSuffix(to, "/") {
		return ""
	}
	if u.RawQuery != "" {
		to += "?" + u.RawQuery
	}
	return to
}

// clip bounds what is said again to who has sent it.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// caller says from where a request comes.
func (g *guard) caller(s *state, r *http.Request) *api.Caller {
	c := &api.Caller{Secure: r.TLS != nil, BasePath: s.cfg.BasePath}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.Source = ap.Addr().Unmap().WithZone("")
	}
	if !trusted(s.cfg.Proxies, c.Source) {
		return c
	}
	c.Secure = c.Secure || r.Header.Get("X-Forwarded-Proto") == "https"
	// From the nearest to the farthest, as long as they are ours.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, ok := hopOf(strings.TrimSpace(hop))
		if !ok {
			break
		}
		c.Source = addr.Unmap().WithZone("")
		if !trusted(s.cfg.Proxies, c.Source) {
			break
		}
	}
	return c
}

// hopOf reads an address of X-Forwarded-For: some proxies write its port too, or put IPv6
// into brackets.
func hopOf(text string) (netip.Addr, bool) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr(), true
	}
	if inside, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inside, "]")
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}

func trusted(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// proxied says whether a request came by a proxy, whose clients may be anybody. Each says
// so in headers of its own, of which one is enough.
func proxied(r *http.Request) bool {
	for name := range r.Header {
		if name == "Forwarded" || name == "X-Real-Ip" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// identify says who asks: by a token, which counts alone, by a session, or as
// one who need not log in. The result is why a token is refused. A token for the
// metrics makes nobody of who has it; the metrics look at it themselves.
func (g *guard) identify(s *state, c *api.Caller, r *http.Request) (refused string) {
	c.Changed = g.gate.Changed
	if strings.HasPrefix(strings.TrimPrefix(r.URL.Path, s.cfg.BasePath), api.HeartbeatPath) {
		return "" // a node's token is for the one route, which looks at it itself
	}
	if header := r.Header.Get("Authorization"); header != "" {
		secret, ok := bearerOf(header)
		if !ok {
			return "expected Authorization: Bearer TOKEN"
		}
		if s.cfg.Metrics != nil && s.cfg.Metrics.Is(secret) {
			return ""
		}
		in, ok := g.gate.Token(secret)
		if !ok {
			g.log.Warn("a token was refused", "from", c.Source)
			return "this token is not known, or has ended"
		}
		g.letIn(c, &in)
		return ""
	}
	if secret := api.SessionSecret(r, c); secret != "" {
		if in, ok := g.gate.Session(secret); ok {
			g.letIn(c, &in)
			return ""
		}
	}
	if s.cfg.WithoutLogin != auth.Nobody && !proxied(r) && onLoopback(r) {
		c.Role = s.cfg.WithoutLogin
		role := c.Role
		c.Holds = func() bool { return g.state.Load().cfg.WithoutLogin >= role }
	}
	return ""
}

func (g *guard) letIn(c *api.Caller, in *auth.Caller) {
	c.Name, c.Role, c.Login = in.Name, in.Role, *in
	held := *in
	c.Holds = func() bool { return g.gate.Holds(held) }
}

// onLoopback says whether a request's connection comes from this machine, to an
// address that only this machine reaches.
func onLoopback(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(to.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// bearerOf gives the token of an Authorization header.
func bearerOf(header string) (string, bool) {
	scheme, secret, ok := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != ""
}
