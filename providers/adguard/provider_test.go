package adguard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/providers"
)

var (
	one   = providers.Record{Name: "app.lan", Addr: netip.MustParseAddr("192.0.2.10")}
	two   = providers.Record{Name: "app.lan", Addr: netip.MustParseAddr("192.0.2.11")}
	three = providers.Record{Name: "app.lan", Addr: netip.MustParseAddr("192.0.2.12")}
)

func on(domain, answer string) adguardsim.Rewrite {
	return adguardsim.Rewrite{Domain: domain, Answer: answer, Enabled: true}
}

func off(domain, answer string) adguardsim.Rewrite {
	return adguardsim.Rewrite{Domain: domain, Answer: answer}
}

func hold(t *testing.T, s *adguardsim.Server, list ...adguardsim.Rewrite) {
	t.Helper()
	if err := s.Edit(func([]adguardsim.Rewrite) []adguardsim.Rewrite { return list }); err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, p *Provider, names ...string) providers.Listing {
	t.Helper()
	l, err := p.List(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func class(err error) string {
	if err == nil {
		return ""
	}
	c, after := providers.ClassOf(err)
	return fmt.Sprint([]string{"transient", "permanent", "denied", "changed", "declined"}[c], " ", after)
}

// A wrong password would lock out the person at the same address, or a good one
// be sent with every request.
func TestLogin(t *testing.T) {
	for _, profile := range adguardsim.Profiles() {
		t.Run(profile.Version, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s := start(t, adguardsim.Options{Profile: profile, Now: func() time.Time { return now }})
			p := dial(t, Config{URL: s.URL()})
			for range 3 {
				listed(t, p)
			}
			if s.Logins() != 1 {
				t.Errorf("logged in %d times for 3 listings", s.Logins())
			}
			s.DropSessions()
			listed(t, p)
			if s.Logins() != 2 {
				t.Errorf("an ended session is begun %d times", s.Logins()-1)
			}
			bad := dial(t, Config{URL: s.URL(), Username: user, Password: "geheim"})
			for i := range 6 {
				_, err := bad.List(t.Context(), nil)
				want := "denied 0s"
				if i == 5 {
					want = "denied 15m0s"
				}
				if class(err) != want || strings.Contains(err.Error(), "geheim") {
					t.Errorf("try %d: %v (%s), want %s", i+1, err, class(err), want)
				}
				if got := s.Logins() - 3 - i; got != 0 {
					t.Fatalf("a wrong password was tried again by itself (%d)", got)
				}
			}
			listed(t, p) // a session goes on
			now = now.Add(16 * time.Minute)
			listed(t, dial(t, Config{URL: s.URL()}))
			p.Close()
			if n := slices.Index(s.Requests(), "GET /control/logout"); n < 0 {
				t.Error("the session is not ended")
			}
		})
	}
}

// A server without users, before its first set-up, behind a path or behind TLS
// would not be understood.
func TestWaysToStand(t *testing.T) {
	cert := httptest.NewTLSServer(nil)
	defer cert.Close()
	pin := sha256.Sum256(cert.Certificate().Raw)
	for _, tt := range []struct {
		name string
		opt  adguardsim.Options
		cfg  Config
		path string
		want string // class and a part of the text
	}{
		{name: "plain"},
		{name: "behind a path", opt: adguardsim.Options{Base: "/adguard"}},
		{name: "a final slash", path: "/"},
		{name: "the wrong path", path: "/dns", want: "denied 0s|the path in the URL is wrong"},
		{name: "not set up", opt: adguardsim.Options{FirstRun: true}, want: "permanent 0s|first steps"},
		{name: "HTTPS is forced", opt: adguardsim.Options{ForceHTTPS: "https://dns.lan"}, want: "permanent 0s|must begin with https://"},
		{name: "pinned", opt: adguardsim.Options{TLS: cert.TLS}, cfg: Config{TLS: providers.TLS{Mode: providers.Pinned, Fingerprint: pin}}},
		{name: "pinned to another", opt: adguardsim.Options{TLS: cert.TLS}, cfg: Config{TLS: providers.TLS{Mode: providers.Pinned}}, want: "permanent 0s|fingerprint"},
		{name: "unknown authority", opt: adguardsim.Options{TLS: cert.TLS}, want: "transient 0s|certificate"},
		{name: "insecure", opt: adguardsim.Options{TLS: cert.TLS}, cfg: Config{TLS: providers.TLS{Mode: providers.Insecure}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.opt)
			tt.cfg.URL = s.URL() + tt.path
			p := dial(t, tt.cfg)
			_, err := p.List(t.Context(), nil)
			of, text, _ := strings.Cut(tt.want, "|")
			if class(err) != of || err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("got %v (%s), want %q", err, class(err), tt.want)
			}
		})
	}
	t.Run("no users", func(t *testing.T) {
		s, err := adguardsim.Start(adguardsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		listed(t, dial(t, Config{URL: s.URL()}))
		if s.Logins() != 0 {
			t.Error("it is logged in where nobody asks for it, which is refused")
		}
	})
}

// A listing that came half, or as a page of something in between, would be taken
// for an empty target.
func TestFaultsOfListing(t *testing.T) {
	for _, tt := range []struct {
		fault adguardsim.Fault
		want  string
	}{
		{adguardsim.Cut, "transient 0s"},
		{adguardsim.Error, "declined 0s"},
		{adguardsim.HTML, "permanent 0s"},
		{adguardsim.Busy, "transient 7s"},
		{adguardsim.Huge, "permanent 0s"},
		{adguardsim.LostReply, "transient 0s"},
		{adguardsim.Hang, "transient 0s"},
	} {
		s := start(t, adguardsim.Options{})
		p := dial(t, Config{URL: s.URL()})
		listed(t, p)
		// net/http asks again for a listing by itself if a kept connection ends.
		p.client.http.CloseIdleConnections()
		ctx, cancel := context.WithCancel(t.Context())
		hit := s.Break(tt.fault, 0, true)
		if tt.fault == adguardsim.Hang {
			go func() { <-hit; cancel() }()
		}
		if _, err := p.List(ctx, nil); class(err) != tt.want {
			t.Errorf("fault %d: %v (%s), want %s", tt.fault, err, class(err), tt.want)
		}
		cancel()
		listed(t, p)
	}
}

// A write that a page answers in place of the server would be taken for done.
func TestPageInPlaceOfAnAnswer(t *testing.T) {
	s := start(t, adguardsim.Options{})
	p := dial(t, Config{URL: s.URL()})
	s.Break(adguardsim.HTML, 0, false)
	if err := p.Apply(t.Context(), providers.Change{Key: one.Key(), Add: []providers.Record{one}}); class(err) != "permanent 0s" {
		t.Errorf("got %v", err)
	}
}

// A disabled rewrite would stay so after a move; a double, a text in other
// letters or one that changed under the hand would be deleted or left.
func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name   string
		there  []adguardsim.Rewrite
		meddle []adguardsim.Rewrite // what a hand makes of it after the listing
		change func(e []providers.Entry) providers.Change
		want   []adguardsim.Rewrite
		err    string
	}{
		{
			name:  "a disabled one is switched on by a swap",
			there: []adguardsim.Rewrite{off("app.lan", "192.0.2.10")},
			change: func(e []providers.Entry) providers.Change {
				return providers.Change{Swap: []providers.Swap{{From: e[0], To: two}}}
			},
			want: []adguardsim.Rewrite{on("app.lan", "192.0.2.11")},
		},
		{
			name:  "doubles go together",
			there: []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("app.lan", "192.0.2.10")},
			change: func(e []providers.Entry) providers.Change {
				return providers.Change{Swap: []providers.Swap{{From: e[0], To: two}}, Add: []providers.Record{three}, Remove: e[1:]}
			},
			want: []adguardsim.Rewrite{on("app.lan", "192.0.2.11"), on("app.lan", "192.0.2.12")},
		},
		{
			name:  "one of two equal ones cannot be deleted",
			there: []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("app.lan", "192.0.2.10")},
			change: func(e []providers.Entry) providers.Change {
				return providers.Change{Remove: e[1:]}
			},
			want: []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("app.lan", "192.0.2.10")},
			err:  "permanent 0s",
		},
		{
			name:   "another hand was there",
			there:  []adguardsim.Rewrite{on("app.lan", "192.0.2.10")},
			meddle: []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("app.lan", "192.0.2.10")},
			change: func(e []providers.Entry) providers.Change { return providers.Change{Remove: e} },
			want:   []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("app.lan", "192.0.2.10")},
			err:    "changed 0s",
		},
		{
			name:  "what is there is not added again",
			there: []adguardsim.Rewrite{on("app.lan", "192.0.2.10")},
			change: func([]providers.Entry) providers.Change {
				return providers.Change{Add: []providers.Record{one}}
			},
			want: []adguardsim.Rewrite{on("app.lan", "192.0.2.10")},
			err:  "changed 0s",
		},
		{
			name:   "the text is sent as it was listed",
			there:  []adguardsim.Rewrite{on("App.LAN", "2001:DB8:0:0::1"), on("app.lan", "2001:db8::2")},
			change: func(e []providers.Entry) providers.Change { return providers.Change{Remove: e[:1]} },
			want:   []adguardsim.Rewrite{on("app.lan", "2001:db8::2")},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, adguardsim.Options{})
			hold(t, s, tt.there...)
			p := dial(t, Config{URL: s.URL()})
			l := listed(t, p, "app.lan")
			if tt.meddle != nil {
				hold(t, s, tt.meddle...)
			}
			c := tt.change(l.Entries)
			c.Key, c.Before = l.Entries[0].Key(), l.Entries
			if err := p.Apply(t.Context(), c); class(err) != tt.err {
				t.Errorf("%v (%s), want %q", err, class(err), tt.err)
			}
			if d := cmp.Diff(tt.want, s.Rewrites()); d != "" {
				t.Errorf("rewrites (-want +got):\n%s", d)
			}
		})
	}
}

// A rewrite that hides a name, or answers in its place, would not be told of.
func TestShadows(t *testing.T) {
	for _, tt := range []struct {
		name  string
		there []adguardsim.Rewrite
		names []string
		want  []string // parts of the texts
	}{
		{"nothing", []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("*.lan2", "192.0.2.1")}, []string{"app.lan"}, nil},
		{"a CNAME", []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("APP.lan", "x.lan")}, []string{"app.lan"}, []string{"is a CNAME"}},
		{"a disabled CNAME", []adguardsim.Rewrite{off("app.lan", "x.lan")}, []string{"app.lan"}, nil},
		{"exceptions", []adguardsim.Rewrite{on("app.lan", "A"), on("app.lan", "app.lan")}, []string{"app.lan"}, []string{"questions for A answered", "all questions"}},
		{"a wildcard of the other type", []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("*.lan", "2001:db8::1")}, []string{"app.lan"}, []string{"questions for AAAA"}},
		{"a wildcard CNAME", []adguardsim.Rewrite{on("app.lan", "192.0.2.10"), on("*.lan", "x.example")}, []string{"app.lan"}, []string{"in place of the addresses"}},
		{"several values on a wildcard", []adguardsim.Rewrite{on("*.lan", "192.0.2.10"), on("*.lan", "192.0.2.11")}, []string{"*.lan"}, []string{"it is 192.0.2.10"}},
		{"names below a wildcard", []adguardsim.Rewrite{on("*.lan", "192.0.2.10"), on("a.lan", "192.0.2.1"), on("ours.lan", "192.0.2.1")}, []string{"*.lan", "ours.lan"}, []string{"a.lan below it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, adguardsim.Options{})
			hold(t, s, tt.there...)
			got := listed(t, dial(t, Config{URL: s.URL()}), tt.names...).Shadows
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v, want %q", got, tt.want)
			}
			for i, w := range tt.want {
				if !slices.ContainsFunc(got, func(x providers.Shadow) bool { return strings.Contains(x.Text, w) }) {
					t.Errorf("%d: got %+v, want %q", i, got, w)
				}
			}
		})
	}
}

// A switch that makes every rewrite void, a TTL that keeps clients at a dead
// node, or a hole in the server would not be told of.
func TestInspect(t *testing.T) {
	for _, profile := range adguardsim.Profiles() {
		t.Run(profile.Version, func(t *testing.T) {
			s := start(t, adguardsim.Options{Profile: profile})
			p := dial(t, Config{URL: s.URL(), TTL: 5 * time.Second})
			old := profile.Version < adguardsim.V79.Version
			look := func() (texts []string) {
				in, err := p.Inspect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if in.TTL != 10*time.Second || in.Product != "AdGuard Home "+profile.Version || !cmp.Equal(in.DNS, []netip.AddrPort{s.DNS()}, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })) {
					t.Errorf("inspection: %+v", in)
				}
				for _, f := range in.Findings {
					texts = append(texts, fmt.Sprint(f.Severity, " ", f.Text))
				}
				return texts
			}
			has := func(list []string, part string) bool {
				return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
			}
			found := look()
			if has(found, "CVE-2026-32136") != old || !has(found, "TTL of 10s") || has(found, "switched off") {
				t.Errorf("findings: %q", found)
			}
			p.client.do(t.Context(), http.MethodPost, "/filtering/config", map[string]any{"enabled": false, "interval": 24})
			p.client.do(t.Context(), http.MethodPut, "/rewrite/settings/update", map[string]any{"enabled": false})
			p.client.do(t.Context(), http.MethodPost, "/protection", map[string]any{"enabled": false})
			hold(t, s, on("a.lan", "192.0.2.1"), on("a.lan", "192.0.2.1"))
			found = look()
			if !has(found, "filtering_enabled") || has(found, "rewrites_enabled") != (profile.Version >= "v0.107.68") || !has(found, "protection is switched off") || !has(found, "a.lan → 192.0.2.1") || !strings.HasPrefix(found[0], "critical") {
				t.Errorf("findings: %q", found)
			}
		})
	}
}

// The TTL of a server that is also used for other things would be changed
// without being asked to, or not where one asks.
func TestManageTTL(t *testing.T) {
	for _, manage := range []bool{false, true} {
		s := start(t, adguardsim.Options{})
		p := dial(t, Config{URL: s.URL(), TTL: 5 * time.Second, ManageTTL: manage})
		if _, err := p.Inspect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ttl, _ := p.ttl(t.Context()); ttl != 10*time.Second {
			t.Error("to inspect changes something")
		}
		if err := p.Apply(t.Context(), providers.Change{Key: one.Key(), Add: []providers.Record{one}}); err != nil {
			t.Fatal(err)
		}
		want := 10 * time.Second
		if manage {
			want = 5 * time.Second
		}
		if ttl, _ := p.ttl(t.Context()); ttl != want {
			t.Errorf("manage_ttl %v: the TTL is %s, want %s", manage, ttl, want)
		}
	}
}

// A list that is not whole would be read as one.
func FuzzParseRows(f *testing.F) {
	for _, s := range []string{`[]`, `null`, `[{"domain":"a","answer":"192.0.2.1","enabled":false}]`, `[{"domain":"a"}]`, `[{}`, `{}`, `[null]`, `[]x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := parseRows(data)
		if err == nil && rows == nil {
			t.Error("neither a list nor an error")
		}
		for _, r := range rows {
			back, err := parseID(r.id())
			if strings.Contains(r.Domain, "\n") {
				continue // it is no name of ours
			}
			if err != nil || back != r.rewrite {
				t.Errorf("%q comes back as %q (%v)", r.rewrite, back, err)
			}
		}
	})
}
