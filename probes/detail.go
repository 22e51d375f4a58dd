package probes

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Detail is what one probe has seen on its way to its verdict, for people. What
// the probe has no part in stays empty. All texts are printable.
type Detail struct {
	// Address is what was connected to or sent to, with its port if there is one.
	Address string `json:"address,omitempty"`
	// Steps in the order in which they ended.
	Steps       []Step           `json:"steps,omitempty"`
	Certificate *SeenCertificate `json:"certificate,omitempty"`
	HTTP        *SeenHTTP        `json:"http,omitempty"`
	DNS         *SeenDNS         `json:"dns,omitempty"`
	Echoes      []SeenEcho       `json:"echoes,omitempty"`
	// EchoesSent is how many were asked for. A probe that is observed waits for
	// all of them, where others are content with the first.
	EchoesSent int          `json:"echoes_sent,omitempty"`
	Command    *SeenCommand `json:"command,omitempty"`
}

// Step is one step of a probe: "connect", "tls", "first_byte" (from the request
// to the response's header), "body", "udp" and "tcp" (a question of DNS and its
// answer).
type Step struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took_ns"`
	// Error is empty for a step that was done.
	Error string `json:"error,omitempty"`
}

// SeenCertificate is the certificate that the other side has shown.
type SeenCertificate struct {
	Subject     string    `json:"subject"`
	Issuer      string    `json:"issuer"`
	Names       []string  `json:"names,omitempty"` // DNS names and addresses
	NotBefore   time.Time `json:"not_before"`
	NotAfter    time.Time `json:"not_after"`
	Fingerprint string    `json:"fingerprint"` // "sha256:" and hexadecimal digits
	Version     string    `json:"version"`     // of TLS
}

// SeenHTTP is the last response.
type SeenHTTP struct {
	Status string `json:"status"`
	// Body is the beginning of it, as text on one line.
	Body string `json:"body,omitempty"`
}

// SeenDNS is a DNS response.
type SeenDNS struct {
	Rcode         string   `json:"rcode"`
	Authoritative bool     `json:"authoritative"`
	Truncated     bool     `json:"truncated"`
	Answer        []string `json:"answer,omitempty"` // records, at most 20
}

// SeenEcho is one answer to an echo request.
type SeenEcho struct {
	Sequence int           `json:"sequence"`
	RTT      time.Duration `json:"rtt_ns"`
	TTL      int           `json:"ttl,omitempty"`
}

// SeenCommand is what came of a command.
type SeenCommand struct {
	Status string `json:"status"`
	Output string `json:"output,omitempty"`
}

// Observer collects the detail of one probe; see [Observe].
type Observer struct {
	mu     sync.Mutex
	detail Detail
}

type observerKey struct{}

// Observe gives a context for one call of [Prober.Probe], and an observer that
// knows the detail of it afterwards. Probes that nobody observes spend nothing
// on it.
func Observe(ctx context.Context) (context.Context, *Observer) {
	o := new(Observer)
	return context.WithValue(ctx, observerKey{}, o), o
}

// Detail gives what was seen until now.
func (o *Observer) Detail() Detail {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.detail
	d.Steps, d.Echoes = slices.Clone(d.Steps), slices.Clone(d.Echoes)
	return d
}

// watch gives the observer of a probe, nil if there is none. All methods below
// do nothing for nil.
func watch(ctx context.Context) *Observer {
	o, _ := ctx.Value(observerKey{}).(*Observer)
	return o
}

// note changes the detail.
func (o *Observer) note(f func(*Detail)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.detail)
}

// begin begins a step; its end method ends it.
func (o *Observer) begin(name string) running {
	if o == nil {
		return running{}
	}
	return running{o, name, time.Now()}
}

type running struct {
	to    *Observer
	name  string
	start time.Time
}

func (r running) end(err error) {
	if r.to == nil {
		return
	}
	s := Step{Name: r.name, Took: time.Since(r.start)}
	if err != nil {
		s.Error = printable(err.Error(), maxLine)
	}
	r.to.note(func(d *Detail) { d.Steps = append(d.Steps, s) })
}

// connect begins the step of connecting to an address.
func (o *Observer) connect(to netip.AddrPort) running {
	o.address(to)
	return o.begin("connect")
}

func (o *Observer) address(to netip.AddrPort) {
	if o == nil {
		return
	}
	o.note(func(d *Detail) { d.Address = to.String() })
}

func (o *Observer) certificate(cs *tls.ConnectionState, leaf *x509.Certificate) {
	if o == nil {
		return
	}
	sum := sha256.Sum256(leaf.Raw)
	c := &SeenCertificate{
		Subject: printable(leaf.Subject.String(), maxLine), Issuer: printable(leaf.Issuer.String(), maxLine),
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		Fingerprint: "sha256:" + hex.EncodeToString(sum[:]), Version: tls.VersionName(cs.Version),
	}
	const most = 100
	for _, name := range leaf.DNSNames[:min(most, len(leaf.DNSNames))] {
		c.Names = append(c.Names, printable(name, maxLine))
	}
	for _, ip := range leaf.IPAddresses[:min(most, len(leaf.IPAddresses))] {
		c.Names = append(c.Names, ip.String())
	}
	o.note(func(d *Detail) { d.Certificate = c })
}

func (o *Observer) response(r *http.Response) {
	if o == nil {
		return
	}
	o.note(func(d *Detail) { d.HTTP = &SeenHTTP{Status: printable(r.Proto+" "+r.Status, maxLine)} })
}

// trace has the first octet of each response to a request of the context seen.
func (o *Observer) trace(ctx context.Context) context.Context {
	if o == nil {
		return ctx
	}
	var mu sync.Mutex // a server may answer while it is still written to
	var step running  // of the requests, which follow each other
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) {
			mu.Lock()
			defer mu.Unlock()
			step = o.begin("first_byte")
		},
		GotFirstResponseByte: func() {
			mu.Lock()
			defer mu.Unlock()
			step.end(nil)
		},
	})
}

// readBody reads what comes first of a body, and gives it back to be judged. A page
// that quotes the headers that it was sent is noted without their values, which may be
// secret.
func (o *Observer) readBody(r io.Reader, sent map[string]string) []byte {
	if o == nil {
		return nil
	}
	beginning := make([]byte, 1024)
	n, _ := r.Read(beginning) // the next read gives the error again
	beginning = beginning[:n]
	o.note(func(d *Detail) {
		if d.HTTP != nil {
			d.HTTP.Body = printable(unquoted(string(beginning), sent), maxLine)
		}
	})
	return beginning
}

// unquoted gives a text without the values of headers, or the last words of them.
func unquoted(text string, headers map[string]string) string {
	const short = 7 // of a value that says nothing
	var secrets []string
	for _, value := range headers {
		_, credentials, _ := strings.Cut(value, " ")
		for _, secret := range []string{value, credentials} {
			if len(secret) > short {
				secrets = append(secrets, secret)
			}
		}
	}
	// One that begins with another goes whole.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, "<secret>")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (o *Observer) message(m *dns.Msg) {
	if o == nil {
		return
	}
	const most = 20
	s := &SeenDNS{Rcode: rcodeName(m.Rcode), Authoritative: m.Authoritative, Truncated: m.Truncated}
	for _, rr := range m.Answer[:min(most, len(m.Answer))] {
		s.Answer = append(s.Answer, printable(strings.ReplaceAll(rr.String(), "\t", " "), maxLine))
	}
	o.note(func(d *Detail) { d.DNS = s })
}

func (o *Observer) sent(to netip.Addr, echoes int) {
	if o == nil {
		return
	}
	o.note(func(d *Detail) { d.Address, d.EchoesSent = to.String(), echoes })
}

func (o *Observer) echo(e SeenEcho) {
	if o == nil {
		return
	}
	o.note(func(d *Detail) { d.Echoes = append(d.Echoes, e) })
}

func (o *Observer) command(state *os.ProcessState, output []byte) {
	if o == nil {
		return
	}
	c := &SeenCommand{Status: "not ended", Output: printable(string(output), maxOutput)}
	if state != nil {
		c.Status = state.String()
	}
	o.note(func(d *Detail) { d.Command = c })
}
