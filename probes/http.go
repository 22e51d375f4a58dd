package probes

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// HTTP asks for a page over http or https. The connection always goes to the
// probed address, whatever host the URL names; no proxy of the environment is
// used, no cookie is kept, and every probe is a connection of its own.
type HTTP struct {
	// URL; "{address}" in it becomes the probed address, in brackets where it
	// is IPv6.
	URL string
	// Method; "" means GET.
	Method string
	// Headers are sent as they are.
	Headers map[string]string
	// Host is the virtual host: the Host header, and the name that TLS asks for
	// and verifies. "" means that of the URL.
	Host string
	// Status lists what counts as success; nil means 200 to 399.
	Status []StatusRange
	// Body must occur in the first 64 KiB of the (decompressed) body; "" reads
	// none of it.
	Body string
	// Redirects is how many are followed, to the same host only. 0 follows
	// none: the redirect's own status is judged.
	Redirects int
	// Verify says how the certificate is judged; "" means VerifyOff where the
	// URL has "{address}" and there is no Host, VerifyName otherwise. Whatever
	// it is, a certificate's expiry is reported in the check's text.
	Verify Verify
	// Fingerprint is the SHA-256 of the certificate in hexadecimal, with or
	// without "sha256:" and colons, for VerifyFingerprint.
	Fingerprint string
	// Roots are the authorities that are trusted; nil means the system's.
	Roots *x509.CertPool
}

// StatusRange is a range of HTTP status codes, both ends included.
type StatusRange struct{ Low, High int }

// Verify says how an [HTTP] probe judges a certificate.
type Verify string

// The ways of judging a certificate.
const (
	VerifyDefault     Verify = ""
	VerifyName        Verify = "name"        // chain, time and name
	VerifyFingerprint Verify = "fingerprint" // this very certificate
	VerifyOff         Verify = "off"         // any
)

// maxBody is how much of a body, and of the headers, is looked at in octets.
const maxBody = 64 << 10

// Probe implements [Prober].
func (p HTTP) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	cert := &certificate{verify: p.verify(), fingerprint: p.Fingerprint, roots: p.Roots, observer: watch(ctx)}
	c := p.probe(ctx, addr, cert)
	c.Duration, c.Expires = time.Since(start), cert.ends()
	return c
}

func (p HTTP) probe(ctx context.Context, addr netip.Addr, cert *certificate) sites.Check {
	at := newAttempt(ctx, addr)
	req, err := p.request(cert.observer.trace(ctx), addr)
	if err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	tr := p.transport(addr, cert)
	defer tr.CloseIdleConnections()
	client := http.Client{Transport: tr, CheckRedirect: p.follow(req.URL.Hostname(), addr)}
	resp, err := client.Do(req)
	if err != nil {
		return p.failed(ctx, at, err)
	}
	defer resp.Body.Close()
	cert.observer.response(resp)
	if !p.accepts(resp.StatusCode) {
		cert.observer.readBody(resp.Body, p.Headers)
		return down(CauseStatus, "status %d", resp.StatusCode)
	}
	step := cert.observer.begin("body")
	beginning := cert.observer.readBody(resp.Body, p.Headers)
	found, err := contains(io.LimitReader(io.MultiReader(bytes.NewReader(beginning), resp.Body), maxBody), p.Body)
	step.end(err)
	if err != nil {
		return p.failed(ctx, at, err)
	}
	if !found {
		return down(CauseBody, "status %d, but the body does not contain %s", resp.StatusCode, strconv.Quote(p.Body))
	}
	text := fmt.Sprintf("status %d", resp.StatusCode)
	if note := cert.note(time.Now(), nearExpiry); note != "" {
		text += "; " + note
	}
	return up(text)
}

// contains reads until it has seen the text, so that a slow or endless body
// that has it costs no more than that. It reads nothing for an empty text.
func contains(r io.Reader, text string) (bool, error) {
	var seen []byte
	chunk := make([]byte, 4096)
	for text != "" {
		n, err := r.Read(chunk)
		from := max(0, len(seen)-len(text)+1)
		seen = append(seen, chunk[:n]...)
		switch {
		case bytes.Contains(seen[from:], []byte(text)):
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// verify resolves VerifyDefault.
func (p HTTP) verify() Verify {
	switch {
	case p.Verify != VerifyDefault:
		return p.Verify
	case strings.Contains(p.URL, placeholder) && p.Host == "":
		return VerifyOff
	default:
		return VerifyName
	}
}

const placeholder = "{address}"

// request makes the first request. Its URL has the virtual host's name with
// the URL's own port, so that TLS, redirects and the Host header agree on it.
func (p HTTP) request(ctx context.Context, addr netip.Addr) (*http.Request, error) {
	u, err := url.Parse(strings.ReplaceAll(p.URL, placeholder, urlHost(addr)))
	if err != nil {
		return nil, fmt.Errorf("read the url of a probe: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("read the url %q of a probe: want http:// or https:// and a host", p.URL)
	}
	if p.Host != "" {
		port := u.Port()
		u.Host = hostname(p.Host)
		if strings.Contains(u.Host, ":") {
			u.Host = "[" + u.Host + "]"
		}
		if port != "" {
			u.Host += ":" + port
		}
	}
	method := p.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("make the request of a probe: %w", err)
	}
	req.Header.Set("User-Agent", "dnsteer")
	for k, v := range p.Headers {
		req.Header.Set(k, v)
	}
	if p.Host != "" {
		req.Host = p.Host
	}
	return req, nil
}

// urlHost writes an address as the host of a URL.
func urlHost(addr netip.Addr) string {
	if addr.Is4() {
		return addr.String()
	}
	return "[" + strings.ReplaceAll(addr.String(), "%", "%25") + "]"
}

// hostname takes the port off a host, if it has one.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// transport connects to the probed address and to nothing else, once.
func (p HTTP) transport(addr netip.Addr, cert *certificate) *http.Transport {
	dial := func(ctx context.Context, hostport string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(hostport)
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("connect to port %q: %w", port, err)
		}
		d := net.Dialer{KeepAlive: -1}
		to := netip.AddrPortFrom(addr, uint16(n))
		step := cert.observer.connect(to)
		conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, to)
		step.end(err)
		if err != nil {
			return nil, err // not a typed nil
		}
		return conn, nil
	}
	return &http.Transport{
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxBody,
		DialContext: func(ctx context.Context, _, hostport string) (net.Conn, error) {
			return dial(ctx, hostport)
		},
		DialTLSContext: func(ctx context.Context, _, hostport string) (net.Conn, error) {
			conn, err := dial(ctx, hostport)
			if err != nil {
				return nil, err
			}
			return cert.handshake(ctx, conn, hostname(hostport))
		},
	}
}

// redirectError: a redirect that is not followed.
type redirectError struct{ text string }

func (e *redirectError) Error() string { return e.text }

// follow judges redirects: so many, and none that leaves the host.
func (p HTTP) follow(host string, addr netip.Addr) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		switch to := req.URL.Hostname(); {
		case p.Redirects <= 0:
			return http.ErrUseLastResponse
		case len(via) > p.Redirects:
			return &redirectError{fmt.Sprintf("more than %d redirects", p.Redirects)}
		case !strings.EqualFold(to, host) && to != addr.String():
			return &redirectError{fmt.Sprintf("a redirect to another host, %s", strconv.Quote(to))}
		case req.URL.Scheme != "http" && req.URL.Scheme != "https":
			return &redirectError{"a redirect to another protocol, " + strconv.Quote(req.URL.Scheme)}
		}
		return nil
	}
}

func (p HTTP) accepts(status int) bool {
	if len(p.Status) == 0 {
		return 200 <= status && status <= 399
	}
	for _, r := range p.Status {
		if r.Low <= status && status <= r.High {
			return true
		}
	}
	return false
}

// failed gives the check of a request that brought no response.
func (p HTTP) failed(ctx context.Context, at attempt, err error) sites.Check {
	if e, ok := errors.AsType[*redirectError](err); ok {
		return down(CauseRedirect, "%s", e.text)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the URL may hold a secret
	}
	c := at.handshakeFailed(ctx, err)
	if c.Cause != string(CauseFailed) {
		return c
	}
	return down(CauseProtocol, "no HTTP response: %s", c.Text)
}
