package dnsserver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
)

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
	if took := time.Since(start); took > time.Minute { // 20 ms on an idle machine, minutes were it quadratic
		t.Errorf("%d moves took %s", count/2, took)
	}
	got, _ := take(t, s, zoneQuery("example.lan.", before))
	if len(got) != 2+4*count/2 {
		t.Errorf("%d records", len(got))
	}
}
