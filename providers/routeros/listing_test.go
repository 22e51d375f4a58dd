package routeros

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// entries gives entries in short, sorted.
func entries(l providers.Listing) (list []string) {
	for _, e := range l.Entries {
		s := fmt.Sprintf("%s %s %s", e.Name, e.Addr, e.TTL)
		for _, flag := range []struct {
			on   bool
			name string
		}{{e.Marked, "marked"}, {e.Disabled, "disabled"}, {e.Fixed, "fixed"}} {
			if flag.on {
				s += " " + flag.name
			}
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// somebodys is a table with something of everything.
func somebodys(t *testing.T, r *routersim.Router) {
	t.Helper()
	for _, args := range []string{
		"name=app.lan address=192.0.2.1", "name=app.lan address=192.0.2.2 ttl=90 comment=managed-by=dnsteer/test",
		"name=app.lan address=192.0.2.3 disabled=yes", "name=app.lan type=AAAA address=2001:db8::1",
		"name=APP.lan address=192.0.2.4", "name=app.lan type=CNAME cname=x.lan", "name=app.lan type=TXT text=hello",
		"name=other.lan address=192.0.2.5", "name=left.lan address=192.0.2.6 comment=managed-by=dnsteer/test",
		"name=Left.lan address=192.0.2.7 comment=managed-by=dnsteer/test", "name=no.lan type=NXDOMAIN", "name=no.lan type=NXDOMAIN disabled=yes",
		`regexp=.*\.lan$ address=192.0.2.8`, `regexp=.*\.lan$ address=192.0.2.9 disabled=yes`, "regexp=*.app.lan address=192.0.2.8",
		"name=sub.lan address=192.0.2.10 match-subdomain=yes", "name=fwd.lan type=FWD forward-to=192.0.2.53 match-subdomain=yes",
		"name=*.star.lan address=192.0.2.11", "name=two.lan address=192.0.2.1 comment=managed-by=dnsteer/tester",
	} {
		do(t, r, "add", strings.Fields(args)...)
	}
	if err := r.AddDynamic(map[string]string{"name": "dyn.lan", "address": "192.0.2.12"}); err != nil {
		t.Fatal(err)
	}
}

// A record would be overlooked, or taken for another's, or one that hides ours
// not be told of.
func TestListing(t *testing.T) {
	r := router(t, routersim.Options{})
	somebodys(t, r)
	p := open(t, plain(r))
	names := []string{"app.lan", "no.lan", "sub.lan", "x.sub.lan", "y.fwd.lan", "*.star.lan", "dyn.lan", "two.lan"}
	l := list(t, p, names...)
	want := []string{
		"app.lan 192.0.2.1 24h0m0s", "app.lan 192.0.2.2 1m30s marked", "app.lan 192.0.2.3 24h0m0s disabled", "app.lan 2001:db8::1 24h0m0s",
		"dyn.lan 192.0.2.12 24h0m0s fixed", "left.lan 192.0.2.6 24h0m0s marked", "left.lan 192.0.2.7 24h0m0s marked",
		"sub.lan 192.0.2.10 24h0m0s fixed", "two.lan 192.0.2.1 24h0m0s",
	}
	if d := cmp.Diff(want, entries(l)); d != "" {
		t.Error(d)
	}
	var shadowed []string
	for _, s := range l.Shadows {
		shadowed = append(shadowed, s.Name+": "+strings.Fields(s.Text)[2])
	}
	wantShadows := []string{"*.star.lan: *12", "x.sub.lan: *10", "y.fwd.lan: *11", "app.lan: *5", "app.lan: *6", "app.lan: *F", "no.lan: *B"}
	for _, n := range names {
		wantShadows = append(wantShadows, n+": *D") // the expression fits all
	}
	slices.Sort(shadowed)
	slices.Sort(wantShadows)
	if d := cmp.Diff(wantShadows, shadowed); d != "" {
		t.Error(d)
	}
}

// An empty table would be an error, or a foreign record appear in it.
func TestEmptyListingInEveryVersion(t *testing.T) {
	for _, version := range routersim.Versions {
		if l := list(t, open(t, plain(router(t, routersim.Options{Version: version}))), "app.lan"); len(l.Entries)+len(l.Shadows) != 0 {
			t.Errorf("%s: %+v", version, l)
		}
	}
}

// large loads somebody's block list.
func large(t testing.TB, r *routersim.Router, n int) {
	t.Helper()
	list := make([]map[string]string, n)
	for i := range list {
		list[i] = map[string]string{"name": fmt.Sprintf("ad%d.example", i), "address": "192.0.2.255", "comment": "block list"}
	}
	if err := r.Load(list); err != nil {
		t.Fatal(err)
	}
}

// A router with a block list of thousands of rows would be read whole every five
// minutes; or what concerns us among them be overlooked.
func TestLargeTableIsSearched(t *testing.T) {
	r := router(t, routersim.Options{})
	large(t, r, largeTable+1)
	somebodys(t, r)
	do(t, r, "add", "name=old.lan", "address=192.0.2.6", "comment=managed-by=dnsteer/test and a word")
	p := open(t, plain(r))
	names := []string{"*.star.lan", "app.lan", "no.lan", "x.sub.lan", "y.fwd.lan", "dyn.lan"}
	whole := list(t, p, names...)
	read := len(p.last.rows)
	searched := list(t, p, names...)
	if d := cmp.Diff(entries(whole), entries(searched)); d != "" {
		t.Errorf("entries: %s", d)
	}
	if d := cmp.Diff(whole.Shadows, searched.Shadows); d != "" {
		t.Errorf("shadows: %s", d)
	}
	if n := len(p.last.rows); n > 40 || read < largeTable {
		t.Errorf("%d of %d rows are read", n, read)
	}
	list(t, p, append(names, "new.lan")...)
	if n := len(p.last.rows); n < largeTable {
		t.Error("another name is not looked for in the whole table")
	}
	p.full.at = time.Now().Add(-2 * wholeEvery)
	list(t, p, append(names, "new.lan")...)
	if n := len(p.last.rows); n < largeTable {
		t.Error("the table is never read whole again")
	}
}

// A wildcard would answer for the name above it, which has another record; or
// for a name below it, where the router can tell them apart.
func TestWildcards(t *testing.T) {
	const s = 15 * time.Second
	wild, apex, below := record("*.apps.lan", "192.0.2.1", s), record("apps.lan", "192.0.2.2", s), record("www.apps.lan", "192.0.2.3", s)
	expr, row := `.*\.apps\.lan$ A 192.0.2.1 15s managed-by=dnsteer/test`, "apps.lan A 192.0.2.1 15s managed-by=dnsteer/test match-subdomain"
	for _, tt := range []struct {
		name, version string
		records       []providers.Record
		form          string
		apex, www     string // what DNS gives; "" for none
		shadows       int
	}{
		{"alone", "7.24", []providers.Record{wild}, expr, "", "192.0.2.1", 0},
		{"with the name above", "7.24", []providers.Record{wild, apex}, expr, "192.0.2.2", "192.0.2.1", 0},
		{"with one below", "7.24", []providers.Record{wild, below}, row, "192.0.2.1", "192.0.2.3", 0},
		{"with one below, old", "6.48", []providers.Record{wild, below}, expr, "", "192.0.2.1", 1},
		{"with both", "7.24", []providers.Record{wild, apex, below}, expr, "192.0.2.2", "192.0.2.1", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := router(t, routersim.Options{Version: tt.version})
			p := open(t, plain(r))
			push(t, p, wild) // whatever form it had before
			push(t, p, tt.records...)
			found := rows(r)
			for i := range found {
				found[i] = strings.Replace(found[i], " 192.0.2.1 ", " A 192.0.2.1 ", 1)
				found[i] = strings.Replace(found[i], "A A", "A", 1)
			}
			if !slices.Contains(found, tt.form) || len(found) != len(tt.records) {
				t.Errorf("the table is %q", found)
			}
			if got := address(r, "apps.lan"); got != tt.apex {
				t.Errorf("apps.lan is %s, want %s", got, tt.apex)
			}
			if got := address(r, "www.apps.lan"); got != tt.www {
				t.Errorf("www.apps.lan is %s, want %s", got, tt.www)
			}
			if got := address(r, "x.apps.lan"); got != "192.0.2.1" {
				t.Errorf("x.apps.lan is %s", got)
			}
			var names []string
			for _, rec := range tt.records {
				names = append(names, rec.Name)
			}
			if l := list(t, p, names...); len(l.Shadows) != tt.shadows {
				t.Errorf("%+v", l.Shadows)
			}
			before := r.Counts().Writes
			push(t, p, tt.records...)
			if n := r.Counts().Writes; n != before {
				t.Error("it is written again and again")
			}
			push(t, p, wild)
			push(t, p)
			if got := rows(r); len(got) != 0 {
				t.Errorf("left: %q", got)
			}
		})
	}
}

func address(r *routersim.Router, name string) string {
	rrs, _ := r.Resolve(dns.Question{Name: dns.Fqdn(name), Qtype: dns.TypeA, Qclass: dns.ClassINET})
	var list []string
	for _, rr := range rrs {
		a, _ := netip.AddrFromSlice(rr.(*dns.A).A.To4())
		list = append(list, a.String())
	}
	return strings.Join(list, " ")
}

// Somebody's expression would be taken for a wildcard of ours.
func TestWildcardExpressions(t *testing.T) {
	for expr, want := range map[string]string{
		`.*\.apps\.lan$`: "*.apps.lan", `.*\.lan$`: "*.lan", `.*\.a-b_c\.lan$`: "*.a-b_c.lan",
		`.*.apps.lan$`: "", `\.apps\.lan$`: "", `.*\.$`: "", `.*\.apps\.lan`: "", `.*\.Apps\.lan$`: "", `.*\.(a|b)\.lan$`: "", "": "",
	} {
		if got := wildcardOf(expr); got != want {
			t.Errorf("%s is %q, want %q", expr, got, want)
		}
	}
}
