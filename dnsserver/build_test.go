package dnsserver

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, a configuration that cannot be served is taken, or refused
// without a word on what to change.
func TestConfigFaults(t *testing.T) {
	add := func(text string) func(*Config) {
		return func(c *Config) { c.Zones[0].Records = append(c.Zones[0].Records, records(t, text)...) }
	}
	host := func(h string) func(*Config) {
		return func(c *Config) { c.Services[0].Hosts = append(c.Services[0].Hosts, h) }
	}
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"two SOA", add("example.lan. 60 IN SOA a. b. 1 2 3 4 5\n"), "zone example.lan. has 2 SOA records at its apex: exactly one is needed"},
		{"no SOA", func(c *Config) { c.Zones[1].Records = c.Zones[1].Records[1:] }, "zone inner.example.lan. has 0 SOA records at its apex: exactly one is needed"},
		{"no NS", func(c *Config) {
			r := c.Zones[1].Records
			c.Zones[1].Records = append(r[:1:1], r[2:]...)
		}, "zone inner.example.lan. has no NS record at its apex"},
		{"SOA elsewhere", add("mail.example.lan. 60 IN SOA a. b. 1 2 3 4 5\n"), "zone example.lan.: SOA record at mail.example.lan., which is not the apex"},
		{"outside", add("www.example.org. 60 IN A 10.0.0.1\n"), "zone example.lan.: record www.example.org. A lies outside the zone"},
		{"outside by a label's end", add("xexample.lan. 60 IN A 10.0.0.1\n"), "zone example.lan.: record xexample.lan. A lies outside the zone"},
		{"class", add("mail.example.lan. 60 CH TXT x\n"), "zone example.lan.: record mail.example.lan. TXT is not of class IN"},
		{"TTL", add("mail.example.lan. 2147483648 IN TXT x\n"), "zone example.lan.: record mail.example.lan. TXT has a TTL of 2147483648, which is over 2147483647 seconds"},
		{"CNAME and other data", add("alias.example.lan. 60 IN A 10.0.0.1\n"), "zone example.lan.: alias.example.lan. has a CNAME and other records: remove one or the other"},
		{"two CNAMEs", add("alias.example.lan. 60 IN CNAME www.example.lan.\n"), "zone example.lan.: alias.example.lan. has more than one CNAME"},
		{"two DNAMEs", add("moved.example.lan. 60 IN DNAME www.example.lan.\n"), "zone example.lan.: moved.example.lan. has more than one DNAME"},
		{"too many octets", add(strings.Repeat("huge.example.lan. 60 IN TXT "+strings.Repeat("x", 200)+"\n", 1) + manyTXT(400)), "zone example.lan.: records huge.example.lan. TXT: "},
		{"zone twice", func(c *Config) { c.Zones = append(c.Zones, c.Zones[0]) }, "zone example.lan. is configured twice: remove one"},
		{"zone's name", func(c *Config) { c.Zones[0].Name = strings.Repeat("a", 64) + ".lan" }, "zone \"aaaa"},
		{"service and record", host("mail.example.lan"), "host mail.example.lan. is defined by a service and by a record (A) of zone example.lan.: remove one of them"},
		{"service in no zone", host("app.example.org"), "host app.example.org. lies in no zone of this server: add the zone or remove the host"},
		{"service below a delegation", host("x.sub.example.lan"), "zone example.lan.: service x.sub.example.lan. lies at or below the delegation of sub.example.lan."},
		{"service below a DNAME", host("x.moved.example.lan"), "zone example.lan.: service x.moved.example.lan. is hidden by the DNAME at moved.example.lan."},
		{"host twice at one site", host("tv.example.lan"), "host tv.example.lan. is in two services at site berlin: remove it from one"},
		{"service without site", func(c *Config) { c.Services[1].Sites = nil }, "service tv.example.lan has no site"},
		{"prefix of two sites", func(c *Config) { c.Views[1].Clients = prefixes("10.1.0.0/16") }, "views: prefix 10.1.0.0/16 belongs to site berlin and to site hamburg: give it to one of them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := lanConfig(t)
			tt.change(cfg)
			s, err := New(cfg, Options{})
			if err == nil {
				t.Fatalf("taken (%v), want the error %q", s.Serials(), tt.want)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %q\nwant  %q", err, tt.want)
			}
		})
	}
}

// If this fails, a record with the longest TTL that there is (RFC 2181 section 8) is
// refused.
func TestLongestTTL(t *testing.T) {
	cfg := lanConfig(t)
	cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, "forever.example.lan. 2147483647 IN TXT x\n")...)
	m := exchange(t, newServer(t, cfg), "10.1.0.1", ask("forever.example.lan.", dns.TypeTXT), false)
	if len(m.Answer) != 1 || m.Answer[0].Header().Ttl != math.MaxInt32 {
		t.Errorf("got %v, want the record with its TTL", m)
	}
}

func manyTXT(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("huge.example.lan. 60 IN TXT \"" + strings.Repeat("y", i%200) + "\" \"" + strings.Repeat("z", 200) + "\" \"" + string(rune('a'+i/200)) + "\"\n")
	}
	return b.String()
}

// If this fails, people mend one fault, start again, and meet the next.
func TestAllFaultsAtOnce(t *testing.T) {
	cfg := lanConfig(t)
	cfg.Services[0].Hosts = append(cfg.Services[0].Hosts, "app.example.org", "mail.example.lan")
	cfg.Views[1].Clients = prefixes("10.1.0.0/16")
	_, err := New(cfg, Options{})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("want three faults, got %v", err)
	}
}

// If this fails, the name of a whole zone cannot be a service beside its SOA and
// NS.
func TestServiceAtTheApex(t *testing.T) {
	cfg := lanConfig(t)
	cfg.Services[0].Hosts = append(cfg.Services[0].Hosts, "example.lan")
	s := newServer(t, cfg)
	s.SetAnswer("hamburg", "default", answer("10.2.0.11"))
	if got := addressesOf(exchange(t, s, "192.0.2.1", ask("example.lan.", 1), false)); len(got) != 1 {
		t.Errorf("addresses %v", got)
	}
	if m := exchange(t, s, "192.0.2.1", ask("example.lan.", 15), false); len(m.Answer) != 1 {
		t.Errorf("MX %v", m)
	}
}

// If this fails, secondaries miss changes, or a serial that nothing changed makes
// them fetch.
func TestSerials(t *testing.T) {
	at := func(unix int64) func() time.Time { return func() time.Time { return time.Unix(unix, 0) } }
	serial := func(s *Server) uint32 { return s.Serials()["example.lan"] }

	t.Run("first", func(t *testing.T) {
		tests := []struct {
			name   string
			stored map[string]uint32
			now    int64
			want   uint32
		}{
			{"by the clock where services move records", nil, 1_700_000_000, 1_700_000_000},
			{"above the stored one", map[string]uint32{"example.lan": 1_800_000_000}, 1_700_000_000, 1_800_000_001},
			{"by the clock above the stored one", map[string]uint32{"example.lan": 1_600_000_000}, 1_700_000_000, 1_700_000_000},
			{"a clock that begins anew", map[string]uint32{"example.lan": 1_700_000_000}, 0, 1_700_000_001},
			{"a state from before what was served", map[string]uint32{"example.lan": 1_699_990_000}, 1_700_000_000, 1_700_000_000},
			{"a clock that was ahead when it was stored", map[string]uint32{"example.lan": 1_900_000_000}, 1_700_000_000, 1_900_000_001},
			{"round the corner (RFC 1982)", map[string]uint32{"example.lan": 4_294_967_295}, 1_700_000_000, 1_700_000_000},
			{"round the corner, as written", map[string]uint32{"example.lan": 4_294_967_295}, 3_000_000_000, 7},
		}
		for _, tt := range tests {
			s, err := New(lanConfig(t), Options{Serials: tt.stored, Now: at(tt.now)})
			if err != nil {
				t.Fatal(err)
			}
			if got := serial(s); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
			if got := s.Serials()["inner.example.lan"]; got != 1 {
				t.Errorf("%s: a zone without services has %d, want 1 as written", tt.name, got)
			}
		}
	})

	t.Run("changes", func(t *testing.T) {
		now := time.Unix(1_700_000_000, 0)
		s, err := New(lanConfig(t), Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		before := serial(s)
		step := func(what string, grows uint32, do func()) {
			t.Helper()
			do()
			if got := serial(s); got != before+grows {
				t.Errorf("%s: %d after %d, want %d more", what, got, before, grows)
			}
			before = serial(s)
		}
		a := answer("10.1.0.11")
		step("first answer", 1, func() { s.SetAnswer("berlin", "default", a) })
		step("the same", 0, func() { s.SetAnswer("berlin", "default", a) })
		unsettled := a
		unsettled.Horizon = 0
		step("a TTL", 0, func() { s.SetAnswer("berlin", "default", unsettled) })
		step("an address", 1, func() { s.SetAnswer("berlin", "default", answer("10.1.0.12")) })
		step("a pool of no service", 0, func() { s.SetAnswer("munich", "default", a) })
		step("a reload of the same", 0, func() { reload(t, s, lanConfig(t)) })
		step("a service's TTL", 0, func() {
			c := lanConfig(t)
			c.Services[0].Sites[0].TTL = time.Minute
			reload(t, s, c)
		})
		step("a record", 1, func() {
			c := lanConfig(t)
			c.Zones[0].Records = append(c.Zones[0].Records, records(t, "new.example.lan. 60 IN A 10.0.0.1\n")...)
			reload(t, s, c)
		})
		step("a host", 1, func() {
			c := lanConfig(t)
			c.Services[0].Hosts = append(c.Services[0].Hosts, "other.example.lan")
			reload(t, s, c)
		})
		step("a clock that begins anew", 1, func() {
			now = time.Unix(0, 0)
			s.SetAnswer("berlin", "default", answer("10.1.0.13"))
		})
		step("a reload under a clock that is ahead", 1, func() {
			now = time.Unix(4_000_000_000, 0)
			c := lanConfig(t)
			c.Services[0].Hosts = append(c.Services[0].Hosts, "later.example.lan")
			reload(t, s, c)
		})
		// Twice a change: the zone as it was, and gone for a while.
		step("a zone that left and came back", 1, func() {
			c := lanConfig(t)
			c.Zones, c.Services = c.Zones[1:], nil
			reload(t, s, c)
			reload(t, s, lanConfig(t))
		})
	})
}

func reload(t *testing.T, s *Server, cfg *Config) {
	t.Helper()
	if err := s.Reload(cfg); err != nil {
		t.Fatal(err)
	}
}

// If this fails, a bad configuration replaces a good one, or a good one forgets
// who serves.
func TestReload(t *testing.T) {
	s := lanServer(t)
	app := func() []string { return addressesOf(exchange(t, s, "10.2.7.7", ask("app.example.lan.", 1), false)) }
	bad := lanConfig(t)
	bad.Zones[0].Records = bad.Zones[0].Records[1:]
	if err := s.Reload(bad); err == nil {
		t.Fatal("a zone without SOA was taken")
	}
	if got := app(); len(got) != 1 {
		t.Errorf("after a refused reload: %v", got)
	}
	good := lanConfig(t)
	good.Services[0].Hosts = append(good.Services[0].Hosts, "fresh.example.lan")
	good.Services = append(good.Services, Service{
		Hosts: []string{"added.example.lan"}, Pool: "added", Sites: []ServiceSite{{Site: "berlin", TTL: time.Minute, TTLUnsettled: time.Second}},
	})
	s.SetAnswer("berlin", "added", answer("10.1.0.31")) // told before the reload
	reload(t, s, good)
	if got := app(); len(got) != 1 {
		t.Errorf("after a reload: %v", got)
	}
	for _, host := range []string{"fresh.example.lan.", "added.example.lan."} {
		if m := exchange(t, s, "10.1.0.1", ask(host, 1), false); len(m.Answer) == 0 {
			t.Errorf("%s: %v", host, m)
		}
	}
}
