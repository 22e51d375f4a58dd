package adguard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

const (
	// requestTime bounds one request, loginTime one log-in: a small board takes
	// seconds for the password.
	requestTime = 5 * time.Second
	loginTime   = 15 * time.Second
	// idleTime is less than that after which the server closes a connection: a
	// write is not sent into one that is being closed.
	idleTime = 20 * time.Second
	// answerLimit bounds an answer: some 200,000 rewrites.
	answerLimit = 16 << 20

	sessionCookie = "agh_session"
	jsonType      = "application/json"
)

// client sends one request after another. It follows no redirect, logs in when
// it is asked to and keeps the cookie.
type client struct {
	base     string // without the final slash
	username string
	password providers.Secret
	http     *http.Client
	cookie   string // "" when not logged in
}

func newClient(cfg Config) (*client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the URL of AdGuard Home must begin with http:// or https:// and name a host")
	}
	conf, err := cfg.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("TLS of %s: %w", u.Host, err)
	}
	return &client{
		base:     u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"),
		username: cfg.Username,
		password: cfg.Password,
		http: &http.Client{
			// No proxy of the environment is told the password.
			Transport:     &http.Transport{DialContext: cfg.Guard.Dial, TLSClientConfig: conf, MaxConnsPerHost: 1, IdleConnTimeout: idleTime, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// answer is what came back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
	// sent are the secrets that it was sent, which it may quote.
	sent []providers.Secret
}

// do sends a request to a path below /control and gives the answer to it. Body
// is encoded as JSON; nil is none. A session that has ended is begun again, once.
func (c *client) do(ctx context.Context, method, path string, body any) (answer, error) {
	a, err := c.send(ctx, method, path, body)
	if err != nil || !a.unknown() {
		return a, err
	}
	if c.username == "" {
		return a, denied("%s %s: the server wants a user and a password, and none is configured", method, path)
	}
	// Nothing was done. A cookie that is no good any more would have every other
	// way of logging in refused.
	if err := c.login(ctx); err != nil {
		return answer{}, err
	}
	if a, err = c.send(ctx, method, path, body); err == nil && a.unknown() {
		c.cookie = ""
		err = denied("%s %s: the server lets the user log in and takes its session for nothing (%d): is there a proxy that removes cookies?", method, path, a.status)
	}
	return a, err
}

// unknown says that the server does not know who asks. Until v0.107.64 it said
// so by 403.
func (a answer) unknown() bool {
	return a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
}

func denied(format string, args ...any) error {
	return &providers.Error{Class: providers.Denied, Err: fmt.Errorf(format, args...)}
}

// login logs in, once.
func (c *client) login(ctx context.Context) error {
	c.cookie = ""
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	a, err := c.exchange(ctx, http.MethodPost, "/login", map[string]string{"name": c.username, "password": c.password.Reveal()})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	switch a.status {
	case http.StatusOK:
	case http.StatusTooManyRequests:
		return &providers.Error{Class: providers.Denied, After: a.after(), Err: fmt.Errorf("log in as %s: too many wrong tries from this address, the server lets nobody log in from here for %s", c.username, a.after())}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusBadRequest:
		if !strings.Contains(a.text(), "username") {
			return denied("log in as %s: the server does not take the user and the password, or the path in the URL is wrong (%d %s)", c.username, a.status, a.text())
		}
		return denied("log in as %s: the server does not take the user and the password", c.username)
	default:
		return fmt.Errorf("log in: %w", a.fault())
	}
	for _, line := range a.header.Values("Set-Cookie") {
		if k, err := http.ParseSetCookie(line); err == nil && k.Name == sessionCookie && k.Value != "" {
			c.cookie = k.Value
			return nil
		}
	}
	return permanent("log in: the answer has no session; is %s an AdGuard Home?", c.base)
}

// logout ends the session at the server, if it can be reached at once.
func (c *client) logout(ctx context.Context) {
	if c.cookie == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, _ = c.exchange(ctx, http.MethodGet, "/logout", nil) // it ends by itself otherwise, after a month
	c.cookie = ""
}

func (c *client) send(ctx context.Context, method, path string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	a, err := c.exchange(ctx, method, path, body)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return a, nil
}

func (c *client) exchange(ctx context.Context, method, path string, body any) (answer, error) {
	var from io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{}, fmt.Errorf("encode the request: %w", err)
		}
		from = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/control"+path, from)
	if err != nil {
		return answer{}, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		// A parameter behind it, and a type without a body, are refused.
		req.Header.Set("Content-Type", jsonType)
	}
	if c.cookie != "" {
		req.Header.Set("Cookie", sessionCookie+"="+c.cookie)
	}
	sent := []providers.Secret{c.password, providers.Secret(c.cookie)}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, providers.HideIn(sendError(err), sent...) // a line that is no HTTP is quoted in it
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(data) > answerLimit {
		return answer{}, permanent("the answer is larger than %d MiB", answerLimit>>20)
	}
	return answer{resp.StatusCode, resp.Header, data, sent}, nil
}

// sendError takes the URL out of an error, and says of which class it is.
func sendError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if _, ok := errors.AsType[*providers.PinError](err); ok {
		return &providers.Error{Class: providers.Permanent, Err: err}
	}
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return permanent("the server does not speak TLS there: the URL must begin with http://")
	}
	return err
}

func permanent(format string, args ...any) error {
	return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf(format, args...)}
}

// after is how long the server wants to be left alone; 0 if it does not say.
func (a answer) after() time.Duration {
	n, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 86400)) * time.Second
}

// text is what the answer says, for people.
func (a answer) text() string {
	const shown, looked = 160, 4096
	said := providers.Hide(string(a.body[:min(len(a.body), looked)]), a.sent...)
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(said[:min(len(said), shown)], "?"))
	return strings.TrimSpace(s)
}

// isJSON says what is wrong with an answer that must be JSON.
func (a answer) isJSON() error {
	if err := a.fault(); err != nil {
		return err
	}
	if of, _, err := mime.ParseMediaType(a.header.Get("Content-Type")); err != nil || of != jsonType {
		return permanent("the answer is %q in place of %s: something that stands before the server answers for it (a log-in page, an error page), or the path in the URL is wrong", providers.Hide(a.header.Get("Content-Type"), a.sent...), jsonType)
	}
	return nil
}

// json decodes an answer that must be JSON.
func (a answer) json(into any) error {
	if err := a.isJSON(); err != nil {
		return err
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// fault says what is wrong with an answer; nil for 200.
func (a answer) fault() error {
	to := providers.Hide(a.header.Get("Location"), a.sent...)
	switch {
	case a.status == http.StatusOK:
		return nil
	case a.status >= 300 && a.status < 400 && strings.HasSuffix(to, "/install.html"):
		return permanent("it is not set up yet: open it in a browser and go through its first steps")
	case a.status >= 300 && a.status < 400 && strings.HasPrefix(to, "https:"):
		return permanent("it sends every request to HTTPS: the URL must begin with https:// (it sends to %q)", to)
	case a.status >= 300 && a.status < 400:
		return permanent("it sends to %q (%d), which is not followed: the URL must be that of the server itself", to, a.status)
	case a.status == http.StatusNotFound:
		return permanent("404: there is no AdGuard Home under this path, or its version is older than v0.107.33")
	case a.status == http.StatusBadRequest && a.text() == "target rule not found":
		return &providers.Error{Class: providers.Changed, Err: errors.New("the rewrite that was to be changed is not there any more")}
	case a.status == http.StatusInternalServerError || a.status == http.StatusInsufficientStorage:
		return &providers.Error{Class: providers.Declined, After: a.after(), Err: fmt.Errorf("the server answers %d %s", a.status, a.text())}
	case a.status == http.StatusTooManyRequests || a.status >= 500:
		return &providers.Error{Class: providers.Transient, After: a.after(), Err: fmt.Errorf("the server answers %d %s", a.status, a.text())}
	default:
		return permanent("the server answers %d %s", a.status, a.text())
	}
}
