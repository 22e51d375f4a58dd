// Package rfc2136 pushes records to servers that take dynamic updates (RFC
// 2136): BIND, Knot, PowerDNS, Windows, Technitium.
//
// A change of an RRset is one message, which the server carries out whole or not
// at all, and only while the RRset is as it was listed: nobody sees a moment in
// between, and what another hand has written meanwhile is not overwritten. What
// is there is asked for by plain queries, which need no right to transfer the
// zone. Everything is signed where there is a key.
package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// fudge is how far the clocks of both sides may be apart (RFC 8945 section 10).
const fudge = 300 * time.Second

// dialTimeout is for who sets no deadline.
const dialTimeout = 2 * time.Second

// Provider is one zone of one server. It holds no connection.
type Provider struct {
	cfg Config
	// zone and key are fully qualified, algorithm is as the wire has it.
	zone, key, algorithm string
	marks                marks
	// hidden says of names that were listed last why the zone cannot hold addresses
	// of them: an update of an alias is passed over without a word (RFC 2136 section
	// 3.4.2.2).
	hidden map[string]string
	now    func() time.Time
}

// New gives the provider of a zone.
func New(cfg Config) *Provider {
	p := &Provider{cfg: cfg, zone: dns.Fqdn(cfg.Zone), marks: marks{instance: cfg.Mark}, now: time.Now}
	if cfg.KeyName != "" {
		p.key, p.algorithm = dns.CanonicalName(cfg.KeyName), dns.CanonicalName(cfg.Algorithm)
	}
	return p
}

// Traits of a zone: each RRset has a TTL. Marks beside the names say what is ours
// to a controller that has lost its journal, but not which names have marks: the
// journal is what counts.
var Traits = providers.Traits{TTL: true}

// Close does nothing.
func (p *Provider) Close() error { return nil }

// Inspect asks for the zone's SOA record and whether the key may change the
// zone. It changes nothing.
func (p *Provider) Inspect(ctx context.Context) (providers.Inspection, error) {
	m := new(dns.Msg)
	m.SetQuestion(p.zone, dns.TypeSOA)
	m.RecursionDesired = false
	in, err := p.ask(ctx, m)
	if err != nil {
		return providers.Inspection{}, err
	}
	out := providers.Inspection{Product: "DNS server with the zone " + p.cfg.Zone}
	for _, rr := range in.Answer {
		if soa, ok := rr.(*dns.SOA); ok {
			out.Product += fmt.Sprintf(", serial %d", soa.Serial)
		}
	}
	if p.key == "" {
		out.Findings = append(out.Findings, providers.Finding{Severity: sites.Warning, Text: "updates are not signed: whoever can send from this machine's address can change the zone; give the target a TSIG key"})
	}
	// An update without changes says whether one with changes would be taken.
	if err := p.update(ctx, new(dns.Msg).SetUpdate(p.zone)); err != nil {
		if class, _ := providers.ClassOf(err); class == providers.Transient || class == providers.Declined {
			return out, err
		}
		out.Findings = append([]providers.Finding{{Severity: sites.Critical, Text: err.Error()}}, out.Findings...)
	}
	if addrs, err := p.addresses(ctx); err == nil {
		out.DNS = addrs
	}
	return out, nil
}

// addresses gives where the server answers.
func (p *Provider) addresses(ctx context.Context) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(p.cfg.Server)
	if err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a, number(port))}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var list []netip.AddrPort
	for _, a := range ips {
		to := netip.AddrPortFrom(a.Unmap(), number(port))
		if p.cfg.Guard.Check(host, to) == nil {
			list = append(list, to)
		}
	}
	return list, nil
}

func number(port string) uint16 {
	ap, err := netip.ParseAddrPort("0.0.0.0:" + port)
	if err != nil {
		return 53
	}
	return ap.Port()
}

// exchange sends a signed message and gives the answer, whose signature is good.
func (p *Provider) exchange(ctx context.Context, m *dns.Msg, network string) (*dns.Msg, error) {
	c := &dns.Client{Net: network, UDPSize: 1232, Dialer: p.cfg.Guard.Over(p.cfg.Server, net.Dialer{Timeout: dialTimeout})}
	if deadline, ok := ctx.Deadline(); ok {
		c.Timeout = max(time.Until(deadline), time.Millisecond)
		c.Dialer.Timeout = c.Timeout
	}
	if p.key != "" {
		m.SetTsig(p.key, p.algorithm, uint16(fudge/time.Second), p.now().Unix())
		c.TsigSecret = map[string]string{p.key: p.cfg.Secret.Reveal()}
	}
	conn, err := c.DialContext(ctx, p.cfg.Server)
	if err != nil {
		return nil, p.failed(nil, err)
	}
	defer func() { _ = conn.Close() }()
	// The library heeds the deadline of ctx, and not that it is cancelled.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in, _, err := c.ExchangeWithConnContext(ctx, m, conn)
	if err != nil {
		return nil, p.failed(in, err)
	}
	if p.key != "" && in.IsTsig() == nil {
		return nil, p.refused(in)
	}
	return in, nil
}

// failed makes the sentence of an exchange that came to nothing.
func (p *Provider) failed(in *dns.Msg, err error) error {
	if in != nil && in.Id != 0 {
		if t := in.IsTsig(); t != nil && t.Error != dns.RcodeSuccess {
			return p.badKey(t)
		}
		if in.Rcode != dns.RcodeSuccess {
			return p.refused(in)
		}
	}
	if errors.Is(err, dns.ErrSecret) || errors.Is(err, dns.ErrKeyAlg) {
		return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("sign a message to %s with the key %s: %w: look at the target's tsig", p.cfg.Server, p.key, err)}
	}
	if errors.Is(err, dns.ErrTime) { // its signature is good
		return p.badTime()
	}
	if errors.Is(err, dns.ErrSig) || errors.Is(err, dns.ErrAuth) {
		return &providers.Error{Class: providers.Denied, Err: fmt.Errorf("the answer of %s is not signed with the key %s (%w): the secret is another there, or somebody else answers", p.cfg.Server, p.key, err)}
	}
	return fmt.Errorf("ask %s: %w", p.cfg.Server, err)
}

// badKey is an answer that says what is wrong with the signature (RFC 8945
// section 5.3).
func (p *Provider) badKey(t *dns.TSIG) error {
	e := &providers.Error{Class: providers.Denied}
	key := strings.TrimSuffix(p.key, ".")
	switch t.Error {
	case dns.RcodeBadKey:
		e.Err = fmt.Errorf("the server %s does not know the key %s with the algorithm %s, or does not let it update the zone: add it there, or correct the target's tsig", p.cfg.Server, key, strings.TrimSuffix(p.algorithm, "."))
	case dns.RcodeBadSig:
		e.Err = fmt.Errorf("the server %s has another secret for the key %s: correct the target's tsig", p.cfg.Server, key)
	case dns.RcodeBadTime:
		return p.badTime()
	default:
		e.Err = fmt.Errorf("the server %s does not take the key %s: %s", p.cfg.Server, key, dns.RcodeToString[int(t.Error)])
	}
	return e
}

// badTime is a signature of another time. Who starts with a wrong clock sets it soon.
func (p *Provider) badTime() error {
	return &providers.Error{Class: providers.Declined, Err: fmt.Errorf("the clocks of the server %s and of this machine differ by more than %s, so the signature with the key %s is not taken: set the clock", p.cfg.Server, fudge, strings.TrimSuffix(p.key, "."))}
}

var errServfail = errors.New("its log says why (a full disk, a journal that it may not write, a zone that has run out)")

// refused is an answer with an error in its header.
func (p *Provider) refused(in *dns.Msg) error {
	e := &providers.Error{Class: providers.Permanent}
	switch in.Rcode {
	case dns.RcodeRefused:
		e.Err = fmt.Errorf("the server %s refuses to do this in the zone %s: let %s update it there (BIND: allow-update or update-policy; Knot: an acl with action update)", p.cfg.Server, p.cfg.Zone, p.who())
	case dns.RcodeNotAuth, dns.RcodeNotZone:
		e.Err = fmt.Errorf("the server %s is not the primary of the zone %s, or does not take it from %s", p.cfg.Server, p.cfg.Zone, p.who())
	case dns.RcodeNotImplemented, dns.RcodeFormatError:
		e.Err = fmt.Errorf("the server %s does not know dynamic updates (%s)", p.cfg.Server, dns.RcodeToString[in.Rcode])
	case dns.RcodeNXRrset, dns.RcodeYXRrset, dns.RcodeYXDomain, dns.RcodeNameError:
		e.Class, e.Err = providers.Changed, fmt.Errorf("the zone %s on %s was changed by somebody else meanwhile (%s)", p.cfg.Zone, p.cfg.Server, dns.RcodeToString[in.Rcode])
	case dns.RcodeSuccess:
		e.Class, e.Err = providers.Denied, fmt.Errorf("the server %s does not sign its answers with the key %s: somebody else may answer", p.cfg.Server, p.key)
	case dns.RcodeServerFailure:
		return fmt.Errorf("the server %s answers SERVFAIL for the zone %s: %w", p.cfg.Server, p.cfg.Zone, errServfail)
	default:
		return fmt.Errorf("the server %s answers %s for the zone %s", p.cfg.Server, dns.RcodeToString[in.Rcode], p.cfg.Zone)
	}
	return e
}

func (p *Provider) who() string {
	if p.key == "" {
		return "this machine's address"
	}
	return "the key " + strings.TrimSuffix(p.key, ".")
}
