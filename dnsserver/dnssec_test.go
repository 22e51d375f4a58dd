package dnsserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// zoneKey makes a key.
func signingKey(t testing.TB, zone string, algorithm uint8) SigningKey {
	t.Helper()
	k, _, err := GenerateSigningKey(zone, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signedConfig is lanConfig with both zones signed, one by keys of two algorithms,
// and with a pool of more addresses than an answer holds.
func signedConfig(t testing.TB) *Config {
	t.Helper()
	cfg := lanConfig(t)
	cfg.Zones[0].DNSSEC = &Signing{Keys: []SigningKey{
		signingKey(t, "example.lan", dns.ECDSAP256SHA256), signingKey(t, "example.lan", dns.ECDSAP256SHA256),
	}}
	cfg.Zones[1].DNSSEC = &Signing{Keys: []SigningKey{
		signingKey(t, "inner.example.lan", dns.ED25519), signingKey(t, "inner.example.lan", dns.ECDSAP256SHA256),
	}}
	cfg.Services = append(cfg.Services, Service{Hosts: []string{"many.example.lan", "*.many.example.lan"}, Pool: "many", Sites: cfg.Services[0].Sites[:1]})
	return cfg
}

// manyServer serves a configuration, and the pool of many addresses too.
func manyServer(t testing.TB, cfg *Config) *Server {
	t.Helper()
	s := lanServerOf(t, cfg)
	var list []string
	for i := range 11 {
		list = append(list, fmt.Sprintf("10.1.1.%d", i), fmt.Sprintf("fd00:1::1:%d", i))
	}
	s.SetAnswer("berlin", "many", answer(list...))
	return s
}

// verify holds the signatures of a section against its records, and gives the sets
// that are proved, as "name type". Sets of other kinds than those that are never
// signed must be.
func verify(t fataler, keys map[string][]*dns.DNSKEY, rrs []dns.RR, now time.Time) map[string]bool {
	sets, sigs, proved := map[string][]dns.RR{}, map[string][]*dns.RRSIG{}, map[string]bool{}
	name := func(rr dns.RR, typ uint16) string {
		return dns.CanonicalName(rr.Header().Name) + " " + dns.Type(typ).String()
	}
	for _, rr := range rrs {
		if sig, ok := rr.(*dns.RRSIG); ok {
			n := name(sig, sig.TypeCovered)
			sigs[n] = append(sigs[n], sig)
		} else {
			n := name(rr, rr.Header().Rrtype)
			sets[n] = append(sets[n], rr)
		}
	}
	for n, list := range sigs {
		set := sets[n]
		for _, sig := range list {
			if set == nil {
				continue // the signatures were asked for themselves
			}
			good := false
			for _, key := range keys[sig.SignerName] {
				if key.KeyTag() == sig.KeyTag {
					good = sig.Verify(key, set) == nil
				}
			}
			if !good || !sig.ValidityPeriod(now) || sig.Hdr.Ttl != set[0].Header().Ttl || sig.OrigTtl < sig.Hdr.Ttl || sig.Labels != labels(n) {
				t.Fatalf("%s: not proved by %v", n, sig)
			}
		}
		proved[n] = true
	}
	return proved
}

// labels counts those of a name that stands before a space, but for the star.
func labels(n string) uint8 {
	name, _, _ := strings.Cut(n, " ")
	return uint8(dns.CountLabel(strings.TrimPrefix(name, "*.")))
}

// keysOf gives the keys of a configuration's zones by the zones' names.
func keysOf(cfg *Config) map[string][]*dns.DNSKEY {
	keys := map[string][]*dns.DNSKEY{}
	for _, z := range cfg.Zones {
		for _, k := range z.DNSSEC.Keys {
			keys[dns.Fqdn(z.Name)] = append(keys[dns.Fqdn(z.Name)], k.Record())
		}
	}
	return keys
}

// askSigned makes a query that wants proof.
func askSigned(name string, qtype uint16, co bool) []byte {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.SetEdns0(1232, true)
	m.IsEdns0().SetCo(co)
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// judge holds an answer against what a validator asks of it: that every set is
// proved which the zone is the author of, that what is not there is denied by a
// record that says so of this very name, and that what is there is not denied.
func judge(t fataler, keys map[string][]*dns.DNSKEY, m *dns.Msg, now time.Time) {
	q := m.Question[0]
	proved := verify(t, keys, m.Answer, now)
	final := dns.CanonicalName(q.Name)
	delegated := !m.Authoritative || len(m.Ns) > 0 && m.Ns[0].Header().Rrtype == dns.TypeNS
	answered, dname := false, false
	for _, rr := range m.Answer {
		h := rr.Header()
		n := dns.CanonicalName(h.Name) + " " + dns.Type(h.Rrtype).String()
		made := h.Rrtype == dns.TypeCNAME && dname // RFC 6672 section 5.3.1
		if h.Rrtype != dns.TypeRRSIG && !proved[n] && !made {
			t.Fatalf("%s is not proved:\n%v", n, m)
		}
		dname = h.Rrtype == dns.TypeDNAME || dname && h.Rrtype == dns.TypeRRSIG
		if c, ok := rr.(*dns.CNAME); ok && q.Qtype != dns.TypeCNAME {
			final = dns.CanonicalName(c.Target)
		}
		answered = answered || h.Rrtype == q.Qtype || q.Qtype == dns.TypeANY && h.Rrtype != dns.TypeCNAME && h.Rrtype != dns.TypeRRSIG
	}
	proved = verify(t, keys, m.Ns, now)
	if answered || len(m.Ns) == 0 {
		return
	}
	var nsec *dns.NSEC
	for _, rr := range m.Ns {
		n := dns.CanonicalName(rr.Header().Name) + " " + dns.Type(rr.Header().Rrtype).String()
		if x, ok := rr.(*dns.NSEC); ok {
			nsec = x
		}
		if typ := rr.Header().Rrtype; typ != dns.TypeRRSIG && typ != dns.TypeNS && !proved[n] {
			t.Fatalf("%s is not proved:\n%v", n, m)
		}
	}
	has := func(typ uint16) bool { return slices.Contains(nsec.TypeBitMap, typ) }
	if delegated {
		cut := m.Ns[0].Header().Name
		if nsec != nil && (!has(dns.TypeNS) || has(dns.TypeDS) || has(dns.TypeSOA) || dns.CanonicalName(nsec.Hdr.Name) != dns.CanonicalName(cut)) {
			t.Fatalf("the delegation is not proved to be insecure:\n%v", m)
		}
		if nsec == nil && !proved[dns.CanonicalName(cut)+" DS"] {
			t.Fatalf("the delegation has no proof:\n%v", m)
		}
		return
	}
	switch {
	case nsec == nil:
		t.Fatalf("nothing is denied:\n%v", m)
	case dns.CanonicalName(nsec.Hdr.Name) != final:
		t.Fatalf("%s is denied in place of %s:\n%v", nsec.Hdr.Name, final, m)
	case has(q.Qtype), has(dns.TypeCNAME), !has(dns.TypeNSEC), !has(dns.TypeRRSIG):
		t.Fatalf("the types are not those of an absence:\n%v", m)
	case has(dns.TypeNXNAME) && len(nsec.TypeBitMap) != 3:
		t.Fatalf("a missing name has types:\n%v", m)
	case q.Qtype == dns.TypeDS && hasParent(keys, final) && (has(dns.TypeSOA) || has(dns.TypeDNSKEY)):
		t.Fatalf("the child denies its own DS record:\n%v", m)
	case m.Rcode == dns.RcodeNameError && !has(dns.TypeNXNAME):
		t.Fatalf("NXDOMAIN for a name that is there:\n%v", m)
	}
}

// hasParent says whether a zone lies in another of the zones.
func hasParent(keys map[string][]*dns.DNSKEY, zone string) bool {
	for name := range keys {
		if name != zone && strings.HasSuffix(zone, "."+name) {
			return true
		}
	}
	return false
}

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

// If this fails, signatures end while they are still given out, or a clock that was
// wrong for a while leaves signatures that nobody can verify.
func TestSignaturesFollowTheClock(t *testing.T) {
	cfg := signedConfig(t)
	start := time.Unix(1_700_000_000, 0)
	now := start
	trusted := false
	s, err := New(cfg, Options{Now: func() time.Time { return now }, Earliest: start.Add(-time.Hour), Trust: func() bool { return trusted }})
	if err != nil {
		t.Fatal(err)
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11"))
	keys := keysOf(cfg)
	tests := []struct {
		name string
		at   time.Time // of the clock
		for_ time.Time // when the answers must count
		made bool      // anew
	}{
		{"first", start, start, true},
		{"an hour later", start.Add(time.Hour), start.Add(time.Hour), false},
		{"a week later", start.Add(7 * 24 * time.Hour), start.Add(7 * 24 * time.Hour), false},
		{"when a third is left", start.Add(10 * 24 * time.Hour), start.Add(10 * 24 * time.Hour), true},
		{"a clock a year ahead", start.Add(365 * 24 * time.Hour), start.Add(365 * 24 * time.Hour), true},
		{"set right again", start.Add(10 * 24 * time.Hour), start.Add(10 * 24 * time.Hour), true},
		{"a clock that cannot be right", time.Unix(0, 0), start, true},
		{"the same", time.Unix(100, 0), start, false},
		{"right again", start.Add(2 * time.Hour), start.Add(2 * time.Hour), false},
		{"the earlier run was wrong", start.Add(-365 * 24 * time.Hour), start.Add(-365 * 24 * time.Hour), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, trusted = tt.at, strings.Contains(tt.name, "earlier run")
			before := s.snap.Load().zoneList[0].signer.count.Load()
			for _, name := range []string{"app.example.lan.", "mail.example.lan.", "nothing.example.lan."} {
				m := exchange(t, s, "10.1.0.1", askSigned(name, dns.TypeA, false), false)
				judge(t, keys, m, tt.for_)
			}
			if made := s.snap.Load().zoneList[0].signer.count.Load() > before; made != tt.made {
				t.Errorf("signed anew %v, want %v", made, tt.made)
			}
		})
	}
}

// If this fails, a rollover of keys locks validators out: a key that is added is
// not proved by the old one, or the wrong one signs.
func TestKeysTakeTheirTurns(t *testing.T) {
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	old, next := cfg.Zones[0].DNSSEC.Keys[0], cfg.Zones[0].DNSSEC.Keys[1]
	tags := func(name string, typ uint16) (out []uint16) {
		m := exchange(t, s, "10.1.0.1", askSigned(name, typ, false), true)
		for _, rr := range m.Answer {
			if sig, ok := rr.(*dns.RRSIG); ok {
				out = append(out, sig.KeyTag)
			}
		}
		return out
	}
	steps := []struct {
		name string
		keys []SigningKey
		data uint16
	}{
		{"one", []SigningKey{old}, old.Tag()},
		{"the next is published", []SigningKey{old, next}, old.Tag()},
		{"the next signs", []SigningKey{next, old}, next.Tag()},
		{"the old is gone", []SigningKey{next}, next.Tag()},
	}
	for _, st := range steps {
		t.Run(st.name, func(t *testing.T) {
			c := *cfg
			c.Zones = slices.Clone(cfg.Zones)
			c.Zones[0].DNSSEC = &Signing{Keys: st.keys}
			serial := s.Serials()["example.lan"]
			if err := s.Reload(&c); err != nil {
				t.Fatal(err)
			}
			if got := tags("mail.example.lan.", dns.TypeA); !slices.Equal(got, []uint16{st.data}) {
				t.Errorf("keys %d sign an address, want %d", got, st.data)
			}
			for _, typ := range []uint16{dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY} {
				if got := tags("example.lan.", typ); len(got) != len(st.keys) {
					t.Errorf("%d keys sign %s, want %d", len(got), dns.Type(typ), len(st.keys))
				}
			}
			if moved := s.Serials()["example.lan"] != serial; moved == (st.name == "the next signs") {
				t.Errorf("the serial has moved: %v", moved)
			}
		})
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

// If this fails, a configuration that cannot be served signed is taken.
func TestRefusesToSign(t *testing.T) {
	k, other := signingKey(t, "example.lan", dns.ECDSAP256SHA256), signingKey(t, "example.org", dns.ED25519)
	tests := []struct {
		name string
		edit func(*Zone)
		want string
	}{
		{"no key", func(z *Zone) { z.DNSSEC = &Signing{} }, "has no key"},
		{"another zone's key", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{other}} }, "is that of another zone"},
		{"a key twice", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{k, k}} }, "is there twice"},
		{"a day's validity", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{k}, Validity: 24 * time.Hour} }, "valid for 24h0m0s, expected"},
		{"secondaries", func(z *Zone) { z.DNSSEC, z.Transfer = &Signing{Keys: []SigningKey{k}}, &Transfer{} }, "secondaries cannot do"},
		{"a key in the zone", func(z *Zone) {
			z.DNSSEC = &Signing{Keys: []SigningKey{k}}
			z.Records = append(slices.Clone(z.Records), k.Record())
		}, "remove that of example.lan."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := lanConfig(t)
			tt.edit(&cfg.Zones[0])
			_, err := New(cfg, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// If this fails, private keys stand in logs, or halves that do not belong together
// sign what nobody can verify.
func TestSigningKey(t *testing.T) {
	for _, algorithm := range []uint8{dns.ECDSAP256SHA256, dns.ED25519} {
		k, private, err := GenerateSigningKey("example.lan", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		other, _, err := GenerateSigningKey("example.lan", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSigningKey(other.Record(), private); err == nil {
			t.Error("halves of two keys are taken")
		}
		secret := k.Record().PrivateKeyString(private)
		_, secret, _ = strings.Cut(secret, "PrivateKey: ")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(secret))
		if err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
			text := fmt.Sprintf(verb, &Config{Zones: []Zone{{DNSSEC: &Signing{Keys: []SigningKey{k}}}}})
			text += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, Signing{Keys: []SigningKey{k}})
			if strings.Contains(text, fmt.Sprintf("%d", raw[:4])) || strings.Contains(text, strings.Trim(fmt.Sprintf("%d", raw[:4]), "[]")) {
				t.Errorf("%s prints the private key: %s", verb, text)
			}
		}
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
