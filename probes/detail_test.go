package probes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// observe probes once and gives what was seen.
func observe(t *testing.T, p Prober, timeout time.Duration) (sites.Check, Detail) {
	t.Helper()
	ctx, o := Observe(t.Context())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c := p.Probe(ctx, netip.MustParseAddr("127.0.0.1"))
	return c, o.Detail()
}

// steps writes the steps without their times, which no test knows.
func steps(d Detail) string {
	var list []string
	for _, s := range d.Steps {
		if s.Error != "" {
			s.Name += " failed"
		}
		list = append(list, s.Name)
	}
	return strings.Join(list, ", ")
}

// People who ask why a probe fails would not be shown how far it has come.
func TestDetailSteps(t *testing.T) {
	const day = 24 * time.Hour
	web := serveHTTP(t, misbehaving())
	ca := newAuthority(t)
	secure := serveTLS(t, ca.sign(t, "app.example.lan", -day, 100*day), nil)
	expired := serveTLS(t, ca.sign(t, "app.example.lan", -9*day, -3*day), nil)
	port := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	right, cut := answered(0, nil, "10.1.0.1"), answered(0, func(m *dns.Msg) { m.Truncated = true })
	closed := dnsServer(t, nil, nil)
	tests := []struct {
		name  string
		probe Prober
		port  int
		want  string
		up    bool
	}{
		{"tcp", TCP{Port: port(web)}, port(web), "connect", true},
		{"tcp, closed", TCP{Port: closed}, closed, "connect failed", false},
		{"http", HTTP{URL: "http://{address}:" + web + "/ok"}, port(web), "connect, first_byte, body", true},
		{"http, wrong status", HTTP{URL: "http://{address}:" + web + "/500"}, port(web), "connect, first_byte", false},
		{"http, text that is there early", HTTP{URL: "http://{address}:" + web + "/early", Body: "well"}, port(web), "connect, first_byte, body", true},
		{"http, redirected", HTTP{URL: "http://{address}:" + web + "/once", Redirects: 1}, port(web), "connect, first_byte, connect, first_byte, body", true},
		{"https", HTTP{URL: "https://{address}:" + secure + "/"}, port(secure), "connect, tls, first_byte, body", true},
		{"https, expired", HTTP{URL: "https://{address}:" + expired + "/", Verify: VerifyName}, port(expired), "connect, tls failed", false},
		{"tls", TLS{Port: port(secure)}, port(secure), "connect, tls", true},
		{"dns", DNS{Name: "a.example.lan", Port: dnsServer(t, []reply{right}, nil)}, 0, "udp", true},
		{"dns, cut", DNS{Name: "a.example.lan", Port: dnsServer(t, []reply{cut}, []reply{right})}, 0, "udp failed, tcp", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, d := observe(t, tt.probe, soon)
			if got := steps(d); got != tt.want || (c.Outcome == sites.Up) != tt.up {
				t.Errorf("got %q, want %q (%+v)", got, tt.want, c)
			}
			if tt.port != 0 && d.Address != fmt.Sprintf("127.0.0.1:%d", tt.port) {
				t.Errorf("address %q", d.Address)
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the other side has said would not be shown, or would be shown so that it
// could write to the terminal as it likes.
func TestDetailContents(t *testing.T) {
	const day = 24 * time.Hour
	web := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(503)
		fmt.Fprint(w, "a\x1b[31m\nb "+strings.Repeat("ü", 300))
	}))
	_, d := observe(t, HTTP{URL: "http://{address}:" + web + "/"}, soon)
	want := &SeenHTTP{Status: "HTTP/1.1 503 Service Unavailable", Body: "a [31m b " + strings.Repeat("ü", maxLine-9) + "…"}
	if diff := cmp.Diff(want, d.HTTP); diff != "" {
		t.Error(diff)
	}

	quoting := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "no: ", r.Header) }))
	_, d = observe(t, HTTP{URL: "http://{address}:" + quoting + "/", Headers: map[string]string{"Authorization": "Bearer of-a-secret"}}, soon)
	if body := d.HTTP.Body; strings.Contains(body, "of-a-secret") || !strings.Contains(body, "Authorization:[<secret>]") {
		t.Errorf("a page that quotes what it was sent is noted as %q", body)
	}

	cert := newAuthority(t).sign(t, "app.example.lan", -9*day, -day)
	port, err := strconv.Atoi(serveTLS(t, cert, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, d = observe(t, TLS{Port: port, Host: "app.example.lan"}, soon)
	if c := d.Certificate; c == nil || c.Subject != "CN=app.example.lan" || c.Issuer != "CN=test authority" ||
		!cmp.Equal(c.Names, []string{"app.example.lan"}) || len(c.Fingerprint) != len("sha256:")+64 ||
		c.NotAfter.After(time.Now()) || c.Version != "TLS 1.3" {
		t.Errorf("a certificate that was refused: %+v", c)
	}

	answer := answered(dns.RcodeSuccess, func(m *dns.Msg) { m.Authoritative = true }, "10.1.0.1")
	_, d = observe(t, DNS{Name: "a.example.lan", Port: dnsServer(t, []reply{answer}, nil)}, soon)
	if diff := cmp.Diff(&SeenDNS{Rcode: "NOERROR", Authoritative: true, Answer: []string{"a.example.lan. 60 IN A 10.1.0.1"}}, d.DNS); diff != "" {
		t.Error(diff)
	}
}

// A machine without buffers would be kept busy by a probe that tries again at
// once and without an end.
func TestICMPWithoutBuffers(t *testing.T) {
	var e echo
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		e.notSent(nil, syscall.EHOSTUNREACH) // the pinger's own business
		returned = true
		e.notSent(nil, syscall.ENOBUFS)
		returned = false
	}()
	<-done
	if !returned || !errors.Is(e.sendErr, syscall.ENOBUFS) {
		t.Errorf("%v, %v", returned, e.sendErr)
	}
}

// Every probe of thousands of nodes would pay for what nobody reads.
func TestDetailCostsNothing(t *testing.T) {
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		o := watch(ctx)
		o.connect(netip.AddrPort{}).end(nil)
		o.certificate(nil, nil)
		o.response(nil)
		o.readBody(nil, nil)
		o.message(nil)
		o.echo(SeenEcho{})
		o.command(nil, nil)
		if o.trace(ctx) != ctx {
			t.Error("another context")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// If this fails, the rest of a secret is shown that begins with another, or a value
// shows by what stands in its place.
func TestUnquotedHeaders(t *testing.T) {
	headers := map[string]string{
		"X-Key": "abcdefgh", "X-Token": "abcdefghijkl", "Authorization": "Bearer ijklmnopq", "X-Short": "gzip", "X-Odd": "<secret>",
	}
	const in, want = "abcdefghijkl, abcdefgh, ijklmnopq, Bearer ijklmnopq, gzip", "<secret>, <secret>, <secret>, <secret>, gzip"
	for range 20 { // in whatever order the headers come
		if got := unquoted(in, headers); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
