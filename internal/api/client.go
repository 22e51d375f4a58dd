package api

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Limits of the client: how long it waits for an answer, and for one that takes
// as long as probes do; how much it reads.
const (
	clientTime = 20 * time.Second
	probeTime  = 3 * time.Minute
	maxAnswer  = 256 << 20
)

// UnreachableError says that no controller answers, and what can be done.
type UnreachableError struct {
	// Where is the path of a socket, or a URL.
	Where string
	Err   error
}

func (e *UnreachableError) Error() string {
	_, overNetwork, _ := strings.Cut(e.Where, "://")
	_, unknown := errors.AsType[x509.UnknownAuthorityError](e.Err)
	switch {
	case errors.Is(e.Err, errTLS):
		return fmt.Sprintf("%s speaks TLS: the URL must begin with https://", e.Where)
	case e.Err != nil && strings.Contains(e.Err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("%s does not speak TLS: the URL must begin with http://, or http.tls be set in the controller's configuration", e.Where)
	case unknown:
		return fmt.Sprintf("%s: its certificate is of an authority that is not known here: name that with --ca-file", e.Where)
	case overNetwork != "" && errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s: is `http.listen` in the controller's configuration?", e.Where)
	case overNetwork != "":
		return fmt.Sprintf("ask the controller at %s: %v", e.Where, e.Err)
	case errors.Is(e.Err, fs.ErrNotExist) && !isFolder(filepath.Dir(e.Where)):
		return fmt.Sprintf("nothing listens on %s: there is no such folder. If `dnsteer serve` runs with this configuration, its state folder was removed: make it again, empty and for its user, and it listens there within seconds. Otherwise start it, or name its configuration with --config, or its socket with --socket", e.Where)
	case errors.Is(e.Err, fs.ErrNotExist), errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens on %s: is `dnsteer serve` running with this configuration? Name its configuration with --config, or its socket with --socket", e.Where)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("%s: permission denied: be root, the controller's user, or a member of its group", e.Where)
	default:
		return fmt.Sprintf("ask the controller at %s: %v", e.Where, e.Err)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// errTLS: a plain request has met a server of TLS.
var errTLS = errors.New("it speaks TLS")

// Unwrap gives the system's error.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Client asks a running controller, over its socket or the network. Its errors are a
// [*NotFoundError], a [*Problem] with what the controller said, or an
// [*UnreachableError]. It may be used by several goroutines.
type Client struct {
	// where it is, for people; base stands before every path.
	where, base string
	token       string
	http        *http.Client
}

// NewClient makes a client of a socket; nothing is connected before it is used.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Client{where: socket, base: "http://dnsteer", http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true}}}
}

// Close gives up the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status gives everything that is known now.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	return s, c.get(ctx, "/api/v1/status", &s)
}

// Explain says why SITE, SITE/NODE, SITE/POOL or a host name is answered as it
// is.
func (c *Client) Explain(ctx context.Context, what string) (e Explanation, err error) {
	return e, c.get(ctx, "/api/v1/explain?what="+url.QueryEscape(what), &e)
}

// Events gives stored events.
func (c *Client) Events(ctx context.Context, q EventQuery) ([]sites.Event, error) {
	var list EventList
	err := c.get(ctx, "/api/v1/events?"+q.Encode(), &list)
	return list.Events, err
}

// Command carries out a command. A refusal is a reply, not an error.
func (c *Client) Command(ctx context.Context, cmd sites.Command) (sites.Reply, error) {
	body, err := json.Marshal(request(&cmd))
	if err != nil {
		return sites.Reply{}, fmt.Errorf("write the command: %w", err)
	}
	var reply CommandReply
	err = c.do(ctx, http.MethodPost, "/api/v1/commands", body, &reply)
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusConflict {
		return sites.Reply{Refused: true, Text: p.Detail, Forceable: p.Forceable}, nil
	}
	return sites.Reply{Text: reply.Text}, err
}

// Probe runs all probes of a node once, now.
func (c *Client) Probe(ctx context.Context, site, node string) (r ProbeReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	return r, c.ask(ctx, http.MethodPost, "/api/v1/probe/"+url.PathEscape(site)+"/"+url.PathEscape(node), nil, &r)
}

// Reload has the controller read its configuration again. What is wrong with it
// comes as a [*Problem] with the status 422.
func (c *Client) Reload(ctx context.Context) (r ReloadReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	return r, c.ask(ctx, http.MethodPost, "/api/v1/reload", nil, &r)
}

// Healthy gives nil while the controller decides.
func (c *Client) Healthy(ctx context.Context) error {
	return c.get(ctx, "/-/healthy", &Healthful{})
}

// Ready gives nil when everything is ready; a [*Problem] names what is missing.
func (c *Client) Ready(ctx context.Context) error {
	return c.get(ctx, "/-/ready", &Healthful{})
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, nil, into)
}

// do asks, and waits as long as a controller that is well may need.
func (c *Client) do(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, clientTime)
	defer cancel()
	return c.ask(ctx, method, path, body, into)
}

func (c *Client) ask(ctx context.Context, method, path string, body []byte, into any) error {
	res, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into); err != nil {
		return c.unreachable(fmt.Errorf("read the answer: %w", err))
	}
	return nil
}

// send gives an answer that is a success; its body is the caller's to close.
func (c *Client) send(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body)) //nolint:gosec // whatever the path, it goes to the controller
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w", err)
	}
	maps.Copy(req.Header, header)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req) //nolint:gosec // likewise
	if err != nil {
		return nil, c.unreachable(err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	p := &Problem{Title: http.StatusText(res.StatusCode), Status: res.StatusCode}
	said, err := io.ReadAll(io.LimitReader(res.Body, MaxBody))
	if err == nil {
		err = json.Unmarshal(said, p)
	}
	switch {
	case res.StatusCode == http.StatusBadRequest && strings.Contains(string(said), "HTTP request to an HTTPS server"):
		return nil, c.unreachable(errTLS)
	case err != nil:
		return nil, c.unreachable(fmt.Errorf("it answers %s, and not as a controller of this version does", res.Status))
	}
	p.Status = res.StatusCode
	switch {
	case p.Status == http.StatusNotFound:
		return nil, &NotFoundError{Text: p.Detail}
	case p.Status == http.StatusUnauthorized && c.token == "":
		p.Detail += " (no token was sent: give one with --token-file or $DNSTEER_TOKEN)"
	case p.Status == http.StatusUnauthorized:
		p.Detail += " (it came from --token-file or $DNSTEER_TOKEN)"
	}
	return nil, p
}

func (c *Client) unreachable(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it does not answer in time")
	}
	return &UnreachableError{c.where, err}
}
