package api

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// Caller is who asks, and by which way. The zero Caller is nobody.
type Caller struct {
	// Name stands with commands; "" for who comes by the socket, and for who
	// need not log in.
	Name string
	Role auth.Role
	// Login is who was let in; the zero value for others.
	Login auth.Caller
	// Local: by the socket in the state folder.
	Local bool
	// Source is the client's address, behind trusted proxies.
	Source netip.Addr
	// Secure: the client's side is encrypted. BasePath stands before every path
	// of its URLs: "" or "/x".
	Secure   bool
	BasePath string
	// Holds says whether the caller may still do what they were let in for, and
	// Changed is closed when that may have changed. Nil means for ever.
	Holds   func() bool
	Changed func() <-chan struct{}
}

// holds says whether a caller is still who they were.
func (c *Caller) holds() bool { return c.Holds == nil || c.Holds() }

// changed gives a channel that is closed when it is worth asking holds.
func (c *Caller) changed() <-chan struct{} {
	if c.Changed == nil {
		return nil
	}
	return c.Changed()
}

type callerKey struct{}

// WithCaller says who asks.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf gives who asks; nobody where nothing was said of it.
func CallerOf(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return &Caller{}
}

// Socket gives the handlers for those who come by the socket in the state
// folder: its permissions are the login, so they may do everything.
func (h *Handler) Socket() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(WithCaller(r.Context(), &Caller{Role: auth.Admin, Local: true})))
	})
}

// anybody may ask for what says nothing of the sites: whether it lives, and to be
// let in.
const anybody = auth.Nobody

// roles is who may ask for what, by the pattern of its route. A route that is
// missing is the admins'; a test names it.
var roles = map[string]auth.Role{
	"GET /-/healthy":           anybody,
	"GET /-/ready":             anybody,
	"POST /-/reload":           auth.Admin,
	"POST /api/v1/login":       anybody,
	"POST /api/v1/logout":      anybody,
	"GET /api/v1/session":      anybody,
	"GET /api/v1/openapi.json": anybody,
	// Its login is the node's token.
	"POST /api/v1/heartbeat/{site}/{node}": anybody,

	"GET /api/v1/status":                auth.Viewer,
	"GET /api/v1/explain":               auth.Viewer,
	"GET /api/v1/events":                auth.Viewer,
	"GET /api/v1/events/stream":         auth.Viewer,
	"GET /api/v1/history/{site}":        auth.Viewer,
	"GET /api/v1/history/{site}/{node}": auth.Viewer,

	"POST /api/v1/commands": auth.Operator,
	// It shows what nodes answer, which may be more than a viewer should see.
	"POST /api/v1/probe/{site}/{node}": auth.Operator,

	"GET /api/v1/targets": auth.Viewer,
	// It asks the targets.
	"GET /api/v1/targets/plan":                auth.Operator,
	"POST /api/v1/targets/{name}":             auth.Admin,
	"GET /api/v1/targets/{name}/certificates": auth.Operator,

	"GET /api/v1/alerts": auth.Viewer,
	// It sends messages.
	"POST /api/v1/alerts/test": auth.Operator,

	// It shows the configuration, and what the program does.
	"GET /api/v1/support": auth.Admin,

	"POST /api/v1/reload": auth.Admin,
}

// allowed says why a caller may not ask for a route; nil when they may.
func allowed(pattern string, c *Caller) error {
	need, known := roles[pattern]
	if !known {
		need = auth.Admin
	}
	switch {
	case c.Role >= need:
		return nil
	case c.Role == auth.Nobody:
		return problem(http.StatusUnauthorized, "log in first: POST /api/v1/login, or send a token as Authorization: Bearer TOKEN")
	default:
		return problem(http.StatusForbidden, "%s has the role %s, and this takes %s", named(c), c.Role, need)
	}
}

func named(c *Caller) string {
	if c.Name == "" {
		return "who has not logged in"
	}
	return c.Name
}
