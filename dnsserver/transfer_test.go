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
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
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

// apply applies what a secondary got to the zone that it has, as RFC 1995 says.
func apply(t testing.TB, zone []string, got []dns.RR) []string {
	t.Helper()
	soa := func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeSOA }
	if len(got) == 1 {
		return zone
	}
	if !soa(got[1]) { // the whole
		return lines(got[:len(got)-1])
	}
	zone = slices.Clone(zone)
	removing := false
	for _, rr := range got[1 : len(got)-1] {
		if soa(rr) {
			removing = !removing
		}
		line := lines([]dns.RR{rr})[0]
		at := slices.Index(zone, line)
		switch {
		case removing && at < 0:
			t.Fatalf("removes %q, which is not there", line)
		case removing:
			zone = slices.Delete(zone, at, at+1)
		case at >= 0:
			t.Fatalf("adds %q, which is there", line)
		default:
			zone = append(zone, line)
		}
	}
	return zone
}

// If this fails, a secondary that takes the changes drifts away from one that
// takes the whole zone, or must take the whole zone for every change.
func TestTransferChanges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cfg := transferConfig(t)
		s := lanServerOf(t, cfg)
		got, _ := take(t, s, zoneQuery("example.lan."))
		have, at := lines(got[:len(got)-1]), s.Serials()["example.lan"]
		address := func() string { return fmt.Sprintf("10.1.7.%d", rapid.IntRange(1, 5).Draw(r, "address")) }
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			step := rapid.IntRange(0, 6).Draw(r, "step")
			if step > 2 {
				cfg = transferConfig(t)
			}
			switch step {
			case 0, 1:
				pool := rapid.SampledFrom([]string{"default", "streaming", "weighted"}).Draw(r, "pool")
				site := rapid.SampledFrom([]string{"berlin", "hamburg"}).Draw(r, "site")
				a, b := address(), address()
				list := []string{a}
				if a != b {
					list = append(list, b)
				}
				s.SetAnswer(site, pool, answer(list...))
			case 2:
				s.SetAnswer("berlin", "streaming", sites.Answer{Source: sites.Removed})
			case 3:
				cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, "new.example.lan. 60 IN A "+address())...)
			case 4:
				cfg.Services[0].Sites[0].TTL = time.Duration(rapid.IntRange(10, 12).Draw(r, "ttl")) * time.Second
			case 5:
				cfg.Services = cfg.Services[:len(cfg.Services)-1]
			case 6:
				cfg.Zones[0].Records = append(cfg.Zones[0].Records[1:], records(t, "example.lan. 60 IN SOA ns1.example.lan. other.example.lan. 7 1 1 1 1")...)
			}
			if err := s.Reload(cfg); err != nil {
				r.Fatal(err)
			}
			if rapid.Bool().Draw(r, "takes") {
				continue
			}
			got, _ := take(t, s, zoneQuery("example.lan.", at))
			if len(got) > 1 && got[1].Header().Rrtype != dns.TypeSOA {
				r.Fatal("got the whole zone")
			}
			have, at = apply(t, have, got), s.Serials()["example.lan"]
			whole, _ := take(t, s, zoneQuery("example.lan."))
			want := lines(whole[:len(whole)-1])
			slices.Sort(want)
			slices.Sort(have)
			if diff := cmp.Diff(want, have); diff != "" {
				r.Fatalf("(-whole +changes):\n%s", diff)
			}
		}
	})
}

// If this fails, a secondary keeps the answers of a site that it should no longer
// have.
func TestTransferSiteChanges(t *testing.T) {
	cfg := transferConfig(t)
	s := lanServerOf(t, cfg)
	before := s.Serials()["example.lan"]
	cfg = transferConfig(t)
	cfg.Zones[0].Transfer.Site = "hamburg"
	if err := s.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	got, _ := take(t, s, zoneQuery("example.lan.", before))
	if len(got) < 2 || got[1].Header().Rrtype == dns.TypeSOA || !slices.Contains(lines(got), "app.example.lan. 30 in a 10.2.0.11") {
		t.Errorf("got %d records", len(got))
	}
}

// If this fails, changes are kept without bound, or a secondary that is far
// behind gets nothing.
func TestTransferForgets(t *testing.T) {
	s := lanServerOf(t, transferConfig(t))
	first := s.Serials()["example.lan"]
	for i := range maxDiffs + 10 {
		s.SetAnswer("berlin", "default", answer(fmt.Sprintf("10.1.%d.%d", 1+i/250%2, 1+i%250)))
	}
	h := s.changes["\x07example\x03lan\x00"]
	if len(h.diffs) > maxDiffs || h.bytes > maxDiffBytes || len(h.diffs) < 100 {
		t.Errorf("%d diffs of %d octets are kept", len(h.diffs), h.bytes)
	}
	got, _ := take(t, s, zoneQuery("example.lan.", first))
	if got[1].Header().Rrtype == dns.TypeSOA {
		t.Error("changes since a serial that is forgotten")
	}
	last := s.Serials()["example.lan"]
	got, _ = take(t, s, zoneQuery("example.lan.", last-5))
	if n := len(got); n != 2+5*2+5*4 { // two names lose and gain an address each time
		t.Errorf("%d records for five changes", n)
	}
	if got, _ = take(t, s, zoneQuery("example.lan.", last)); len(got) != 1 {
		t.Errorf("%d records for one that has all", len(got))
	}
}

// If this fails, a failover of thousands of services waits for what secondaries
// are to get.
func TestTransferOfManyPools(t *testing.T) {
	const count = 5000
	cfg := transferConfig(t)
	cfg.Services = nil
	for i := range count {
		cfg.Services = append(cfg.Services, Service{Hosts: []string{fmt.Sprintf("s%d.example.lan", i)}, Pool: fmt.Sprint("p", i), Sites: []ServiceSite{{Site: "berlin", TTL: time.Second}}})
	}
	s := newServer(t, cfg)
	for i := range count {
		s.SetAnswer("berlin", fmt.Sprint("p", i), answer("10.1.0.11"))
	}
	before := s.Serials()["example.lan"]
	start := time.Now()
	for i := range count / 2 {
		s.SetAnswer("berlin", fmt.Sprint("p", i), answer("10.1.0.12"))
	}
	if took := time.Since(start); took > 2*time.Second { // 20 ms on an idle machine, minutes were it quadratic
		t.Errorf("%d moves took %s", count/2, took)
	}
	got, _ := take(t, s, zoneQuery("example.lan.", before))
	if len(got) != 2+4*count/2 {
		t.Errorf("%d records", len(got))
	}
}
