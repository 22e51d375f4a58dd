package routeros

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A TTL would be taken for another one, and be written again every five minutes.
func TestTTL(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1d": 24 * time.Hour, "3600": time.Hour, "90s": 90 * time.Second, "10m": 10 * time.Minute, "1.5h": 90 * time.Minute,
		"1w2d3h4m5s": 788645 * time.Second, "00:01:30": 90 * time.Second, "1d 00:00:00": 24 * time.Hour, "1d00:00:10": 86410 * time.Second,
		"0s": 0, "1m30s": 90 * time.Second, "01:30": 90 * time.Minute, " 15s ": 15 * time.Second, "1h 5s": 3605 * time.Second,
	} {
		if got, ok := parseTTL(in); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "x", "1y", "-5s", "m", "1:2:3:4", "1:", "1d x", "NaNs", "1e400s", "99999999999999w", "infs"} {
		if got, ok := parseTTL(in); ok {
			t.Errorf("%q is taken for %v", in, got)
		}
	}
}

// A TTL that a router makes up would stop a listing, or come back as another.
func FuzzTTL(f *testing.F) {
	for _, s := range []string{"1w2d3h4m5s", "00:01:30", "1d 00:00:00", "1.5h", "7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ttl, ok := parseTTL(s)
		if !ok {
			return
		}
		if ttl < 0 || ttl%time.Second != 0 {
			t.Fatalf("%q is %v", s, ttl)
		}
		if again, ok := parseTTL(formatTTL(ttl)); !ok || again != ttl {
			t.Fatalf("%v is written as %s, which is %v", ttl, formatTTL(ttl), again)
		}
	})
}

// A record of somebody else, or of another controller, would be taken for ours,
// or one of ours be lost because somebody wrote a word behind the mark.
func TestMark(t *testing.T) {
	mark := markOf("home")
	for comment, want := range map[string]bool{
		"managed-by=dnsteer/home":              true,
		"managed-by=dnsteer/home do not touch": true,
		"managed-by=dnsteer/home; f\xfcr alle": true,
		"managed-by=dnsteer/home, see ticket":  true,
		"managed-by=dnsteer/home2":             false,
		"managed-by=dnsteer/home-2":            false,
		"managed-by=dnsteer/home.lan":          false,
		"managed-by=dnsteer/home/x":            false,
		"managed-by=dnsteer/home\xc3\xa4":      false,
		"managed-by=dnsteer/hom":               false,
		"was managed-by=dnsteer/home once":     false,
		"":                                     false,
		"Managed-By=dnsteer/home":              false,
	} {
		if got := marked(comment, mark); got != want {
			t.Errorf("%q: %v", comment, got)
		}
	}
	for _, text := range []string{"", "x", "f\xfcr", "-home", mark} {
		if got := remark(text, mark); !marked(got, mark) || !strings.HasSuffix(got, text) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A row would be read as another record than the router answers with.
func TestParseRow(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   map[string]string
		want string // name type address ttl, "" for none
	}{
		{"an old router's", map[string]string{"name": "a.lan", "address": "192.0.2.1", "ttl": "1d"}, "a.lan A 192.0.2.1 24h0m0s"},
		{"an old router's, IPv6", map[string]string{"name": "a.lan", "address": "2001:db8:0::1", "ttl": "10m"}, "a.lan AAAA 2001:db8::1 10m0s"},
		{"with its type", map[string]string{"name": "a.lan", "type": "AAAA", "address": "2001:db8::1", "ttl": "1s"}, "a.lan AAAA 2001:db8::1 1s"},
		{"a TTL that cannot be read", map[string]string{"name": "a.lan", "address": "192.0.2.1", "ttl": "soon"}, "a.lan A 192.0.2.1 -1s"},
		{"no TTL", map[string]string{"name": "a.lan", "address": "192.0.2.1"}, "a.lan A 192.0.2.1 -1s"},
		{"another type", map[string]string{"name": "a.lan", "type": "CNAME", "cname": "b.lan"}, ""},
		{"an address of the other type", map[string]string{"name": "a.lan", "type": "AAAA", "address": "192.0.2.1"}, ""},
		{"no address", map[string]string{"name": "a.lan", "address": "nat"}, ""},
		{"a zone", map[string]string{"name": "a.lan", "address": "fe80::1%ether1"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if e, ok := parseRow(tt.in).entry("a.lan", "m"); ok {
				got = strings.Join([]string{e.Name, e.Key().Type(), e.Addr.String(), e.TTL.String()}, " ")
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A row that somebody made with strange characters would stop every listing.
func FuzzRow(f *testing.F) {
	f.Add("app.lan", "", "A", "192.0.2.1", "1d", "managed-by=dnsteer/home", true)
	f.Add("", `.*\.app\.lan$`, "", "2001:db8::1", "1m", "f\xfcr", false)
	f.Add("*.x.", "*(", "CNAME", "::ffff:192.0.2.1", "", "", true)
	f.Fuzz(func(t *testing.T, name, expr, kind, address, ttl, comment string, below bool) {
		m := map[string]string{".id": "*1", "name": name, "regexp": expr, "type": kind, "address": address, "ttl": ttl, "comment": comment}
		if below {
			m["match-subdomain"] = "true"
		}
		p := &Provider{mark: markOf("home")}
		asked := map[string]bool{"app.lan": true, "*.app.lan": true}
		r := parseRow(m)
		p.learn([]string{"*.app.lan", "app.lan"}, asked, []row{r})
		l := p.judge(asked, []row{r})
		for _, e := range l.Entries {
			if !e.Addr.IsValid() || e.TTL < unknownTTL || e.Marked != marked(comment, p.mark) || !utf8.ValidString(e.Text) {
				t.Fatalf("%+v", e)
			}
			if !e.Marked && !asked[e.Name] {
				t.Fatalf("somebody's row of no name of ours is listed: %+v", e)
			}
		}
		for _, s := range l.Shadows {
			if !asked[s.Name] || !utf8.ValidString(s.Text) {
				t.Fatalf("%+v", s)
			}
		}
		p.search([]string{"app.lan"})
	})
}

// The fields that a version knows would be sent to one that does not.
func TestVersion(t *testing.T) {
	for in, want := range map[string]int{
		"6.42.12 (long-term)": 642, "6.49.10 (stable)": 649, "7.1beta4": 701, "7.24.4 (long-term)": 724, "7.5": 705, "": 0, "7": 0, "x.y": 0, "7.x": 0,
	} {
		if got := parseVersion(in); got.number != want || got.text != in {
			t.Errorf("%q is %+v", in, got)
		}
	}
	if v := parseVersion("?"); !v.types() || !v.subdomains() {
		t.Error("a version that is not known is taken for an old one")
	}
	if v := parseVersion("6.46"); v.types() || v.subdomains() {
		t.Error("6.46 knows types")
	}
}
