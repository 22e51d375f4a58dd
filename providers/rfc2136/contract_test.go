package rfc2136

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/contract"
)

// A name in a zone of BIND or Knot would be empty, foreign or stuck for somebody,
// or somebody's own record changed, when something fails on the way.
func TestContract(t *testing.T) {
	faults := []contract.Fault{contract.LostReply, contract.Cut, contract.Hang, contract.Refuse, contract.Duplicate, contract.Gone}
	for _, s := range servers() {
		cfg := s.begin(t)
		marks := []string{"", "hq"}
		if contract.Raced { // the other two are no matter of goroutines
			marks = map[string][]string{"BIND": {"hq"}, "Knot": {""}}[s.name]
			t.Logf("with the race detector %s only with %q", s.name, marks)
		}
		for _, mark := range marks {
			cfg := cfg
			cfg.Mark = mark
			name := s.name + " with a journal"
			if mark != "" {
				name = s.name + " with marks"
			}
			passed := t.Run(name, func(t *testing.T) {
				contract.Run(t, contract.Bench{
					Traits: Traits, Faults: faults,
					New: func(t *testing.T) contract.Stand { return newStand(t, cfg) },
				})
			})
			for _, f := range faults {
				t.Logf("RFC 2136 × %-20s × %-24s passed: %v", name, f, passed)
			}
		}
	}
}

// stand is a zone on a real server, behind a relay.
type stand struct {
	direct Config // past the relay
	relay  *relay
	left   int
}

// newStand empties the zone but for what holds it together.
func newStand(t *testing.T, cfg Config) *stand {
	t.Helper()
	s := &stand{direct: cfg, relay: newRelay(t, cfg.Server)}
	m := new(dns.Msg).SetUpdate(testZone + ".")
	seen := map[string]bool{testZone + ".": true, "ns1." + testZone + ".": true}
	for _, rr := range s.transfer(t) {
		if name := rr.Header().Name; !seen[name] {
			seen[name] = true
			m.RemoveName([]dns.RR{rr})
		}
	}
	s.do(t, m)
	return s
}

func (s *stand) do(t *testing.T, m *dns.Msg) {
	t.Helper()
	if len(m.Ns) == 0 {
		return
	}
	if err := New(s.direct).update(context.Background(), m); err != nil {
		t.Error(err)
	}
}

func (s *stand) transfer(t *testing.T) (list []dns.RR) {
	t.Helper()
	m := new(dns.Msg).SetAxfr(testZone + ".")
	m.SetTsig(s.direct.KeyName+".", s.direct.Algorithm+".", 300, time.Now().Unix())
	tr := &dns.Transfer{TsigSecret: map[string]string{s.direct.KeyName + ".": testSecret}}
	in, err := tr.In(m, s.direct.Server)
	if err != nil {
		t.Fatal(err)
	}
	for e := range in {
		if e.Error != nil {
			t.Fatal(e.Error)
		}
		list = append(list, e.RR...)
	}
	return list
}

func (s *stand) Connect(*testing.T) providers.Provider {
	cfg := s.direct
	cfg.Server = s.relay.addr
	return New(cfg)
}

// Seed gives records the TTL of the suite's own where none is asked for: those
// of a set have one TTL.
func (s *stand) Seed(t *testing.T, records ...contract.Foreign) {
	m := new(dns.Msg).SetUpdate(testZone + ".")
	for _, f := range records {
		ttl := f.TTL
		if ttl == 0 {
			ttl = 15 * time.Second
		}
		m.Insert([]dns.RR{record(providers.Record{Name: f.Name, Addr: f.Addr, TTL: ttl})})
	}
	s.do(t, m)
}

func (s *stand) Dump(t *testing.T) (list []string) {
	for _, rr := range s.transfer(t) {
		if txt, ok := rr.(*dns.TXT); rr.Header().Rrtype == dns.TypeSOA || ok && strings.HasPrefix(txt.Txt[0], "managed-by=dnsteer/") {
			continue
		}
		list = append(list, rr.String())
	}
	slices.Sort(list)
	return list
}

func (s *stand) Edit(t *testing.T, e contract.Edit) {
	m := new(dns.Msg).SetUpdate(testZone + ".")
	old := providers.Record{Name: e.Name, Addr: e.Addr, TTL: 15 * time.Second}
	m.Remove([]dns.RR{record(old)})
	if e.Verb == contract.Change {
		next := old
		next.Addr = e.To
		m.Insert([]dns.RR{record(next)})
	}
	s.do(t, m)
}

func (s *stand) Ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool) {
	qtype := dns.TypeA
	if v6 {
		qtype = dns.TypeAAAA
	}
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	in, _, err := (&dns.Client{Timeout: time.Minute}).ExchangeContext(context.Background(), m, s.direct.Server)
	if err != nil {
		return nil, 0, false
	}
	for _, rr := range in.Answer {
		ttl = time.Duration(rr.Header().Ttl) * time.Second
		switch rr := rr.(type) {
		case *dns.A:
			a, _ := netip.AddrFromSlice(rr.A.To4())
			addrs = append(addrs, a)
		case *dns.AAAA:
			a, _ := netip.AddrFromSlice(rr.AAAA)
			addrs = append(addrs, a)
		}
	}
	return addrs, ttl, true
}

func (s *stand) Break(t *testing.T, f contract.Fault, n int) <-chan struct{} {
	hit := make(chan struct{})
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	s.left = n
	s.relay.judge = func(m *dns.Msg) fate {
		if s.left--; s.left >= 0 {
			return passes
		}
		s.relay.judge = nil
		close(hit)
		return s.strike(t, f, m)
	}
	return hit
}

// strike does what the fault is, before an update.
func (s *stand) strike(t *testing.T, f contract.Fault, m *dns.Msg) fate {
	switch f {
	case contract.LostReply:
		return cutAfter
	case contract.Cut:
		return cutBefore
	case contract.Hang:
		return hangs
	case contract.Refuse:
		return refuses
	case contract.Duplicate, contract.Gone:
		hand := new(dns.Msg).SetUpdate(testZone + ".")
		for _, rr := range m.Ns {
			h := rr.Header()
			if h.Rrtype != dns.TypeA && h.Rrtype != dns.TypeAAAA {
				continue
			}
			if f == contract.Gone {
				hand.RemoveRRset([]dns.RR{rr})
				break
			}
			if h.Class == dns.ClassINET {
				hand.Insert([]dns.RR{dns.Copy(rr)})
				break
			}
		}
		s.do(t, hand)
	}
	return passes
}

func (s *stand) Shun(_ *testing.T, name string) {
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	s.relay.judge = func(m *dns.Msg) fate {
		if slices.ContainsFunc(m.Ns, func(rr dns.RR) bool { return rr.Header().Name == dns.Fqdn(name) }) {
			return refuses
		}
		return passes
	}
}

func (s *stand) Mend(*testing.T) {
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	s.relay.judge = nil
}

func (s *stand) Writes() int { return int(s.relay.writes.Load()) }
