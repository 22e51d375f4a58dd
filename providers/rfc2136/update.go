package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
)

// Apply carries out a change of one RRset in one message. The condition is that
// the RRset is as it was listed; its error is of the class [providers.Changed]
// otherwise. The RRset has one TTL (RFC 2181 section 5.2), that of the change: an
// address of somebody else in it gets it too.
func (p *Provider) Apply(ctx context.Context, c providers.Change) error {
	if !p.holds(c.Name) {
		return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("change %s: the name lies outside the zone %s", c.Key, p.cfg.Zone)}
	}
	if why := p.hidden[c.Name]; why != "" {
		return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("change %s: %s", c.Key, why)}
	}
	m := new(dns.Msg).SetUpdate(p.zone)
	if len(c.Before) == 0 {
		m.RRsetNotUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: dns.Fqdn(c.Name), Rrtype: rrtype(c.Family)}}})
	} else {
		m.Used(rrsOf(c.Before))
	}
	if len(c.Swap)+len(c.Add)+len(c.Remove) > 0 {
		// Whole, for the TTL: Knot does not change that of a set by adding to it.
		if len(c.Before) > 0 {
			m.RemoveRRset([]dns.RR{record(c.Before[0].Record)})
		}
		m.Insert(after(c))
	}
	if p.cfg.Mark != "" {
		if err := p.mark(ctx, m, c); err != nil {
			return fmt.Errorf("change %s: %w", c.Key, err)
		}
	}
	if len(m.Ns) == 0 {
		return nil // adoption without marks is the caller's journal
	}
	if err := p.update(ctx, m); err != nil {
		return fmt.Errorf("change %s: %w", c.Key, err)
	}
	return nil
}

// after gives the RRset that a change makes, foreign addresses included.
func after(c providers.Change) (list []dns.RR) {
	leaves := make(map[netip.Addr]bool)
	for _, s := range c.Swap {
		leaves[s.From.Addr] = true
	}
	for _, e := range c.Remove {
		leaves[e.Addr] = true
	}
	in := make(map[netip.Addr]bool)
	insert := func(r providers.Record) {
		if !in[r.Addr] {
			in[r.Addr] = true
			list = append(list, record(r))
		}
	}
	for _, s := range c.Swap {
		insert(s.To)
	}
	for _, r := range c.Add {
		insert(r)
	}
	for _, e := range c.Before {
		if !leaves[e.Addr] {
			r := e.Record
			if len(list) > 0 { // one TTL for all
				r.TTL = time.Duration(list[0].Header().Ttl) * time.Second
			}
			insert(r)
		}
	}
	return list
}

// mark adds to the message what keeps the marks of the name true.
func (p *Provider) mark(ctx context.Context, m *dns.Msg, c providers.Change) error {
	owner := p.marks.owner(c.Name)
	in, err := p.query(ctx, owner, dns.TypeTXT)
	if err != nil {
		return err
	}
	before := p.marks.read(in.Answer)
	ours := maps.Clone(before)
	for _, s := range c.Swap {
		delete(ours, s.From.Addr)
	}
	for _, e := range c.Remove {
		delete(ours, e.Addr)
	}
	for _, s := range c.Swap {
		ours[s.To.Addr] = true
	}
	for _, r := range c.Add {
		ours[r.Addr] = true
	}
	for _, e := range c.Adopt {
		ours[e.Addr] = true
	}
	for a := range before {
		if !ours[a] {
			m.Remove([]dns.RR{p.marks.record(owner, a)})
		}
	}
	for a := range ours {
		if !before[a] {
			m.Insert([]dns.RR{p.marks.record(owner, a)})
		}
	}
	return nil
}

// update sends an update over TCP: a big one fits, and it is not sent twice.
func (p *Provider) update(ctx context.Context, m *dns.Msg) error {
	in, err := p.exchange(ctx, m, "tcp")
	if err == nil && in.Rcode != dns.RcodeSuccess {
		err = p.refused(in)
	}
	if errors.Is(err, errServfail) { // another update may go through
		return &providers.Error{Class: providers.Declined, Err: err}
	}
	return err
}

func rrsOf(entries []providers.Entry) []dns.RR {
	seen := make(map[netip.Addr]bool)
	var list []dns.RR
	for _, e := range entries {
		if !seen[e.Addr] {
			seen[e.Addr] = true
			list = append(list, record(e.Record))
		}
	}
	return list
}

func record(r providers.Record) dns.RR {
	h := dns.RR_Header{Name: dns.Fqdn(r.Name), Rrtype: rrtype(r.Key().Family), Class: dns.ClassINET, Ttl: uint32(r.TTL / time.Second)}
	if r.Addr.Is4() {
		return &dns.A{Hdr: h, A: r.Addr.AsSlice()}
	}
	return &dns.AAAA{Hdr: h, AAAA: r.Addr.AsSlice()}
}
