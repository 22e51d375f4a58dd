package routersim

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"

	"github.com/miekg/dns"
)

// Upstream answers what the table does not.
type Upstream func(q dns.Question) (answer []dns.RR, rcode int)

// SetUpstream sets who answers what the table does not; nil is an upstream that
// knows no name.
func (r *Router) SetUpstream(u Upstream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.upstream = u
}

// listenDNS binds UDP and TCP to one port.
func (r *Router) listenDNS(ctx context.Context) error {
	var last error
	for range 20 { // the TCP port of the same number may be taken
		udp, err := new(net.ListenConfig).ListenPacket(ctx, "udp", r.o.DNS.String())
		if err != nil {
			return fmt.Errorf("simulated router's DNS: %w", err)
		}
		addr := udp.LocalAddr().String()
		tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			_ = udp.Close()
			last = err
			continue
		}
		r.dnsAddr = netip.MustParseAddrPort(addr)
		handler := dns.HandlerFunc(r.serveDNS)
		for _, s := range []*dns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}} {
			started := make(chan struct{})
			s.NotifyStartedFunc = func() { close(started) }
			r.wg.Go(func() { _ = s.ActivateAndServe() }) // ends by Shutdown
			<-started
			r.dnsServers = append(r.dnsServers, s)
		}
		return nil
	}
	return fmt.Errorf("simulated router's DNS: %w", last)
}

func (r *Router) serveDNS(w dns.ResponseWriter, q *dns.Msg) {
	r.mu.Lock()
	refuse := r.refuseDNS
	r.mu.Unlock()
	if refuse || len(q.Question) != 1 || r.o.Lost != nil && r.o.Lost() != nil {
		return // no word of its own, as a firewall
	}
	m := new(dns.Msg).SetReply(q)
	m.RecursionAvailable = true
	m.Answer, m.Rcode = r.Resolve(q.Question[0])
	_ = w.WriteMsg(m) // who asked asks again
}

// Resolve answers a question as the router's DNS does.
func (r *Router) Resolve(q dns.Question) (answer []dns.RR, rcode int) {
	r.mu.Lock()
	rows, upstream := r.table.rows, r.upstream
	r.mu.Unlock()
	if upstream == nil {
		upstream = func(dns.Question) ([]dns.RR, int) { return nil, dns.RcodeNameError }
	}
	for range 8 { // a chain of CNAMEs ends somewhere
		matching := answering(rows, strings.ToLower(strings.TrimSuffix(q.Name, ".")))
		var alias *dns.CNAME
		direct, named := false, false
		for _, row := range matching {
			if row.kind() == "NXDOMAIN" {
				return answer, dns.RcodeNameError
			}
			named = named || row.kind() != "FWD"
			rr := row.rr(q.Name)
			if rr == nil {
				continue
			}
			if rr.Header().Rrtype == q.Qtype {
				answer, direct = append(answer, rr), true
			} else if c, ok := rr.(*dns.CNAME); ok {
				alias = c
			}
		}
		if direct {
			return answer, dns.RcodeSuccess
		}
		if alias == nil {
			more, rcode := upstream(q)
			if named && rcode == dns.RcodeNameError {
				rcode = dns.RcodeSuccess // the name is there, with other types
			}
			return append(answer, more...), rcode
		}
		answer = append(answer, alias)
		q.Name = alias.Target
	}
	return answer, dns.RcodeServerFailure
}

// answering gives the enabled rows that are about a name: those with a regular
// expression first, else those of the name itself, else those of the nearest
// name above it that matches what is below.
func answering(rows []*row, name string) (found []*row) {
	for _, row := range rows {
		if x := row.fields["regexp"]; x != "" && row.enabled() {
			if re, err := regexp.Compile(x); err == nil && re.MatchString(name) {
				found = append(found, row)
			}
		}
	}
	for above := name; len(found) == 0 && above != ""; {
		for _, row := range rows {
			if row.enabled() && strings.ToLower(row.fields["name"]) == above && (above == name || row.fields["match-subdomain"] == "true") {
				found = append(found, row)
			}
		}
		_, above, _ = strings.Cut(above, ".")
	}
	return found
}

// rr is the record that a row answers with; nil for what has none here.
func (r *row) rr(name string) dns.RR {
	ttl, _ := parseTTL(r.fields["ttl"])
	value := r.fields["address"]
	switch r.kind() {
	case "A", "AAAA":
	case "CNAME":
		value = dns.Fqdn(r.fields["cname"])
	case "TXT":
		value = fmt.Sprintf("%q", r.fields["text"])
	default:
		return nil
	}
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", dns.Fqdn(name), int(ttl.Seconds()), r.kind(), value))
	if err != nil {
		return nil
	}
	return rr
}
