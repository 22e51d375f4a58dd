package dnsserver

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

var encodedSecret = base64.StdEncoding.EncodeToString([]byte(testSecret))

// shorterMAC is a signed message with the first octets of its MAC alone.
func shorterMAC(t *testing.T, msg []byte, octets int) []byte {
	t.Helper()
	m := new(dns.Msg)
	if err := m.Unpack(msg); err != nil {
		t.Fatal(err)
	}
	ts := m.IsTsig()
	ts.MAC, ts.MACSize = ts.MAC[:2*octets], uint16(octets)
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verified says whether an answer is signed under the MAC of its question. The
// library holds times against its own clock.
func verified(answer []byte, mac string) bool {
	err := dns.TsigVerify(answer, encodedSecret, mac, false)
	return err == nil || err == dns.ErrTime
}

// proven says the same by our own count, also of errors, which the library does not
// look at.
func proven(s *Server, answer []byte, mac string) bool {
	var q query
	if !q.readQuestion(answer) {
		return false
	}
	q.readSections(answer)
	sig, err := readSignature(answer, q.tsig)
	if err != nil {
		return false
	}
	prior, err := hex.DecodeString(mac)
	k := signer{key: s.snap.Load().keys[sig.name], prior: prior}
	code, malformed := k.check(unsign(answer, sig), sig, sig.time)
	return err == nil && code == 0 && !malformed
}

// If this fails, someone forges signatures, honest servers are turned away, or a
// clock that is wrong is not told from a key that is wrong.
func TestTSIG(t *testing.T) {
	s := lanServerOf(t, transferConfig(t))
	sign := func(name string, at time.Time, f func(m *dns.Msg)) []byte {
		m := new(dns.Msg)
		m.SetQuestion("mail.example.lan.", dns.TypeA)
		if f != nil {
			f(m)
		}
		b, _ := withKey(t, m, name, at)
		return b
	}
	const key = "xfr.example.lan."
	good := sign(key, testStart, nil)
	const algorithmAt = headerLen + 22 + 17 + 10 // question, owner, fixed
	const macAt = algorithmAt + 13 + 10
	tests := []struct {
		name  string
		msg   []byte
		rcode int
		code  int  // in the TSIG record; -1 for no record
		mac   bool // the answer is signed
	}{
		{"right", good, dns.RcodeSuccess, 0, true},
		{"right, with EDNS", sign(key, testStart, func(m *dns.Msg) { m.SetEdns0(1232, true) }), dns.RcodeSuccess, 0, true},
		{"right, with SHA-512", sign("other.example.lan.", testStart, nil), dns.RcodeSuccess, 0, true},
		{"right, name unknown", sign(key, testStart, func(m *dns.Msg) { m.Question[0].Name = "nothing.example.lan." }), dns.RcodeNameError, 0, true},
		{"right, not ours", sign(key, testStart, func(m *dns.Msg) { m.Question[0].Name = "example.org." }), dns.RcodeRefused, 0, true},
		{"right, an update", sign(key, testStart, func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), dns.RcodeRefused, 0, true},
		{"right, of an opcode that nobody knows", sign(key, testStart, func(m *dns.Msg) { m.Opcode = 11 }), dns.RcodeNotImplemented, 0, true},
		{"right, of another version of EDNS", sign(key, testStart, func(m *dns.Msg) { m.SetEdns0(1232, false); m.IsEdns0().SetVersion(1) }), dns.RcodeBadVers, 0, true},
		{"an update with an unknown key", sign("nobody.example.lan.", testStart, func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), dns.RcodeNotAuth, tsigBadKey, false},
		{"at the edge of the time", sign(key, testStart.Add(300*time.Second), nil), dns.RcodeSuccess, 0, true},
		{"too late", sign(key, testStart.Add(-301*time.Second), nil), dns.RcodeNotAuth, tsigBadTime, true},
		{"too early", sign(key, testStart.Add(301*time.Second), nil), dns.RcodeNotAuth, tsigBadTime, true},
		{"unknown key", sign("nobody.example.lan.", testStart, nil), dns.RcodeNotAuth, tsigBadKey, false},
		{"another algorithm than the key's", edit(good, func(b []byte) { b[algorithmAt+10] = '4' }), dns.RcodeNotAuth, tsigBadKey, false},
		{"a bit of the question", edit(good, func(b []byte) { b[14] ^= 0x01 }), dns.RcodeNotAuth, tsigBadSig, false},
		{"a bit of the flags", edit(good, func(b []byte) { b[2] ^= flagRD }), dns.RcodeNotAuth, tsigBadSig, false},
		{"a bit of the MAC", edit(good, func(b []byte) { b[macAt] ^= 1 }), dns.RcodeNotAuth, tsigBadSig, false},
		{"half a MAC", shorterMAC(t, good, 16), dns.RcodeNotAuth, tsigBadTrunc, true},
		{"half a MAC, too late", shorterMAC(t, sign(key, testStart.Add(-301*time.Second), nil), 16), dns.RcodeNotAuth, tsigBadTime, true},
		{"less than half a MAC", shorterMAC(t, good, 15), dns.RcodeFormatError, -1, false},
		{"no MAC", shorterMAC(t, good, 0), dns.RcodeFormatError, -1, false},
		{"record cut off", good[:len(good)-4], dns.RcodeFormatError, -1, false},
		{"a record behind it", edit(append(append([]byte{}, good...), 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0), func(b []byte) { b[11]++ }), dns.RcodeFormatError, -1, false},
		{"an ID that a forwarder changed", edit(good, func(b []byte) { b[0] ^= 1 }), dns.RcodeSuccess, 0, true},
		{"not signed", ask("mail.example.lan.", dns.TypeA), dns.RcodeSuccess, -1, false},
	}
	for _, tt := range tests {
		for _, tcp := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TCP %v", tt.name, tcp), func(t *testing.T) {
				raw := s.Query(tt.msg, netip.MustParseAddrPort("10.9.0.1:53"), tcp)
				m := new(dns.Msg)
				if err := m.Unpack(raw); err != nil {
					t.Fatal(err)
				}
				ts, code := m.IsTsig(), -1
				if ts != nil {
					code = int(ts.Error)
				}
				if m.Rcode != tt.rcode || code != tt.code || ts != nil && (ts.MACSize > 0) != tt.mac {
					t.Fatalf("answer %s", m)
				}
				if !tt.mac {
					return
				}
				asked := new(dns.Msg)
				if err := asked.Unpack(tt.msg); err != nil {
					t.Fatal(err)
				}
				if !proven(s, raw, asked.IsTsig().MAC) || code == 0 && !verified(raw, asked.IsTsig().MAC) {
					t.Error("the answer's signature is wrong")
				}
				if code == tsigBadTime && (ts.OtherData != fmt.Sprintf("%012x", testStart.Unix()) || ts.TimeSigned != asked.IsTsig().TimeSigned) {
					t.Errorf("the answer tells the time %s, signed at %d", ts.OtherData, ts.TimeSigned)
				}
			})
		}
	}
}

// If this fails, answers to signed questions are longer than their askers take,
// or cut off without a signature, which nobody believes.
func TestTSIGTruncates(t *testing.T) {
	cfg := transferConfig(t)
	for i := range 12 {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, fmt.Sprintf("much.example.lan. 60 IN TXT \"%02d %s\"", i, strings.Repeat("x", 30)))...)
	}
	s := lanServerOf(t, cfg)
	if exchange(t, s, "10.9.0.1", ask("much.example.lan.", dns.TypeTXT, 600), false).Truncated {
		t.Fatal("the answer without a signature does not fit either")
	}
	m := new(dns.Msg)
	m.SetQuestion("much.example.lan.", dns.TypeTXT)
	m.SetEdns0(600, false)
	msg, mac := withKey(t, m, "xfr.example.lan.", testStart)
	raw := s.Query(msg, netip.MustParseAddrPort("10.9.0.1:53"), false)
	got := new(dns.Msg)
	if err := got.Unpack(raw); err != nil {
		t.Fatal(err)
	}
	if !got.Truncated || len(raw) > 600 || !verified(raw, mac) {
		t.Errorf("%d octets, truncated %v, verified %v", len(raw), got.Truncated, verified(raw, mac))
	}
}

// If this fails, the longest names that there are lead to a fault, or to an
// answer over the limit.
func TestTSIGLongestNames(t *testing.T) {
	long := strings.Repeat(strings.Repeat("a", 62)+".", 4)[:253-12] + ".example.lan."
	cfg := transferConfig(t)
	cfg.Keys = append(cfg.Keys, Key{Name: long, Algorithm: HMACSHA512, Secret: Secret(testSecret)})
	s := lanServerOf(t, cfg)
	for _, key := range []string{long, "x" + long[1:]} {
		for _, at := range []time.Time{testStart, testStart.Add(time.Hour)} {
			m := new(dns.Msg)
			m.SetQuestion(long, dns.TypeA)
			m.SetTsig(key, dns.HmacSHA512, 300, at.Unix())
			msg, _, err := dns.TsigGenerate(m, encodedSecret, "", false)
			if err != nil {
				t.Fatal(err)
			}
			raw := s.Query(msg, netip.MustParseAddrPort("10.9.0.1:53"), false)
			if got := new(dns.Msg); got.Unpack(raw) != nil || got.IsTsig() == nil || len(raw) > maxUDP {
				t.Errorf("%d octets: %s", len(raw), got)
			}
		}
	}
	if n := s.Stats().UDP.Panics; n > 0 {
		t.Errorf("%d faults were contained", n)
	}
}

// If this fails, a secret gets into a log, an error or an API.
func TestSecretStaysSecret(t *testing.T) {
	k := Key{Name: "k", Secret: Secret("hush")}
	var b strings.Builder
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { // its digits may be any
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewJSONHandler(&b, timeless)).Info("key", "key", k, "secret", k.Secret)
	slog.New(slog.NewTextHandler(&b, timeless)).Info("key", "key", k, "secret", k.Secret)
	asJSON, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		b.WriteString(fmt.Sprintf(verb+" ", k) + fmt.Sprintf(verb+" ", k.Secret) + fmt.Sprintf(verb+"\n", &k))
	}
	b.Write(asJSON)
	for _, leak := range []string{"hush", "68757368", "aHVzaA", "104", "0x68"} {
		if strings.Contains(b.String(), leak) {
			t.Errorf("%q in %s", leak, b.String())
		}
	}
}

// If this fails, a message that nobody has foreseen ends in a fault, or the
// reader of signatures takes half a record.
func FuzzTSIG(f *testing.F) {
	m := new(dns.Msg)
	m.SetQuestion("mail.example.lan.", dns.TypeA)
	good, _ := withKey(f, m, "xfr.example.lan.", testStart)
	f.Add(good)
	f.Add(good[:60])
	change, _ := withKey(f, zoneQuery("example.lan.", 1), "xfr.example.lan.", testStart)
	f.Add(change)
	s := lanServerOf(f, transferConfig(f))
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) < headerLen {
			return
		}
		var q query
		if q.readQuestion(msg) {
			if _, malformed := q.readSections(msg); !malformed && q.tsig > 0 {
				if sig, err := readSignature(msg, q.tsig); err == nil && len(unsign(msg, sig)) != q.tsig {
					t.Error("more is left than stood before the signature")
				}
			}
		}
		for _, tcp := range []bool{false, true} {
			s.Query(msg, netip.MustParseAddrPort("10.9.0.1:53"), tcp)
		}
		if st := s.Stats(); st.UDP.Panics+st.TCP.Panics > 0 {
			t.Error("a fault was contained")
		}
	})
}
