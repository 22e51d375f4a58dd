package routeros

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/contract"
)

// Faults of routers beside those of the suite.
const (
	halfReply contract.Fault = "the reply is cut in half"
	doneFails contract.Fault = "it is done and said to have failed"
	forbidden contract.Fault = "the right to write is taken away"
	shutOut   contract.Fault = "the address list denies"
	rollback  contract.Fault = "somebody's Safe Mode ends"
	restored  contract.Fault = "the configuration is restored"
	reboot    contract.Fault = "the router reboots"
	human     contract.Fault = "somebody edits the row"
)

var faults = []contract.Fault{
	contract.LostReply, contract.Cut, contract.Hang, contract.Refuse, contract.Duplicate, contract.Gone,
	halfReply, doneFails, forbidden, shutOut, rollback, restored, reboot, human,
}

// A name would be empty, foreign or stuck for somebody, or somebody's own record
// changed, with a router of some version that fails in some way.
func TestContract(t *testing.T) {
	profiles := append(slices.Clone(routersim.Versions), "7.24 over TLS", "7.24 in torn pieces")
	if contract.Raced { // what differs between the others is no matter of goroutines
		profiles = []string{"6.42", "7.24 over TLS"}
		t.Logf("with the race detector only %q", profiles)
	}
	for _, profile := range profiles {
		passed := t.Run("RouterOS "+profile, func(t *testing.T) {
			contract.Run(t, contract.Bench{
				Traits: Traits, Faults: faults,
				New: func(t *testing.T) contract.Stand { return newStand(t, profile) },
			})
		})
		for _, f := range faults {
			t.Logf("RouterOS × %-20s × %-36s passed: %v", profile, f, passed)
		}
	}
}

// stand is a simulated router for the suite.
type stand struct {
	r       *routersim.Router
	version string
	secure  bool
	calm    routersim.Faults
	udp     *dns.Client
	seeded  bool
	mu      sync.Mutex
	left    int // requests that write before a fault strikes
}

func newStand(t *testing.T, profile string) *stand {
	t.Helper()
	version, how, _ := strings.Cut(profile, " ")
	s := &stand{version: version, secure: how == "over TLS", udp: &dns.Client{Timeout: soon}}
	s.r = router(t, routersim.Options{Version: version})
	s.calm = routersim.Faults{Torn: how == "in torn pieces"}
	s.r.SetFaults(s.calm)
	return s
}

func (s *stand) Connect(t *testing.T) providers.Provider {
	c := plain(s.r)
	if s.secure {
		c = pinned(s.r)
	}
	return open(t, c)
}

func (s *stand) Seed(t *testing.T, records ...contract.Foreign) {
	for _, f := range records {
		args := []string{"address=" + f.Addr.String(), "comment=somebody's, f\xfcr alle"}
		if above, ok := strings.CutPrefix(f.Name, "*."); ok {
			args = append(args, `regexp=^[a-z]+\.`+strings.ReplaceAll(above, ".", `\.`))
		} else {
			args = append(args, "name="+f.Name)
		}
		if f.TTL > 0 {
			args = append(args, fmt.Sprintf("ttl=%d", int(f.TTL.Seconds())))
		}
		if f.Disabled {
			args = append(args, "disabled=yes")
		}
		if f.Addr.Is6() && s.version != "6.42" {
			args = append(args, "type=AAAA")
		}
		do(t, s.r, "add", args...)
	}
	if s.seeded {
		return
	}
	s.seeded = true
	// What only routers have.
	extra := [][]string{{"regexp=.*ads.*", "address=192.0.2.200"}}
	if s.version != "6.42" {
		extra = append(extra, []string{"name=cdn.example.lan", "type=CNAME", "cname=a.example"}, []string{"name=corp.example", "type=FWD", "forward-to=192.0.2.53"})
	}
	for _, args := range extra {
		do(t, s.r, "add", args...)
	}
	if err := s.r.AddDynamic(map[string]string{"name": "phone.example.lan", "address": "198.51.100.9"}); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) Dump(*testing.T) (list []string) {
	for _, rec := range s.r.Records() {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(rec.Fields)) {
			fmt.Fprintf(&b, "%s=%q ", k, rec.Fields[k])
		}
		list = append(list, b.String())
	}
	return list
}

// find gives the ID of an enabled row.
func (s *stand) find(name, addr string) (id string) {
	for _, rec := range s.r.Records() {
		if rec.Fields["name"] == name && rec.Fields["address"] == addr && rec.Fields["disabled"] == "false" && rec.Fields["dynamic"] == "false" {
			return rec.ID
		}
	}
	return ""
}

func (s *stand) Edit(t *testing.T, e contract.Edit) {
	id := ".id=" + s.find(e.Name, e.Addr.String())
	switch e.Verb {
	case contract.Delete:
		do(t, s.r, "remove", id)
	case contract.Disable:
		do(t, s.r, "disable", id)
	case contract.Change:
		do(t, s.r, "set", id, "address="+e.To.String())
	}
}

func (s *stand) Ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool) {
	kind := dns.TypeA
	if v6 {
		kind = dns.TypeAAAA
	}
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	in, _, err := s.udp.ExchangeContext(context.Background(), m, s.r.DNSAddr().String())
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
	before := s.r.Snapshot()
	s.left = n
	faults := s.calm
	faults.Each = func(q routersim.Request) routersim.Fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !q.Writes || s.left < 0 {
			return routersim.Answered
		}
		if s.left--; s.left >= 0 {
			return routersim.Answered
		}
		close(hit)
		return s.strike(t, f, q, before)
	}
	s.r.SetFaults(faults)
	return hit
}

// strike does what the fault is, before a request.
func (s *stand) strike(t *testing.T, f contract.Fault, q routersim.Request, before routersim.Snapshot) routersim.Fate {
	switch f {
	case contract.LostReply:
		return routersim.LostReply
	case contract.Cut:
		return routersim.Cut
	case contract.Hang:
		return routersim.HangNow
	case contract.Refuse:
		return routersim.Refused
	case halfReply:
		return routersim.HalfReply
	case doneFails:
		return routersim.RefusedButDone
	case forbidden:
		return routersim.Forbidden
	case shutOut:
		again := s.calm
		again.DenyNext = 1
		s.r.SetFaults(again)
		return routersim.Cut
	}
	return s.meddle(t, f, q, before)
}

func (s *stand) meddle(t *testing.T, f contract.Fault, q routersim.Request, before routersim.Snapshot) routersim.Fate {
	id := q.Args[".id"]
	var target map[string]string
	for _, rec := range s.r.Records() {
		if rec.ID == id {
			target = rec.Fields
		}
	}
	switch f {
	case contract.Duplicate:
		name, addr := q.Args["name"], q.Args["address"]
		if name == "" {
			name = target["name"]
		}
		if addr == "" || target["address"] == addr {
			break
		}
		args := []string{"name=" + name, "address=" + addr, "comment=somebody was faster"}
		if target["type"] == "AAAA" || q.Args["type"] == "AAAA" {
			args = append(args, "type=AAAA")
		}
		do(t, s.r, "add", args...)
	case contract.Gone:
		if id != "" {
			do(t, s.r, "remove", ".id="+id)
		}
	case human:
		if id != "" {
			do(t, s.r, "set", ".id="+id, "ttl=77s")
		}
	case rollback:
		s.r.Rollback(before)
	case restored:
		s.r.Restore(s.r.Snapshot(), true)
		s.r.DropSessions()
		return routersim.Cut
	case reboot:
		if err := s.r.Reboot(context.Background()); err != nil {
			t.Error(err)
		}
		return routersim.Cut
	}
	return routersim.Answered
}

func (s *stand) Shun(_ *testing.T, name string) {
	faults := s.calm
	faults.Each = func(q routersim.Request) routersim.Fate {
		of := q.Args["name"]
		for _, rec := range s.r.Records() {
			if rec.ID == q.Args[".id"] {
				of = rec.Fields["name"]
			}
		}
		if q.Writes && of == name {
			return routersim.Refused
		}
		return routersim.Answered
	}
	s.r.SetFaults(faults)
}

func (s *stand) Mend(*testing.T) { s.r.SetFaults(s.calm) }

func (s *stand) Writes() int {
	return s.r.Counts().Writes
}
