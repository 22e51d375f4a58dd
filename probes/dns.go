package probes

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// DNS asks a DNS server for a record set and holds the answer against what is
// expected. It asks as [Resolver] does: over UDP, several times, and over TCP
// where that brings nothing or the answer is cut; what does not belong to the
// question is passed over.
type DNS struct {
	// Port; 0 means 53.
	Port int
	// Server is who is asked; the zero Addr means the probed address.
	Server netip.Addr
	// Name and Type of the question; Type "" means A. Types without a name of
	// their own are written "TYPE65280" (RFC 3597).
	Name, Type string
	// Rcode is the response code that is expected; "" means NOERROR.
	Rcode string
	// Values must all be among the records of the type in the answer, in any
	// order; further records do no harm. Each is the record's data as in a
	// zone file, with names whole, in capitals or not, with or without the
	// final dot. A TXT value may also be its text alone, without quotes. Empty
	// means that any record of the type will do where NOERROR is expected.
	Values []string
}

// Probe implements [Prober].
func (p DNS) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	if p.Server.IsValid() {
		addr = p.Server
	}
	c := p.probe(ctx, addr)
	c.Duration = time.Since(start)
	return c
}

// Validate says what is wrong with the probe's settings; a probe with such an
// error is [sites.Unknown] for ever.
func (p DNS) Validate() error {
	_, err := p.expectation()
	if err != nil {
		return err
	}
	var x exchange
	return x.question(p.Name, p.Type)
}

func (p DNS) probe(ctx context.Context, addr netip.Addr) sites.Check {
	at := newAttempt(ctx, addr)
	if at.timeout <= 0 {
		at.timeout = time.Second
	}
	want, err := p.expectation()
	if err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	x := exchange{server: serverOf(addr, p.Port), timeout: at.timeout, judge: want.judge, whole: true}
	if err := x.question(p.Name, p.Type); err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	c, err := x.run(ctx)
	if err != nil {
		return at.failed(ctx, err)
	}
	return c
}

// expectation is what a response is held against.
type expectation struct {
	rrtype uint16
	rcode  int
	values []value
}

// value is the data of a record, as written and as a record of the root.
type value struct {
	text string
	rr   dns.RR
}

func (p DNS) expectation() (e expectation, err error) {
	if e.rrtype, err = recordType(p.Type); err != nil {
		return e, err
	}
	if p.Rcode != "" {
		code, ok := dns.StringToRcode[strings.ToUpper(p.Rcode)]
		if !ok || code > 15 {
			return e, fmt.Errorf("expect the response code %q: there is no such code in a DNS header, use NOERROR, NXDOMAIN, SERVFAIL or REFUSED", p.Rcode)
		}
		e.rcode = code
	}
	if e.rcode != dns.RcodeSuccess && len(p.Values) > 0 {
		return e, fmt.Errorf("expect values with the response code %s: there can be none, leave one of the two out", p.Rcode)
	}
	for _, text := range p.Values {
		rr, err := valueOf(e.rrtype, text)
		if err != nil {
			return e, fmt.Errorf("expect the value %q: %w", text, err)
		}
		e.values = append(e.values, value{text, rr})
	}
	return e, nil
}

// recordType reads the type of a question.
func recordType(name string) (uint16, error) {
	name = strings.ToUpper(name)
	if name == "" {
		return dns.TypeA, nil
	}
	t, ok := dns.StringToType[name]
	if digits, unnamed := strings.CutPrefix(name, "TYPE"); !ok && unnamed {
		n, err := strconv.ParseUint(digits, 10, 16)
		t, ok = uint16(n), err == nil
	}
	if !ok {
		return 0, fmt.Errorf("ask for the type %q: no such type, use for example A, AAAA, CNAME, MX, TXT, NS, SOA, SRV, PTR, CAA or HTTPS", name)
	}
	// Types for questions alone (RFC 6895 section 3.1), and pseudo-records.
	if t == 0 || t == dns.TypeOPT || 128 <= t && t <= 255 {
		return 0, fmt.Errorf("ask for the type %q: no record has it, use a type of records", name)
	}
	return t, nil
}

// valueOf reads a value as written.
func valueOf(rrtype uint16, text string) (dns.RR, error) {
	if rrtype == dns.TypeTXT && !strings.HasPrefix(strings.TrimSpace(text), `"`) {
		return &dns.TXT{Hdr: dataOnly(rrtype), Txt: []string{plainText(text)}}, nil
	}
	typ := dns.Type(rrtype)
	if strings.ContainsAny(text, "\r\n") {
		return nil, fmt.Errorf("write it on one line, as the data of a record of type %s", typ)
	}
	rr, err := dns.NewRR(". 0 IN " + typ.String() + " " + text)
	if err != nil {
		return nil, fmt.Errorf("write it as the data of a record of type %s: %w", typ, err)
	}
	if rr == nil || rr.Header().Rrtype != rrtype {
		return nil, fmt.Errorf("write it as the data of a record of type %s", typ)
	}
	// Packed and unpacked it is in the form in which a server's answer is.
	wire := make([]byte, dns.MaxMsgSize)
	n, err := dns.PackRR(rr, wire, 0, nil, false)
	if err == nil {
		rr, _, err = dns.UnpackRR(wire[:n], 0)
	}
	if err != nil {
		return nil, fmt.Errorf("write it as the data of a record of type %s: %w", typ, err)
	}
	*rr.Header() = dataOnly(rrtype)
	return rr, nil
}

// dataOnly is the header of records that are compared by their data alone.
func dataOnly(rrtype uint16) dns.RR_Header {
	return dns.RR_Header{Name: ".", Rrtype: rrtype, Class: dns.ClassINET}
}

// plainText writes a text as the library writes what it receives.
func plainText(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// sameData compares two records of a type. Capitals in names mean nothing (RFC
// 4343), and a TXT record is its whole text, however that is cut into strings.
func sameData(a, b dns.RR) bool {
	if a, ok := a.(*dns.TXT); ok {
		b, ok := b.(*dns.TXT)
		return ok && strings.Join(a.Txt, "") == strings.Join(b.Txt, "")
	}
	return dns.IsDuplicate(a, b)
}

// judge holds a response against what is expected.
func (e expectation) judge(m *dns.Msg) sites.Check {
	if m.Rcode != e.rcode {
		return down(CauseDNSRcode, "answers with %s instead of %s", rcodeName(m.Rcode), rcodeName(e.rcode))
	}
	if e.rcode != dns.RcodeSuccess {
		return up("answers with " + rcodeName(m.Rcode))
	}
	var found []dns.RR
	for _, rr := range m.Answer {
		if rr.Header().Rrtype == e.rrtype {
			rr = dns.Copy(rr)
			*rr.Header() = dataOnly(e.rrtype)
			found = append(found, rr)
		}
	}
	if len(found) == 0 {
		return down(CauseDNSAnswer, "answers without a record of type %s", dns.Type(e.rrtype))
	}
	for _, v := range e.values {
		if !slices.ContainsFunc(found, func(rr dns.RR) bool { return sameData(v.rr, rr) }) {
			return down(CauseDNSAnswer, "answers without %s", printable(v.text, maxLine))
		}
	}
	return up(fmt.Sprintf("answers with %s, records of type %s: %d", rcodeName(m.Rcode), dns.Type(e.rrtype), len(found)))
}
