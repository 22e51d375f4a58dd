package adguardsim

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// hops bounds how far a CNAME is followed.
const hops = 16

func (s *Server) serveDNS(w dns.ResponseWriter, q *dns.Msg) {
	if s.lost() != nil {
		return
	}
	_ = w.WriteMsg(s.Answer(q)) // whoever has gone needs no answer
}

// Answer gives the answer to one question.
func (s *Server) Answer(q *dns.Msg) *dns.Msg {
	out := new(dns.Msg).SetReply(q)
	out.RecursionAvailable = true
	if len(q.Question) != 1 {
		out.Rcode = dns.RcodeFormatError
		return out
	}
	k, question := s.look(), q.Question[0]
	last, found := k.follow(question.Name, question.Qtype)
	if last != question.Name {
		// Those in between are not told of.
		out.Answer = append(out.Answer, &dns.CNAME{Hdr: header(question.Name, dns.TypeCNAME, k.TTL), Target: last})
	}
	question.Name = last
	if !found.known {
		s.ask(out, question)
	}
	for _, a := range found.addrs {
		out.Answer = append(out.Answer, record(last, a, k.TTL))
	}
	return out
}

// follow looks a name up and follows CNAMEs to the last. What goes round in a
// circle is as if it were not there.
func (k *kept) follow(first string, qtype uint16) (last string, f found) {
	last = first
	for hop := range hops {
		f = k.find(last, qtype)
		if f.cname == "" {
			// What a CNAME leads to and no rewrite has is asked for too.
			f.known = f.known && (hop == 0 || len(f.addrs) > 0)
			return last, f
		}
		last = f.cname
	}
	return first, found{}
}

func header(host string, of uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: host, Rrtype: of, Class: dns.ClassINET, Ttl: ttl}
}

func record(host string, a netip.Addr, ttl uint32) dns.RR {
	if a.Is4() {
		return &dns.A{Hdr: header(host, dns.TypeA, ttl), A: a.AsSlice()}
	}
	return &dns.AAAA{Hdr: header(host, dns.TypeAAAA, ttl), AAAA: a.WithZone("").AsSlice()}
}

// ask has the upstream answer.
func (s *Server) ask(out *dns.Msg, q dns.Question) {
	if s.opt.Upstream == nil {
		if len(out.Answer) == 0 {
			out.Rcode = dns.RcodeNameError
		}
		return
	}
	out.Answer = append(out.Answer, s.opt.Upstream(q)...)
}

// found is what the rewrites have for a question. Unknown ones go upstream.
type found struct {
	known bool
	cname string // fully qualified
	addrs []netip.Addr
}

// candidate is a rewrite that concerns a question's name.
type candidate struct {
	Rewrite
	of       uint16 // its type
	addr     netip.Addr
	wildcard bool
}

// find looks a name up.
func (k *kept) find(host string, qtype uint16) found {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	list, known := k.candidates(name, qtype)
	out := found{known: known}
	for i, c := range list {
		switch {
		case i == 0 && c.of == dns.TypeCNAME && (strings.EqualFold(c.Answer, name) || c.Answer == c.Domain):
			return found{}
		case i == 0 && c.of == dns.TypeCNAME:
			return found{known: true, cname: dns.Fqdn(c.Answer)}
		case c.of != qtype:
			continue
		case !c.addr.IsValid():
			return found{}
		}
		out.addrs = append(out.addrs, c.addr)
	}
	return out
}

// candidates gives the rewrites that decide about a name, first the one that
// counts most: a CNAME comes before addresses, the name itself before a
// wildcard, a longer wildcard before a shorter one; of a wildcard only the first
// rewrite counts. known: there are rewrites of the name, of whatever type.
func (k *kept) candidates(name string, qtype uint16) (list []candidate, known bool) {
	for _, r := range k.Rewrites {
		if !k.Rewriting || !k.Filtering || !r.Enabled || !covers(r.Domain, name) {
			continue
		}
		known = true
		c := weigh(r)
		// An exception for one type keeps wildcards from answering the other.
		exception := c.of != dns.TypeCNAME && !c.addr.IsValid() && (qtype == dns.TypeA || qtype == dns.TypeAAAA)
		if c.of == dns.TypeCNAME || c.of == qtype || exception {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(rank(a.of != dns.TypeCNAME)-rank(b.of != dns.TypeCNAME), rank(a.wildcard)-rank(b.wildcard), len(b.Domain)-len(a.Domain))
	})
	if i := slices.IndexFunc(list, func(c candidate) bool { return c.wildcard }); i >= 0 {
		list = list[:max(i, 1)]
	}
	return list, known
}

func rank(later bool) int {
	if later {
		return 1
	}
	return 0
}

func covers(domain, name string) bool {
	if under, ok := strings.CutPrefix(domain, "*"); ok && strings.HasPrefix(under, ".") {
		return strings.HasSuffix(name, under)
	}
	return domain == name
}

// weigh says of which type a rewrite is. "A" and "AAAA" have that type go
// upstream; all that is no address is a CNAME.
func weigh(r Rewrite) candidate {
	c := candidate{Rewrite: r, of: dns.TypeCNAME, wildcard: strings.HasPrefix(r.Domain, "*.")}
	switch r.Answer {
	case "A":
		c.of = dns.TypeA
	case "AAAA":
		c.of = dns.TypeAAAA
	default:
		addr, err := netip.ParseAddr(r.Answer)
		switch {
		case err != nil:
		case addr.Is4():
			c.of, c.addr = dns.TypeA, addr
		default:
			c.of, c.addr = dns.TypeAAAA, addr
		}
	}
	return c
}
