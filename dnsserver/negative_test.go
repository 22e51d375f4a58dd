//go:build unix

package dnsserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// stubbornZone is one whose author let resolvers keep for a day that there is no such
// name.
const stubbornZone = `
$ORIGIN example.lan.
$TTL 86400
@        IN SOA ns1 admin 7 3600 600 86400 86400
@        IN NS  ns1
ns1      IN A   127.0.0.1
text     IN TXT "fixed"
toapp    IN CNAME app
moved    IN DNAME apps
`

// denied are questions for names of a service whose pool answers nothing, or not of
// that type.
func denied() (list []asked) {
	for _, name := range []string{"app.example.lan.", "x.apps.example.lan.", "toapp.example.lan.", "y.moved.example.lan."} {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeHTTPS} {
			list = append(list, asked{name, qtype, nil})
		}
	}
	return list
}

// keptShortly holds that nothing of a denial is kept for longer than a minute: neither
// the SOA record nor what proves it.
func keptShortly(m *dns.Msg) error {
	denied := false
	for _, rr := range m.Ns {
		switch rr.Header().Rrtype {
		case dns.TypeSOA:
			denied = true
		case dns.TypeNSEC, dns.TypeRRSIG:
		default:
			continue
		}
		if rr.Header().Ttl > maxServiceNeg {
			return fmt.Errorf("it is kept for longer than a minute:\n%v", m)
		}
	}
	if m.Rcode != dns.RcodeSuccess || !denied {
		return fmt.Errorf("no denial:\n%v", m)
	}
	return nil
}

// denying serves a zone with a service that has nothing to answer.
func denying(t *testing.T, zone string) (*Server, []*dns.DS) {
	t.Helper()
	keys := []SigningKey{signingKey(t, "example.lan", dns.ECDSAP256SHA256)}
	at := []ServiceSite{{Site: "berlin", TTL: time.Second, TTLUnsettled: time.Second}}
	s, err := New(&Config{
		Zones:       []Zone{{Name: "example.lan", Records: records(t, zone), DNSSEC: &Signing{Keys: keys}}},
		DefaultSite: "berlin",
		Services:    []Service{{Hosts: []string{"app.example.lan", "*.apps.example.lan"}, Pool: "default", Sites: at}},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.SetAnswer("berlin", "default", answer())
	return s, []*dns.DS{keys[0].DS()}
}

// If this fails, a service that was taken out of DNS (on_empty: remove), or that gets
// IPv6, stays unknown to clients for as long as the author of the zone file thought
// right for typing errors.
func TestDenialsOfServicesAreKeptShortly(t *testing.T) {
	s, _ := denying(t, stubbornZone)
	for _, q := range denied() {
		for name, msg := range map[string][]byte{
			"plain": ask(q.name, q.qtype), "EDNS": ask(q.name, q.qtype, 1232), "proved": askSigned(q.name, q.qtype, false), "compact": askSigned(q.name, q.qtype, true),
		} {
			for _, tcp := range []bool{false, true} {
				if err := keptShortly(exchange(t, s, "10.1.0.1", msg, tcp)); err != nil {
					t.Errorf("%s %s, %s, TCP %t: %v", q.name, dns.Type(q.qtype), name, tcp, err)
				}
			}
		}
	}
	// What is none of a service is as the zone's author wants it.
	m := exchange(t, s, "10.1.0.1", ask("text.example.lan.", dns.TypeA), false)
	if len(m.Ns) != 1 || m.Ns[0].Header().Ttl != 86400 {
		t.Errorf("%v", m)
	}
}

// usualApex is that of a zone that is made from its keys.
const usualApex = `
$ORIGIN example.lan.
@        3600 IN SOA ns1 admin 7 3600 600 1209600 60
@        3600 IN NS  ns1
ns1      300  IN A   127.0.0.1
text     300  IN TXT "fixed"
toapp    300  IN CNAME app
moved    300  IN DNAME apps
`

// If this fails, clients of Unbound or BIND keep for longer than a minute that a name
// has nothing, and do not see it when it is back.
func TestResolversForgetDenials(t *testing.T) {
	const limit = 2 * time.Minute // for a start on a busy machine
	s, anchors := denying(t, usualApex)
	primary := serving(t, s, "127.0.0.1:0")[0]
	fronts := startFronts(t, primary, anchors)
	for _, f := range fronts {
		f.ready(t, limit)
		// Before the SOA record itself was asked for, it is as it came with a denial.
		for _, q := range denied() {
			m, err := f.exchange(t.Context(), q)
			if err == nil {
				err = keptShortly(m)
			}
			if err != nil {
				t.Errorf("%s, first: %s %s: %v", f.who, q.name, dns.Type(q.qtype), err)
			}
		}
		// Resolvers give a record as they have it, be it from another answer.
		for _, q := range append([]asked{{"example.lan.", dns.TypeSOA, nil}, {"nothing.example.lan.", dns.TypeA, nil}}, denied()...) {
			for _, from := range []string{"the server", "the cache"} {
				m, err := f.exchange(t.Context(), q)
				if err == nil && q.qtype != dns.TypeSOA {
					err = keptByClients(m)
				}
				if err != nil {
					t.Errorf("%s, from %s, %s %s: %v", f.who, from, q.name, dns.Type(q.qtype), err)
				}
			}
		}
	}
}

// keptByClients holds that a client keeps a denial for a minute at most (RFC 2308
// section 5).
func keptByClients(m *dns.Msg) error {
	for _, rr := range m.Ns {
		if soa, ok := rr.(*dns.SOA); ok && min(soa.Hdr.Ttl, soa.Minttl) <= maxServiceNeg {
			return nil
		}
	}
	return fmt.Errorf("no denial, or one that is kept for longer than a minute:\n%v", m)
}

// exchange gives a resolver's whole answer.
func (f *front) exchange(ctx context.Context, q asked) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(q.name, q.qtype)
	m.SetEdns0(1232, f.proves)
	c := &dns.Client{Timeout: 5 * time.Second}
	in, _, err := c.ExchangeContext(ctx, m, f.addr.String())
	for tries := 0; err != nil && tries < 20; tries++ { // a busy machine, as a client would
		in, _, err = c.ExchangeContext(ctx, m, f.addr.String())
	}
	return in, err
}
