package dnsserver

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

const testSecret = "0123456789abcdef0123456789abcdef"

var testStart = time.Unix(1_700_000_000, 0)

// transferConfig is lanConfig with its zones given to secondaries at 10.9.0.0/16
// who know a key.
func transferConfig(t testing.TB) *Config {
	t.Helper()
	cfg := lanConfig(t)
	cfg.Keys = []Key{
		{Name: "xfr.example.lan", Algorithm: HMACSHA256, Secret: Secret(testSecret)},
		{Name: "other.example.lan", Algorithm: HMACSHA512, Secret: Secret(testSecret)},
	}
	for i := range cfg.Zones {
		cfg.Zones[i].Transfer = &Transfer{Allow: prefixes("10.9.0.0/16"), Keys: []string{"XFR.example.lan"}, Site: "berlin"}
	}
	cfg.Services = slices.DeleteFunc(cfg.Services, func(s Service) bool { return s.Pool == "unset" })
	return cfg
}

// zoneQuery makes the question for a zone; a serial makes it one for changes.
func zoneQuery(zone string, serial ...uint32) *dns.Msg {
	m := new(dns.Msg)
	if len(serial) > 0 {
		m.SetIxfr(zone, serial[0], "ns1."+zone, "admin."+zone)
	} else {
		m.SetAxfr(zone)
	}
	return m
}

// withKey signs a message as a secondary would, and gives its MAC.
func withKey(t testing.TB, m *dns.Msg, name string, at time.Time) (msg []byte, mac string) {
	t.Helper()
	algorithm := dns.HmacSHA256
	if strings.HasPrefix(name, "other") {
		algorithm = dns.HmacSHA512
	}
	m.SetTsig(name, algorithm, 300, at.Unix())
	msg, mac, err := dns.TsigGenerate(m, base64.StdEncoding.EncodeToString([]byte(testSecret)), "", false)
	if err != nil {
		t.Fatal(err)
	}
	return msg, mac
}

// take takes a zone, or its changes, without sockets, as a secondary does, and
// gives the records.
func take(t testing.TB, s *Server, m *dns.Msg) (rrs []dns.RR, messages int) {
	t.Helper()
	msg, _ := withKey(t, m, "xfr.example.lan.", s.now())
	w := &worker{server: s, count: s.tcpCounts}
	dst := make([]byte, maxMessage)
	n := w.respond(dst, msg, netip.MustParseAddr("10.9.0.1"), true)
	read := func(b []byte) {
		in := new(dns.Msg)
		if err := in.Unpack(b); err != nil {
			t.Fatal(err)
		}
		if in.Rcode != dns.RcodeSuccess || !in.Authoritative {
			t.Fatalf("not a transfer: %s", in)
		}
		rrs = append(rrs, in.Answer...)
		messages++
	}
	if w.sending == nil {
		read(dst[:n])
		return rrs, messages
	}
	defer s.transfer.now.Add(-1)
	if _, err := w.sending.send(dst, func(b []byte) error { read(b); return nil }); err != nil {
		t.Fatal(err)
	}
	return rrs, messages
}

// lines writes records with their TTLs, in order.
func lines(rrs []dns.RR) (out []string) {
	for _, rr := range rrs {
		out = append(out, strings.ToLower(strings.Join(strings.Fields(rr.String()), " ")))
	}
	return out
}

// If this fails, a secondary lacks records, has those of another site, keeps
// answers for as long as they hold only in unquiet times, or has half a zone.
func TestTransferWhole(t *testing.T) {
	cfg := transferConfig(t)
	s := lanServerOf(t, cfg)
	near := answer("10.1.0.21", "10.1.0.22")
	near.Horizon = 0 // a change is near: the TTL is 5 s on the wire
	s.SetAnswer("berlin", "streaming", near)
	pools := map[string]string{
		"app": "10.1.0.11 10.1.0.12 fd00:1::11", "*.apps": "10.1.0.11 10.1.0.12 fd00:1::11",
		"tv": "10.1.0.21 10.1.0.22", "split": "10.1.0.21 10.1.0.22",
		"weighted": "10.1.0.31 10.1.0.32 10.1.0.33 10.1.0.34 10.1.0.35 fd00:1::31 fd00:1::34",
		"hashed":   "10.1.0.41 10.1.0.42 10.1.0.43 fd00:1::41 fd00:1::44",
		"uneven":   "10.1.0.51 10.1.0.53 10.1.0.54 fd00:1::53 fd00:1::54",
	}
	for _, zone := range cfg.Zones {
		got, _ := take(t, s, zoneQuery(zone.Name+"."))
		var want []string
		for _, rr := range zone.Records {
			if rr.Header().Rrtype != dns.TypeSOA {
				want = append(want, lines([]dns.RR{rr})...)
			}
		}
		if zone.Name == "example.lan" {
			for host, list := range pools {
				for a := range strings.FieldsSeq(list) {
					kind := "a"
					if strings.Contains(a, ":") {
						kind = "aaaa"
					}
					want = append(want, fmt.Sprintf("%s.example.lan. 30 in %s %s", host, kind, a))
				}
			}
		}
		first, last := got[0], got[len(got)-1]
		if soa, ok := first.(*dns.SOA); !ok || soa.Serial != s.Serials()[zone.Name] || first.String() != last.String() {
			t.Errorf("%s: begins with %s, ends with %s", zone.Name, first, last)
		}
		have := lines(got[1 : len(got)-1])
		slices.Sort(want)
		slices.Sort(have)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", zone.Name, diff)
		}
	}
}

// If this fails, strangers read a zone, or a secondary is turned away.
func TestTransferRules(t *testing.T) {
	s := lanServerOf(t, transferConfig(t))
	serial := s.Serials()["example.lan"]
	const right, key = "10.9.0.1", "xfr.example.lan."
	tests := []struct {
		name, from, key, zone string
		serial                []uint32
		udp                   bool
		rcode                 int
	}{
		{name: "right", from: right, key: key, zone: "example.lan.", rcode: dns.RcodeSuccess},
		{name: "letters in another case", from: right, key: "xFr.example.lan.", zone: "Example.LAN.", rcode: dns.RcodeSuccess},
		{name: "stranger with the key", from: "10.1.0.1", key: key, zone: "example.lan.", rcode: dns.RcodeRefused},
		{name: "without a key", from: right, zone: "example.lan.", rcode: dns.RcodeRefused},
		{name: "with another key", from: right, key: "other.example.lan.", zone: "example.lan.", rcode: dns.RcodeRefused},
		{name: "a name in the zone", from: right, key: key, zone: "mail.example.lan.", rcode: dns.RcodeNotAuth},
		{name: "a name that ends like the zone", from: right, key: key, zone: "xexample.lan.", rcode: dns.RcodeNotAuth},
		{name: "the whole over UDP", from: right, key: key, zone: "example.lan.", udp: true, rcode: dns.RcodeRefused},
		{name: "changes over UDP", from: right, key: key, zone: "example.lan.", serial: []uint32{serial - 1}, udp: true, rcode: dns.RcodeSuccess},
		{name: "changes over UDP for a stranger", from: "10.1.0.1", key: key, zone: "example.lan.", serial: []uint32{serial}, udp: true, rcode: dns.RcodeRefused},
		{name: "changes without a key", from: right, zone: "example.lan.", serial: []uint32{serial}, rcode: dns.RcodeRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := zoneQuery(tt.zone, tt.serial...)
			msg, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			if tt.key != "" {
				msg, _ = withKey(t, m, tt.key, testStart)
			}
			got := exchange(t, s, tt.from, msg, !tt.udp)
			if got.Rcode != tt.rcode || (got.Rcode == dns.RcodeSuccess) != (len(got.Answer) > 0) {
				t.Errorf("answer %s", got)
			}
			if tt.udp && len(got.Answer) > 1 {
				t.Errorf("%d records over UDP", len(got.Answer))
			}
		})
	}
	if n := s.transfer.now.Load(); n != 0 {
		t.Errorf("%d transfers are open", n)
	}
}

// If this fails, names vanish from secondaries while the server starts.
func TestTransferWaitsForAnswers(t *testing.T) {
	s := newServer(t, transferConfig(t))
	msg, _ := withKey(t, zoneQuery("example.lan."), "xfr.example.lan.", testStart)
	if got := exchange(t, s, "10.9.0.1", msg, true); got.Rcode != dns.RcodeServerFailure {
		t.Errorf("answered %s", got)
	}
}

// If this fails, a secondary that speaks EDNS takes the server for one that does not, or
// its cookie is not answered (RFC 6891 section 6.1.1, RFC 5936 section 2.2.5).
func TestTransferWithEDNS(t *testing.T) {
	cfg := transferConfig(t)
	for i := range 900 {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, fmt.Sprintf("h%d.example.lan. 60 IN TXT %060d", i, i))...)
	}
	s := lanServerOf(t, cfg)
	m := zoneQuery("example.lan.")
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"}}
	msg, mac := withKey(t, m, "xfr.example.lan.", s.now())
	w := &worker{server: s, count: s.tcpCounts}
	buf := make([]byte, maxMessage)
	if n := w.respond(buf, msg, netip.MustParseAddr("10.9.0.1"), true); n > 0 || w.sending == nil {
		t.Fatal("no transfer")
	}
	defer s.transfer.now.Add(-1)
	messages := 0
	if _, err := w.sending.send(buf, func(b []byte) error {
		in := new(dns.Msg)
		if err := in.Unpack(b); err != nil {
			return err
		}
		if opt := in.IsEdns0(); (opt != nil) != (messages == 0) || opt != nil && (opt.UDPSize() != maxUDP || len(opt.Option) != 1) {
			t.Errorf("message %d has the OPT record %v", messages, opt)
		}
		sig := in.IsTsig()
		if sig == nil {
			t.Fatalf("message %d is not signed", messages)
		}
		if err := dns.TsigVerify(b, encodedSecret, mac, messages > 0); err != nil && err != dns.ErrTime {
			t.Errorf("message %d: %v", messages, err)
		}
		mac = sig.MAC
		messages++
		return nil
	}); err != nil || messages < 2 {
		t.Errorf("%d messages: %v", messages, err)
	}
}
