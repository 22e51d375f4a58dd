package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// nobodys is the hash of no password: what a login costs that is nobody's, so
// that its time tells nothing.
const nobodys = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Directory is who is known. It is not changed once it was given to a [Gate].
type Directory struct {
	Users  []User
	Tokens []Token
}

// Checks of passwords that run at a time, and how long another waits for its
// turn: what logins may take of a machine that answers DNS.
const (
	checksAtATime = 2
	maxQueue      = 32
)

// maxName bounds the name of a user that is looked up, in bytes.
const maxName = 128

// ErrWrong is the failure of a login, the same for a wrong name and a wrong
// password.
var ErrWrong = errors.New("the name or the password is wrong")

// ErrBusy says that too many log in at once.
var ErrBusy = errors.New("too many log in at once; try again in a moment")

// WaitError says that there were too many failures.
type WaitError struct{ For time.Duration }

func (e *WaitError) Error() string {
	return fmt.Sprintf("too many failed logins; try again in %s. On the machine itself the commands work without a login", e.For.Round(time.Second))
}

// Caller is who was let in.
type Caller struct {
	// Name of the user or of the token.
	Name string
	Role Role
	// Token: it is a program's. Expires is when it ends; zero for never, or for
	// what idleness ends.
	Token   bool
	Expires time.Time

	session string // key
	hash    SecretHash
}

// Options of a gate.
type Options struct {
	// Now is the wall clock.
	Now func() time.Time
	// Stored are the sessions of the last run, Keep has some stored (nil
	// removes one). It must not block.
	Stored map[string][]byte
	Keep   func(map[string][]byte)
}

// Gate lets people and programs in. It may be used by several goroutines.
type Gate struct {
	now      func() time.Time
	checks   chan struct{}
	queue    chan struct{}
	limits   *limiter
	sessions sessions
	dummy    PasswordHash

	mu      sync.Mutex
	dir     Directory
	changed chan struct{}
	// known has who logged in from where: an attack from elsewhere on a name
	// does not keep its owner out.
	known map[string]time.Time
}

// NewGate makes a gate that knows nobody yet; see [Gate.Use].
func NewGate(opt Options) *Gate {
	dummy, err := ParsePasswordHash(nobodys)
	if err != nil {
		panic(fmt.Sprintf("auth: a hash of our own cannot be read: %v", err))
	}
	g := &Gate{
		now: opt.Now, checks: make(chan struct{}, checksAtATime), queue: make(chan struct{}, maxQueue),
		limits: newLimiter(), dummy: dummy, changed: make(chan struct{}), known: make(map[string]time.Time),
		sessions: sessions{byKey: make(map[string]*Session), keep: opt.Keep},
	}
	g.sessions.restore(opt.Stored, g.now())
	return g
}

// Use says who is known from now on. Sessions of users who have left, or whose
// password is another, end.
func (g *Gate) Use(d Directory) {
	g.mu.Lock()
	g.dir = d
	g.mu.Unlock()
	g.sessions.end(func(s *Session) bool {
		u := d.user(s.User)
		return u == nil || proof(&u.Password) != s.Proof
	})
	g.announce()
}

// HasUsers says whether there is anybody who can log in with a password.
func (g *Gate) HasUsers() bool {
	dir := g.directory()
	return len(dir.Users) > 0
}

func (g *Gate) directory() Directory {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dir
}

func (d *Directory) user(name string) *User {
	for i := range d.Users {
		if d.Users[i].Name == name {
			return &d.Users[i]
		}
	}
	return nil
}

// announce tells those who hold a [Caller] to look whether it still holds.
func (g *Gate) announce() {
	g.mu.Lock()
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
}

// Changed is closed when somebody may have been shut out.
func (g *Gate) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// Login lets a user in and gives the secret of a session. The error is
// [ErrWrong], [ErrBusy], a [*WaitError] or ctx's.
func (g *Gate) Login(ctx context.Context, name, password string, source netip.Addr) (string, Caller, error) {
	from := sourceOf(source)
	keys := []string{"from " + from}
	if len(name) > maxName {
		name = ""
	}
	if !g.acquainted(name, from) {
		keys = append(keys, "user "+name)
	}
	if d := g.limits.wait(g.now(), keys...); d > 0 {
		return "", Caller{}, &WaitError{d}
	}
	// Counted before it is known: guesses that come at once are counted too.
	g.limits.failed(g.now(), keys...)
	dir := g.directory()
	u := dir.user(name)
	against := &g.dummy
	switch {
	case u != nil:
		against = &u.Password
	case len(dir.Users) > 0: // which may be of another kind
		against = &dir.Users[0].Password
	}
	right, err := g.check(ctx, against, password)
	if err != nil {
		g.limits.spared(keys...)
		return "", Caller{}, err
	}
	if u == nil || !right {
		return "", Caller{}, ErrWrong
	}
	g.limits.succeeded(keys...)
	g.acquaint(name, from)
	now := g.now()
	secret := g.sessions.begin(u, now)
	return secret, Caller{Name: u.Name, Role: u.Role, Expires: now.Add(SessionTime), session: keyOf(secret)}, nil
}

// check verifies a password when its turn comes.
func (g *Gate) check(ctx context.Context, h *PasswordHash, password string) (bool, error) {
	select {
	case g.queue <- struct{}{}:
		defer func() { <-g.queue }()
	default:
		return false, ErrBusy
	}
	select {
	case g.checks <- struct{}{}:
		defer func() { <-g.checks }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return h.verify([]byte(password)), nil
}

// Session gives who a session's secret belongs to. A use keeps it from ending by
// idleness.
func (g *Gate) Session(secret string) (Caller, bool) {
	return g.caller(keyOf(secret), true)
}

func (g *Gate) caller(key string, use bool) (Caller, bool) {
	s := g.sessions.find(key, g.now(), use)
	if s == nil {
		return Caller{}, false
	}
	dir := g.directory()
	u := dir.user(s.User)
	if u == nil || proof(&u.Password) != s.Proof {
		return Caller{}, false
	}
	return Caller{Name: u.Name, Role: u.Role, Expires: s.Begun.Add(SessionTime), session: key}, true
}

// Token gives who a token belongs to.
func (g *Gate) Token(secret string) (Caller, bool) {
	return g.token(HashSecret(secret))
}

func (g *Gate) token(hash SecretHash) (Caller, bool) {
	dir := g.directory()
	for i := range dir.Tokens {
		t := &dir.Tokens[i]
		if t.Hash == hash && (t.Expires.IsZero() || g.now().Before(t.Expires)) {
			return Caller{Name: t.Name, Role: t.Role, Token: true, Expires: t.Expires, hash: hash}, true
		}
	}
	return Caller{}, false
}

// Holds says whether a caller who was let in still is, as who they were. It is
// no use of a session.
func (g *Gate) Holds(c Caller) bool {
	var now Caller
	var ok bool
	switch {
	case c.session != "":
		now, ok = g.caller(c.session, false)
	case c.Token:
		now, ok = g.token(c.hash)
	}
	return ok && now.Role == c.Role && now.Name == c.Name
}

// Logout ends a caller's session, or, with everywhere, all of that user's.
func (g *Gate) Logout(c Caller, everywhere bool) {
	if c.session == "" {
		return
	}
	g.sessions.end(func(s *Session) bool { return s.hashKey == c.session || everywhere && s.User == c.Name })
	g.announce()
}

// knownFor is how long a place stays known from which somebody has logged in.
const knownFor = 30 * 24 * time.Hour

func (g *Gate) acquainted(name, from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.known[name+"\x00"+from]
	return ok && g.now().Sub(at) < knownFor
}

func (g *Gate) acquaint(name, from string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxTracked {
		clear(g.known)
	}
	g.known[name+"\x00"+from] = g.now()
}
