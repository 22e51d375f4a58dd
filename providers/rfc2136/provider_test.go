package rfc2136

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

func rec(name, addr string, ttl time.Duration) providers.Record {
	return providers.Record{Name: name, Addr: netip.MustParseAddr(addr), TTL: ttl}
}

// list gives what is listed as lines, "*" behind those that bear a mark.
func list(t *testing.T, p *Provider, names ...string) (entries, shadows []string) {
	t.Helper()
	l, err := p.List(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		line := e.Text
		if e.Marked {
			line += " *"
		}
		entries = append(entries, line)
	}
	slices.Sort(entries)
	for _, s := range l.Shadows {
		shadows = append(shadows, s.Text)
	}
	slices.Sort(shadows)
	return entries, shadows
}

func find(t *testing.T, p *Provider, key providers.Key) (entries []providers.Entry) {
	t.Helper()
	l, err := p.List(t.Context(), []string{key.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		if e.Key() == key {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b providers.Entry) int { return cmp.Compare(a.ID, b.ID) })
	return entries
}

// A zone on a real server could not be managed: a change does not arrive, does
// more than it should, or what is there is read wrongly.
func TestRealServers(t *testing.T) {
	for _, s := range servers() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			cfg := s.begin(t)
			for _, mark := range []string{"", "hq"} {
				t.Run("mark="+mark, func(t *testing.T) {
					cfg := cfg
					cfg.Mark = mark
					testServer(t, New(cfg))
				})
			}
			t.Run("refusals", func(t *testing.T) { testRefusals(t, cfg, s.mayNot) })
		})
	}
}

func testServer(t *testing.T, p *Provider) {
	t.Helper()
	star := ""
	if p.cfg.Mark != "" {
		star = " *"
	}
	host := "www" + p.cfg.Mark + ".example.lan"
	a, aaaa := providers.Key{Name: host}, providers.Key{Name: host, Family: sites.IPv6}
	names := []string{host, "*." + host, "app.example.lan"}
	const foreign = "app.example.lan. 77 IN A 10.9.9.9"
	check := func(step string, want ...string) {
		t.Helper()
		got, _ := list(t, p, names...)
		want = append(want, foreign)
		slices.Sort(want)
		if diff := godiff.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", step, diff)
		}
	}
	apply := func(c providers.Change) {
		t.Helper()
		if err := p.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	check("before")
	apply(providers.Change{Key: a, Add: []providers.Record{rec(host, "10.1.0.11", 30*time.Second), rec(host, "10.1.0.12", 30*time.Second)}})
	apply(providers.Change{Key: aaaa, Add: []providers.Record{rec(host, "fd00:1::11", 30*time.Second)}})
	apply(providers.Change{Key: providers.Key{Name: "*." + host}, Add: []providers.Record{rec("*."+host, "10.1.0.13", time.Second)}})
	check("added", host+". 30 IN A 10.1.0.11"+star, host+". 30 IN A 10.1.0.12"+star, host+". 30 IN AAAA fd00:1::11"+star, "*."+host+". 1 IN A 10.1.0.13"+star)

	before := find(t, p, a)
	c := providers.Change{Key: a, Before: before, Swap: []providers.Swap{{From: before[0], To: rec(host, "10.1.0.21", 30*time.Second)}}, Remove: before[1:]}
	apply(c)
	check("swapped", host+". 30 IN A 10.1.0.21"+star, host+". 30 IN AAAA fd00:1::11"+star, "*."+host+". 1 IN A 10.1.0.13"+star)
	// The same again is for a set that is no longer there.
	if class, _ := providers.ClassOf(p.Apply(t.Context(), c)); class != providers.Changed {
		t.Errorf("a change of what is no longer there is of class %d", class)
	}
	before = find(t, p, a)
	apply(providers.Change{Key: a, Before: before, Swap: []providers.Swap{{From: before[0], To: rec(host, "10.1.0.21", 10*time.Second)}}})
	check("another TTL", host+". 10 IN A 10.1.0.21"+star, host+". 30 IN AAAA fd00:1::11"+star, "*."+host+". 1 IN A 10.1.0.13"+star)
	apply(providers.Change{Key: a, Before: find(t, p, a), Remove: find(t, p, a)})
	apply(providers.Change{Key: aaaa, Before: find(t, p, aaaa), Remove: find(t, p, aaaa)})
	wild := providers.Key{Name: "*." + host}
	apply(providers.Change{Key: wild, Before: find(t, p, wild), Remove: find(t, p, wild)})
	check("removed")
	if p.cfg.Mark != "" {
		in, err := p.query(t.Context(), p.marks.owner(host), dns.TypeTXT)
		if err != nil || len(in.Answer) > 0 {
			t.Errorf("a mark is left behind: %v, %v", in, err)
		}
		// Adopting changes the marks alone.
		old := find(t, p, providers.Key{Name: "hand.example.lan"})
		apply(providers.Change{Key: old[0].Key(), Before: old, Adopt: old})
		if got, _ := list(t, p, "hand.example.lan"); got[0] != "hand.example.lan. 300 IN A 10.9.9.8 *" {
			t.Errorf("adopted: %q", got)
		}
	}
	entries, shadows := list(t, p, "alias.example.lan", "x.any.example.lan", "x.moved.example.lan", "app.example.org", "www.cut.example.lan")
	if len(entries) > 0 {
		t.Errorf("listed what is not in the zone: %q", entries)
	}
	want := []string{"alias.example.lan is a CNAME", "app.example.org lies outside", "www.cut.example.lan is delegated", "x.moved.example.lan lies below the DNAME"}
	if len(shadows) != len(want) {
		t.Fatalf("shadows %q, want %q", shadows, want)
	}
	for i := range want {
		if !strings.HasPrefix(shadows[i], want[i]) {
			t.Errorf("shadow %q, want %q…", shadows[i], want[i])
		}
	}
	in, err := p.Inspect(t.Context())
	if err != nil || len(in.Findings) > 0 || len(in.DNS) != 1 || !strings.Contains(in.Product, "serial") {
		t.Errorf("inspection: %+v, %v", in, err)
	}
}

// testRefusals holds what is said where the server does not want to.
func testRefusals(t *testing.T, good Config, mayNot providers.Class) {
	for _, tc := range []struct {
		name  string
		edit  func(*Config)
		class providers.Class
		want  string
	}{
		{"unknown key", func(c *Config) { c.KeyName = "other" }, providers.Denied, "does not know the key other"},
		{"another algorithm", func(c *Config) { c.Algorithm = "hmac-sha512" }, providers.Denied, "does not know the key"},
		{"another secret", func(c *Config) { c.Secret = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" }, providers.Denied, "another secret"},
		{"a key that may not", func(c *Config) { c.KeyName = "reader" }, mayNot, "key reader"},
		{"no key", func(c *Config) { c.KeyName = "" }, providers.Permanent, "this machine's address"},
		{"another zone", func(c *Config) { c.Zone = "example.org" }, providers.Permanent, "example.org"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := good
			tc.edit(&cfg)
			p := New(cfg)
			err := p.Apply(t.Context(), providers.Change{Key: providers.Key{Name: "x." + cfg.Zone}, Add: []providers.Record{rec("x."+cfg.Zone, "10.0.0.1", time.Second)}})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if class, _ := providers.ClassOf(err); class != tc.class {
				t.Errorf("class %d, want %d: %v", class, tc.class, err)
			}
			if strings.Contains(err.Error(), testSecret) {
				t.Error("the secret shows")
			}
		})
	}
	t.Run("a clock that is wrong", func(t *testing.T) {
		p := New(good)
		p.now = func() time.Time { return time.Now().Add(-time.Hour) }
		_, err := p.List(t.Context(), []string{"app.example.lan"})
		// It is set soon after a small board has started: not in five minutes.
		if class, _ := providers.ClassOf(err); class != providers.Declined || !strings.Contains(err.Error(), "clock") {
			t.Errorf("class %d: %v", class, err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		cfg := good
		cfg.Server = daemontest.Addr(t).String()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := New(cfg).List(ctx, []string{"app.example.lan"}); err == nil || !strings.Contains(err.Error(), "ask "+cfg.Server) {
			t.Errorf("got %v", err)
		}
	})
}

// Where the clocks differ and the server alone takes no offence, or ours is set while it
// answers, its credentials would count as refused: after three times nothing would be tried
// any more, and people would look for another secret.
func TestAnAnswerOfAnotherTimeIsNoRefusal(t *testing.T) {
	p := New(Config{Server: "192.0.2.1:53", Zone: "example.lan."})
	err := p.failed(nil, errors.Join(errors.New("read"), dns.ErrTime))
	if class, _ := providers.ClassOf(err); class != providers.Declined || !strings.Contains(err.Error(), "clock") || strings.Contains(err.Error(), "secret") {
		t.Errorf("class %d: %v", class, err)
	}
}
