package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// atOnce is how many queries are under way at a time.
const atOnce = 16

// tries is how often a query is sent over UDP before TCP is tried.
const tries = 2

// List asks for the addresses of each name. Names that left the configuration
// are found only if they are asked for: a server does not say what else there is.
func (p *Provider) List(ctx context.Context, names []string) (providers.Listing, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu    sync.Mutex
		wild  = wildcards{p: p, has: make(map[string]bool)}
		out   providers.Listing
		wg    sync.WaitGroup
		place = make(chan struct{}, atOnce)
	)
	for _, name := range names {
		if !p.holds(name) {
			mu.Lock()
			out.Shadows = append(out.Shadows, providers.Shadow{Name: name, Text: fmt.Sprintf("%s lies outside the zone %s of this target and cannot be pushed there", name, p.cfg.Zone)})
			mu.Unlock()
			continue
		}
		place <- struct{}{}
		wg.Go(func() {
			defer func() { <-place }()
			if ctx.Err() != nil {
				return
			}
			one, err := p.listName(ctx, name, &wild)
			if err != nil {
				cancel(fmt.Errorf("look for %s: %w", name, err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out.Entries = append(out.Entries, one.Entries...)
			out.Shadows = append(out.Shadows, one.Shadows...)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return providers.Listing{}, context.Cause(ctx)
	}
	p.hidden = make(map[string]string, len(out.Shadows))
	for _, s := range out.Shadows {
		p.hidden[s.Name] = s.Text
	}
	return out, nil
}

// holds says whether a name lies in the zone.
func (p *Provider) holds(name string) bool {
	return name == p.cfg.Zone || strings.HasSuffix(name, "."+p.cfg.Zone)
}

// listName gives what the zone has of one name.
func (p *Provider) listName(ctx context.Context, name string, wild *wildcards) (providers.Listing, error) {
	out, err := p.lookAt(ctx, name, wild)
	if errors.Is(err, errCut) {
		text := fmt.Sprintf("%s is delegated to other servers by the zone %s: remove the delegation, or publish the name there", name, p.cfg.Zone)
		return providers.Listing{Shadows: []providers.Shadow{{Name: name, Text: text}}}, nil
	}
	return out, err
}

func (p *Provider) lookAt(ctx context.Context, name string, wild *wildcards) (providers.Listing, error) {
	var (
		out  providers.Listing
		ours map[netip.Addr]bool
	)
	if p.cfg.Mark != "" {
		in, err := p.query(ctx, p.marks.owner(name), dns.TypeTXT)
		if err != nil {
			return out, err
		}
		ours = p.marks.read(in.Answer)
	}
	for _, family := range []sites.Family{sites.IPv4, sites.IPv6} {
		key := providers.Key{Name: name, Family: family}
		in, err := p.query(ctx, dns.Fqdn(name), rrtype(family))
		if err != nil {
			return out, err
		}
		entries, shadow := p.entries(key, in.Answer, ours)
		if shadow != "" && !slices.ContainsFunc(in.Answer, isDNAME) {
			made, err := p.made(ctx, name, dns.TypeCNAME)
			if err != nil {
				return out, err
			}
			if made {
				continue // it is a wildcard's alias, which a record of the name ends
			}
		}
		if shadow != "" {
			out.Shadows = append(out.Shadows, providers.Shadow{Name: name, Text: shadow})
			return out, nil // the other family is behind it too
		}
		if len(entries) > 0 && !entries[0].Marked {
			made, err := wild.may(ctx, key)
			if err == nil && made {
				made, err = p.made(ctx, name, rrtype(family))
			}
			if err != nil {
				return out, err
			}
			if made {
				entries = nil
			}
		}
		out.Entries = append(out.Entries, entries...)
	}
	return out, nil
}

// entries reads an answer. The shadow is what stands in the place of addresses.
func (p *Provider) entries(key providers.Key, answer []dns.RR, ours map[netip.Addr]bool) (list []providers.Entry, shadow string) {
	for _, rr := range answer {
		h := rr.Header()
		if dns.CanonicalName(h.Name) != dns.Fqdn(key.Name) {
			if dname, ok := rr.(*dns.DNAME); ok {
				return nil, fmt.Sprintf("%s lies below the DNAME record of %s in the zone %s", key.Name, strings.TrimSuffix(dname.Hdr.Name, "."), p.cfg.Zone)
			}
			continue
		}
		r := providers.Record{Name: key.Name, TTL: time.Duration(h.Ttl) * time.Second}
		switch rr := rr.(type) {
		case *dns.CNAME:
			return nil, fmt.Sprintf("%s is a CNAME of %s in the zone %s: remove it, or the name has no failover", key.Name, strings.TrimSuffix(rr.Target, "."), p.cfg.Zone)
		case *dns.A:
			r.Addr, _ = netip.AddrFromSlice(rr.A.To4())
		case *dns.AAAA:
			r.Addr, _ = netip.AddrFromSlice(rr.AAAA.To16())
		}
		if r.Addr.IsValid() && r.Key() == key {
			list = append(list, providers.Entry{Record: r, ID: r.Addr.String(), Marked: ours[r.Addr], Text: text(r)})
		}
	}
	return list, ""
}

func isDNAME(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeDNAME }

func text(r providers.Record) string {
	return fmt.Sprintf("%s. %d IN %s %s", r.Name, int(r.TTL/time.Second), r.Key().Type(), r.Addr)
}

func rrtype(f sites.Family) uint16 {
	if f == sites.IPv6 {
		return dns.TypeAAAA
	}
	return dns.TypeA
}

// wildcards remembers for one listing which wildcards the zone has.
type wildcards struct {
	p   *Provider
	mu  sync.Mutex
	has map[string]bool
}

// may says whether an answer for the key can come from a wildcard (RFC 4592).
func (w *wildcards) may(ctx context.Context, key providers.Key) (bool, error) {
	rest := key.Name
	for rest != w.p.cfg.Zone {
		_, up, ok := strings.Cut(rest, ".")
		if !ok {
			return false, nil
		}
		rest = up
		if "*."+rest == key.Name {
			continue
		}
		at := "*." + rest + " " + key.Type()
		w.mu.Lock()
		has, known := w.has[at]
		w.mu.Unlock()
		if !known {
			in, err := w.p.query(ctx, dns.Fqdn("*."+rest), rrtype(key.Family))
			if err != nil {
				return false, err
			}
			has = len(in.Answer) > 0
			w.mu.Lock()
			w.has[at] = has
			w.mu.Unlock()
		}
		if has {
			return true, nil
		}
	}
	return false, nil
}

// made says whether an RRset that is answered is not in the zone itself: the
// condition of an update looks at what is there and not at wildcards (RFC 2136
// section 3.2). Nothing is changed.
func (p *Provider) made(ctx context.Context, name string, of uint16) (bool, error) {
	m := new(dns.Msg).SetUpdate(p.zone)
	m.RRsetUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: of}}})
	err := p.update(ctx, m)
	if class, _ := providers.ClassOf(err); class == providers.Changed {
		return true, nil
	}
	return false, err
}

// query asks for one RRset.
func (p *Provider) query(ctx context.Context, name string, qtype uint16) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.RecursionDesired = false
	in, err := p.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Rcode != dns.RcodeSuccess && in.Rcode != dns.RcodeNameError:
		return nil, p.refused(in)
	case !in.Authoritative && len(in.Answer) == 0 && slices.ContainsFunc(in.Ns, func(rr dns.RR) bool { return p.below(rr, name) }):
		return nil, errCut
	case !in.Authoritative:
		return nil, &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("the server %s does not answer for the zone %s with authority: the target must be its primary, not a resolver", p.cfg.Server, p.cfg.Zone)}
	}
	return in, nil
}

// errCut: a name has been delegated to other servers.
var errCut = errors.New("the name is delegated")

// below says whether a record delegates a name from the zone.
func (p *Provider) below(rr dns.RR, name string) bool {
	owner := dns.CanonicalName(rr.Header().Name)
	return rr.Header().Rrtype == dns.TypeNS && owner != p.zone && dns.IsSubDomain(p.zone, owner) && dns.IsSubDomain(owner, name)
}

// ask sends a question over UDP, and over TCP where that does not do.
func (p *Provider) ask(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	for range tries {
		limit, cancel := context.WithTimeout(ctx, time.Second)
		in, err := p.exchange(limit, m.Copy(), "udp")
		cancel()
		if class, _ := providers.ClassOf(err); class != providers.Transient {
			return nil, err
		}
		if err == nil && !in.Truncated {
			return in, nil
		}
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return p.exchange(ctx, m.Copy(), "tcp")
}
