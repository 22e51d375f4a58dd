package dnsserver

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// everyType is one of each kind.
var everyType = []uint16{
	dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDNAME, dns.TypeMX, dns.TypeTXT, dns.TypeDS,
	dns.TypePTR, dns.TypeHTTPS, dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeNSEC, dns.TypeRRSIG, dns.TypeANY, 65280,
}

// If this fails, validators take some answer for a forgery: the name is gone for
// all that ask through them.
func TestEveryAnswerIsProved(t *testing.T) {
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	keys, now := keysOf(cfg), s.now()
	var names []string
	for _, n := range knownNames(s) {
		if strings.HasSuffix(n, "example.lan.") && !strings.HasPrefix(n, "xexample") {
			names = append(names, n, "x."+n, "x.y."+n, "X.*."+n)
		}
	}
	count := 0
	for _, name := range names {
		for _, typ := range everyType {
			for i := range 14 { // turns, for what rotates
				if i > 1 && !strings.Contains(name, "many") && !strings.Contains(name, "weighted") {
					break
				}
				co := i%2 == 1
				m := exchange(t, s, "10.1.0.1", askSigned(name, typ, co), false)
				if m.Truncated {
					m = exchange(t, s, "10.1.0.1", askSigned(name, typ, co), true)
				}
				if m.Rcode == dns.RcodeServerFailure && strings.HasSuffix(name, "unset.example.lan.") || m.Rcode == dns.RcodeYXDomain {
					continue
				}
				if m.Rcode == dns.RcodeNameError && !co {
					t.Fatalf("NXDOMAIN without having been asked for:\n%v", m)
				}
				if m.IsEdns0().Co() != co {
					t.Fatalf("CO %v for %v", !co, co)
				}
				judge(t, keys, m, now)
				count++
			}
		}
	}
	t.Logf("%d answers", count)
}

// If this fails, those who do not ask for proof pay for it, or learn less than
// before: that a name is missing.
func TestNoProofUnasked(t *testing.T) {
	s := manyServer(t, signedConfig(t))
	for _, name := range knownNames(s)[1:] { // without the root
		for _, typ := range []uint16{dns.TypeA, dns.TypeMX, dns.TypeDS} {
			m := exchange(t, s, "10.1.0.1", ask("x."+name, typ, 1232), false)
			for _, rr := range slices.Concat(m.Answer, m.Ns, m.Extra) {
				if typ := rr.Header().Rrtype; typ == dns.TypeRRSIG || typ == dns.TypeNSEC {
					t.Fatalf("proof unasked:\n%v", m)
				}
			}
		}
	}
	if m := exchange(t, s, "10.1.0.1", ask("nothing.example.lan.", dns.TypeA, 1232), false); m.Rcode != dns.RcodeNameError {
		t.Errorf("a missing name gives %s", dns.RcodeToString[m.Rcode])
	}
	for _, edns := range [][]uint16{nil, {1232}} {
		m := exchange(t, s, "10.1.0.1", ask("www.example.lan.", dns.TypeNXNAME, edns...), false)
		if m.Rcode != dns.RcodeFormatError {
			t.Errorf("a question for NXNAME gives %s", dns.RcodeToString[m.Rcode])
		}
		if o := m.IsEdns0(); o != nil && (len(o.Option) != 1 || !strings.HasPrefix(o.Option[0].String(), "30 (Invalid Query Type)")) {
			t.Errorf("the reason is not told: %v", o)
		}
	}
}

// If this fails, a move of a signed name leaves validators with signatures of the
// answer before, or with a denial of the family that has come.
func TestMovesAreProved(t *testing.T) {
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	keys := keysOf(cfg)
	for i, list := range [][]string{{"10.1.0.11"}, {"10.1.0.12", "fd00:1::12"}, {}, {"fd00:1::13"}, {"10.1.0.11"}} {
		a := answer(list...)
		if i%2 == 1 {
			a.Horizon = 0 // a change is near: the TTL falls
		}
		s.SetAnswer("berlin", "default", a)
		for _, name := range []string{"app.example.lan.", "x.apps.example.lan.", "toservice.example.lan."} {
			for _, typ := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeANY, dns.TypeNSEC} {
				m := exchange(t, s, "10.1.0.1", askSigned(name, typ, false), false)
				judge(t, keys, m, s.now())
			}
		}
	}
}

// If this fails, the next name that an NSEC record tells of leaves room for others,
// which validators would then take for missing, or it is none that follows.
func TestSuccessor(t *testing.T) {
	label := func(n int, c byte) string { return string(append([]byte{byte(n)}, slices.Repeat([]byte{c}, n)...)) }
	full := func(first string) string { // 255 octets
		return first + label(63, 'a') + label(63, 'a') + label(63, 'a') + "\x00"
	}
	tests := []struct{ name, in, want string }{
		{"a child", "\x01a\x00", "\x01\x00\x01a\x00"},
		{"the root's child", "\x00", "\x01\x00\x00"},
		{"room for an octet", full(label(61, 'b'))[1:], ""},
		{"a greater label", full(label(62-1, 'b')), full("\x3d" + strings.Repeat("b", 60) + "c")},
		{"capitals are passed by", full(label(61, '@')), full("\x3d" + strings.Repeat("@", 60) + "[")},
		{"shorter where nothing is greater", full("\x3d" + "b" + strings.Repeat("\xff", 60)), full("\x01c")},
		{"above where no label is greater", full(label(61, 0xff)), label(63, 'a')[:63] + "b" + label(63, 'a') + label(63, 'a') + "\x00"},
	}
	for _, tt := range tests {
		if tt.want == "" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			got := string(successor(nil, []byte(tt.in)))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// If this fails, a flood of names that askers make up takes memory without end, or
// pushes out what is kept of the zone's own names.
func TestMadeUpNamesPushNothingOut(t *testing.T) {
	s := manyServer(t, signedConfig(t))
	from := netip.MustParseAddrPort("10.1.0.1:9")
	s.Query(askSigned("mail.example.lan.", dns.TypeA, false), from, false)
	z := s.snap.Load().zoneList[0].signer
	count := func(c *proofCache) (n int) {
		for i := range c.slots {
			if c.slots[i].Load() != nil {
				n++
			}
		}
		return n
	}
	before := count(z.real)
	for i := range 3 * len(z.made.slots) {
		s.Query(askSigned(fmt.Sprintf("x%d.example.lan.", i), dns.TypeA, false), from, false)
	}
	if n := count(z.real); n != before+1 { // the SOA's
		t.Errorf("%d signatures of the zone's own names, before %d", n, before)
	}
	made := z.count.Load()
	s.Query(askSigned("mail.example.lan.", dns.TypeA, false), from, false)
	if z.count.Load() != made {
		t.Error("a signature of the zone's own was pushed out")
	}
}

// If this fails, a failover makes the first validators that ask wait for signatures
// that were to be ready, or makes them again for every question.
func TestMovesAreSignedAhead(t *testing.T) {
	cfg := signedConfig(t)
	cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	s := manyServer(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	s.SetAnswer("berlin", "default", answer("10.1.0.77"))
	sn := s.snap.Load()
	z := sn.zones["\x07example\x03lan\x00"]
	n := sn.names.get([]byte("\x03app\x07example\x03lan\x00"))
	e, b := sn.serviceOf(n).pick(sn.siteIndex["berlin"])
	k := addressKey(n.name(), &b.v4.all, e.most(), 0)
	for start := time.Now(); z.signer.real.get(&k, s.signTime()) == nil; {
		if time.Since(start) > time.Minute {
			t.Fatal("the new address is not signed")
		}
		runtime.Gosched()
	}
	p := z.signer.real.get(&k, s.signTime())
	judge(t, keysOf(cfg), exchange(t, s, "10.1.0.1", askSigned("app.example.lan.", dns.TypeA, false), false), s.now())
	if z.signer.real.get(&k, s.signTime()) != p {
		t.Error("a question had the address signed again")
	}
	st := s.Stats().Signed
	if len(st) != 2 || st[0].Zone != "example.lan" || st[0].Signatures == 0 || len(st[0].Keys) != 2 {
		t.Errorf("signed zones %+v", st)
	}
}

// If this fails, validators get an answer without all of its proof, which is none, or
// one that does not reach them whole.
func TestProofIsWholeOrCutOff(t *testing.T) {
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	keys, cut, whole := keysOf(cfg), 0, 0
	for _, name := range []string{"app.example.lan.", "many.example.lan.", "nothing.example.lan.", "chain.example.lan.", "x.sub.example.lan.", "x.signed.example.lan.", "x.moved.example.lan.", "example.lan.", "www.inner.example.lan."} {
		for _, typ := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeDNSKEY, dns.TypeSOA, dns.TypeANY} {
			for _, size := range []uint16{0, 512, 600, 800, 1232, 4096} {
				q := new(dns.Msg).SetQuestion(name, typ)
				q.SetEdns0(size, true)
				msg, err := q.Pack()
				if err != nil {
					t.Fatal(err)
				}
				raw := s.Query(msg, netip.MustParseAddrPort("10.1.0.1:9"), false)
				m := new(dns.Msg)
				if err := m.Unpack(raw); err != nil {
					t.Fatal(err)
				}
				most := int(min(max(size, minUDP), maxUDP))
				switch {
				case len(raw) > most:
					t.Errorf("%s %s: %d octets of %d", name, dns.Type(typ), len(raw), most)
				case m.Truncated && len(m.Answer)+len(m.Ns) > 0:
					t.Errorf("a part of an answer:\n%v", m)
				case m.Truncated:
					cut++
				default:
					whole++
					judge(t, keys, m, s.now())
				}
			}
		}
	}
	if cut == 0 || whole == 0 {
		t.Errorf("%d cut off, %d whole", cut, whole)
	}
}

// If this fails, a zone inside a signed one, which is not signed itself and to which
// nothing delegates, is a forgery to validators.
func TestUnsignedZoneInsideASignedOne(t *testing.T) {
	cfg := signedConfig(t)
	cfg.Zones[1].DNSSEC = nil
	cfg.Zones[0].Records = slices.DeleteFunc(cfg.Zones[0].Records, func(rr dns.RR) bool { return strings.HasPrefix(rr.Header().Name, "inner.") })
	s := manyServer(t, cfg)
	m := exchange(t, s, "10.1.0.1", askSigned("inner.example.lan.", dns.TypeDS, false), false)
	i := slices.IndexFunc(m.Ns, func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeNSEC })
	if i < 0 || !strings.HasSuffix(m.Ns[i].String(), "\\000.inner.example.lan. NS RRSIG NSEC") {
		t.Errorf("the zone is not proved to be unsigned:\n%v", m)
	}
	m = exchange(t, s, "10.1.0.1", askSigned("up.inner.example.lan.", dns.TypeA, false), false)
	if got := brief(m.Answer); len(got) != 3 || !strings.HasPrefix(got[2], "ns1.example.lan. 300 RRSIG A ") {
		t.Errorf("a name that leads from the unsigned zone to the signed one gives %q", got)
	}
}
