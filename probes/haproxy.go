package probes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// HAProxy reads HAProxy's statistics page. A page that cannot be had is judged
// as by [HTTP]; one that says that no backend is up is down. It gives figures:
// the open sessions of the backends, the bytes that they carry in a second (over
// the last ten: HAProxy counts those of a session that lasts every five seconds,
// and only with `option contstats`), and the load: sessions by what the
// servers, or else the backends, are made for. Create it with [NewHAProxy].
type HAProxy struct {
	page HTTP
	// Backends that are looked at, by name; nil for all that have a server.
	Backends []string
	// Username and Password for the page; "" for none.
	Username string
	Password Token

	// own are the counters where nobody hands on those of the controller.
	own *counters
	// span is the time that a rate is taken over.
	span time.Duration
}

// NewHAProxy makes the probe. Of the page its URL, to which ";csv" is added
// where that is missing, host, and how a certificate is judged count.
func NewHAProxy(page HTTP) *HAProxy {
	if !strings.Contains(page.URL, ";csv") {
		if _, rest, _ := strings.Cut(page.URL, "://"); !strings.Contains(rest, "/") {
			page.URL += "/"
		}
		page.URL += ";csv"
	}
	page.Status, page.Body, page.Redirects = []StatusRange{{200, 200}}, "", 0
	born := time.Now()
	own := newCounters(func() time.Duration { return time.Since(born) })
	return &HAProxy{page: page, own: own, span: rateSpan}
}

// maxStats bounds a page, in octets: that of some ten thousand servers.
const maxStats = 8 << 20

// Probe implements [Prober].
func (p *HAProxy) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	cert := &certificate{verify: p.page.verify(), fingerprint: p.page.Fingerprint, roots: p.page.Roots, observer: watch(ctx)}
	c := p.probe(ctx, addr, cert)
	c.Duration, c.Expires = time.Since(start), cert.ends()
	return c
}

func (p *HAProxy) probe(ctx context.Context, addr netip.Addr, cert *certificate) sites.Check {
	at := newAttempt(ctx, addr)
	req, err := p.page.request(cert.observer.trace(ctx), addr)
	if err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	if p.Username != "" || p.Password != "" {
		req.SetBasicAuth(p.Username, string(p.Password))
	}
	tr := p.page.transport(addr, cert)
	defer tr.CloseIdleConnections()
	client := http.Client{Transport: tr, CheckRedirect: p.page.follow(req.URL.Hostname(), addr)}
	resp, err := client.Do(req)
	if err != nil {
		return p.page.failed(ctx, at, err)
	}
	defer resp.Body.Close()
	cert.observer.response(resp)
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return down(CauseStatus, "status 401: the page wants another username or password")
	case !p.page.accepts(resp.StatusCode):
		return down(CauseStatus, "status %d", resp.StatusCode)
	}
	step := cert.observer.begin("body")
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxStats+1))
	step.end(err)
	if err != nil {
		return p.page.failed(ctx, at, err)
	}
	if len(body) > maxStats {
		return down(CauseProtocol, "the page is larger than %d MiB", maxStats>>20)
	}
	list, err := parseStats(body)
	if err != nil {
		return down(CauseProtocol, "this is no statistics page of HAProxy in CSV: %v", err)
	}
	s := sum(list, p.Backends)
	c := s.check()
	c.Figures = s.figures(p.rate(ctx, addr, s.bytes))
	return c
}

// rate gives the bytes per second that an address has carried lately. [Heartbeats]
// keep what was read before, so that a reload, which makes the probe anew, begins no
// rate anew (A11).
func (p *HAProxy) rate(ctx context.Context, addr netip.Addr, count float64) *float64 {
	c := p.own
	if h, _ := ctx.Value(listenKey{}).(*Heartbeats); h != nil {
		c = h.counters
	}
	what := fmt.Sprintf("%q", append([]string{p.page.URL, p.page.Host, p.Username}, p.Backends...))
	return c.add(counter{what, addr}, count, p.span)
}

// check judges the backends.
func (s *proxyStats) check() sites.Check {
	var rest []string
	if n := len(s.down); n > 0 {
		rest = append(rest, "down: "+few(s.down))
	}
	if n := len(s.missing); n > 0 {
		rest = append(rest, "not there: "+few(s.missing))
	}
	text := strings.Join(rest, "; ")
	of := len(s.up) + len(s.down) + len(s.missing)
	switch {
	case of == 0:
		return down(CauseBackends, "it has no backend with a server")
	case len(s.up) == 0:
		return down(CauseBackends, "none of %d backends is up (%s)", of, text)
	case text == "":
		return up(fmt.Sprintf("%d of %d backends are up", len(s.up), of))
	default:
		return up(fmt.Sprintf("%d of %d backends are up (%s)", len(s.up), of, text))
	}
}

// few names the first of a list.
func few(names []string) string {
	const most = 5
	list := make([]string, 0, most+1)
	for i, name := range names {
		if i == most {
			list = append(list, fmt.Sprintf("and %d others", len(names)-most))
			break
		}
		list = append(list, printable(name, maxLine))
	}
	return strings.Join(list, ", ")
}
