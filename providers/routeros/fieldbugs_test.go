package routeros

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// fieldBugs are the ways in which others failed with routers and resolvers, by
// the number in the list of what was found in public trackers: the tests that
// would fail here, or why it cannot concern a router.
var fieldBugs = []struct {
	n     int
	what  string
	tests []string
	why   string
}{
	{1, "a missing type is not taken for A", []string{"TestFieldBug1MissingType", "TestParseRow"}, ""},
	{2, "an empty table is an error", []string{"TestEmptyListingInEveryVersion"}, ""},
	{3, "a FWD or regexp row of somebody breaks everything", []string{"TestListing"}, ""},
	{4, "of several targets only the first is written", []string{"TestFieldBug4Sets"}, ""},
	{5, "default TTL or comment: deleted and made again for ever", []string{"TestFieldBug5ForeignDefaults", "TestContract"}, ""},
	{6, "by name alone the wrong row is deleted", []string{"TestFieldBug6OnlyTheRowItself", "TestApplyLeavesOthersAlone"}, ""},
	{7, "which rights are needed is not said", []string{"TestInspect", "TestRefusalsHaveAClass"}, ""},
	{8, "!empty", []string{"TestEmptyListingInEveryVersion", "TestGuardLetsThroughWhatIsKnown"}, ""},
	{9, "TTL 600 against 10m", []string{"TestFieldBug9TTLForms", "TestTTL"}, ""},
	{10, "a name is not unique", []string{"TestFieldBug6OnlyTheRowItself"}, ""},
	{11, "another type in place fails", []string{"TestFieldBug11OtherType"}, ""},
	{12, "control characters, HTML instead of JSON", []string{"TestFieldBug12ControlCharacters", "TestConnectionFaultsAreExplained"}, ""},
	{13, "30,000 rows", []string{"TestFieldBug13ManyRows", "TestLargeTableIsSearched"}, ""},
	{14, "changes of singletons, permissions", []string{"TestInspect"}, ""},
	{15, "frozen with more than 60 records", []string{"TestContract", "TestHangingRouterEndsWithTheContext"}, ""},
	{16, "missing types, regexp", []string{"TestListing"}, ""},
	{17, "races, contexts and !empty in the library", []string{"TestCallsWaitForTheirTurn", "TestHangingRouterEndsWithTheContext", "FuzzGuard"}, ""},
	{18, "connected anew for ever on a duplicate", []string{"TestRefusalKeepsTheSession"}, ""},
	{19, "logins fill the log", []string{"TestOneLoginForAThousandPushes"}, ""},
	{20, "the login after 6.43 and 6.45", []string{"TestConnectionFaultsAreExplained", "TestContract"}, ""},
	{21, "!empty", []string{"TestEmptyListingInEveryVersion"}, ""},
	{22, "name and regexp together", []string{"TestWildcards"}, ""},
	{23, "octets that are not UTF-8", []string{"TestApply", "FuzzRow"}, ""},
	{24, "api-ssl without a certificate", []string{"TestConnectionFaultsAreExplained"}, ""},
	{25, "a user of RADIUS is not in /user", []string{"TestInspect"}, ""},
	{26, "rules become JSON", nil, "AdGuard Home"},
	{27, "two writers overwrite each other", []string{"TestFieldBug27TwoInstances"}, ""},
	{28, "TXT, health, metrics of a bridge", nil, "no TXT records are read or written here"},
	{29, "several values on a wildcard", []string{"TestFieldBug29WildcardOfTwo"}, ""},
	{30, "one TTL for all", nil, "AdGuard Home; a router has one for each record"},
	{31, "rewrites off with filtering off", []string{"TestInspect"}, ""}, // allow-remote-requests is what is like it
	{32, "wildcard, exact name and CNAME surprise", []string{"TestWildcards", "TestListing"}, ""},
	{33, "locked out", nil, "AdGuard Home; a router locks nobody out, and a wrong password is Denied"},
	{34, "duplicates grow to hundreds", []string{"TestFieldBug34Doubles"}, ""},
	{35, "a redirect turns POST into GET", nil, "there is no HTTP"},
	{36, "enabled is not kept in step", []string{"TestFieldBug36Disabled"}, ""},
	{37, "415 for an empty body", nil, "there is no HTTP"},
	{38, "403 and 401, characters in passwords, paths", []string{"TestFieldBug38Passwords"}, ""},
	{39, "an ID by domain alone", []string{"TestFieldBug6OnlyTheRowItself"}, ""},
	{40, "the API's result is not looked at", []string{"TestContract"}, ""},
	{41, "only type A, dynamic and disabled ignored, no time-out", []string{"TestListing", "TestHangingRouterEndsWithTheContext"}, ""},
	{42, "sessions used up; a change restarts the resolver", []string{"TestOneLoginForAThousandPushes"}, ""},
	{43, "Unbound restarts", nil, "OPNsense"},
	{44, "several A records", []string{"TestFieldBug4Sets"}, ""},
	{45, "failover is asked for", nil, "it is what this program does"},
	{46, "a provider is asked for", nil, "no fault"},
}

// A fault that others had to suffer would be here too, with nobody to notice.
func TestEveryFieldBugIsAccountedFor(t *testing.T) {
	have := map[string]bool{}
	fset := token.NewFileSet()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				have[fn.Name.Name] = true
			}
		}
	}
	for i, b := range fieldBugs {
		if b.n != i+1 || (len(b.tests) == 0) == (b.why == "") {
			t.Errorf("%d, %s: it has no test and no reason, or both, or is not in its place", b.n, b.what)
		}
		for _, name := range b.tests {
			if !have[name] {
				t.Errorf("%d, %s: there is no %s", b.n, b.what, name)
			}
		}
	}
	if len(fieldBugs) != 46 {
		t.Errorf("%d of 46", len(fieldBugs))
	}
}

const minute = time.Minute

// settled holds that a second push writes nothing.
func settled(t *testing.T, r *routersim.Router, p *Provider, records ...providers.Record) {
	t.Helper()
	before := r.Counts().Writes
	push(t, p, records...)
	if n := r.Counts().Writes - before; n != 0 {
		t.Errorf("%d more writes with nothing to do", n)
	}
}

// An A record of a version that says no type would be made again for ever.
func TestFieldBug1MissingType(t *testing.T) {
	for _, version := range []string{"6.42", "6.48", "7.12"} {
		r := router(t, routersim.Options{Version: version})
		p := open(t, plain(r))
		want := []providers.Record{record("app.lan", "192.0.2.1", minute), record("app.lan", "2001:db8::1", minute)}
		push(t, p, want...)
		settled(t, r, p, want...)
	}
}

// Of several addresses of a name only the first would be there.
func TestFieldBug4Sets(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	want := []providers.Record{record("app.lan", "192.0.2.1", minute), record("app.lan", "192.0.2.2", minute), record("app.lan", "192.0.2.3", minute)}
	push(t, p, want...)
	settled(t, r, p, want...)
	if got := address(r, "app.lan"); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Error(got)
	}
}

// Somebody's record with the router's own TTL and no comment would be deleted and
// made again for ever, or stop the push.
func TestFieldBug5ForeignDefaults(t *testing.T) {
	r := router(t, routersim.Options{})
	do(t, r, "add", "name=app.lan", "address=192.0.2.1")
	p := open(t, plain(r))
	settled(t, r, p, record("app.lan", "192.0.2.1", minute))
}

// Another row of the same name would be removed.
func TestFieldBug6OnlyTheRowItself(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	push(t, p, record("app.lan", "192.0.2.1", minute))
	for _, args := range []string{"name=app.lan address=192.0.2.9", "name=app.lan type=TXT text=x", "name=APP.lan address=192.0.2.1", "name=app.lan address=192.0.2.1 disabled=yes"} {
		do(t, r, "add", strings.Fields(args)...)
	}
	before := rows(r)[1:]
	push(t, p)
	if d := cmp.Diff(before, rows(r)); d != "" {
		t.Error(d)
	}
}

// A TTL that the router writes in another form would be written again for ever.
func TestFieldBug9TTLForms(t *testing.T) {
	for _, version := range routersim.Versions {
		r := router(t, routersim.Options{Version: version})
		p := open(t, plain(r))
		for _, s := range []int{1, 59, 60, 90, 600, 3600, 5400, 86400, 90061, 604800, 788645} {
			want := record("app.lan", "192.0.2.1", time.Duration(s)*time.Second)
			push(t, p, want)
			settled(t, r, p, want)
		}
	}
}

// A name whose type somebody changed would stop all pushes, or its row be turned
// into what the router refuses.
func TestFieldBug11OtherType(t *testing.T) {
	r := router(t, routersim.Options{})
	do(t, r, "add", "name=app.lan", "type=CNAME", "cname=x.lan", "comment=managed-by=dnsteer/test")
	p := open(t, plain(r))
	push(t, p, record("app.lan", "192.0.2.1", minute))
	push(t, p, record("app.lan", "2001:db8::1", minute))
	if d := cmp.Diff([]string{"app.lan CNAME x.lan 1d managed-by=dnsteer/test", "app.lan AAAA 2001:db8::1 1m managed-by=dnsteer/test"}, rows(r)); d != "" {
		t.Error(d)
	}
	if l := list(t, p, "app.lan"); len(l.Shadows) != 1 {
		t.Errorf("that the CNAME may hide it is not told: %+v", l.Shadows)
	}
}

// A comment with control characters would stop every listing.
func TestFieldBug12ControlCharacters(t *testing.T) {
	r := router(t, routersim.Options{})
	do(t, r, "add", "name=app.lan", "address=192.0.2.1", "comment=\x00\x01\x1b[31m\n\"\xff")
	l := list(t, open(t, plain(r)), "app.lan")
	if len(l.Entries) != 1 || strings.ContainsAny(l.Entries[0].Text, "\x00\x01\x1b\n") || !utf8.ValidString(l.Entries[0].Text) {
		t.Errorf("%+v", l.Entries)
	}
}

// A router with a block list could not be read.
func TestFieldBug13ManyRows(t *testing.T) {
	r := router(t, routersim.Options{})
	large(t, r, 30000)
	p := open(t, plain(r))
	push(t, p, record("app.lan", "192.0.2.1", minute))
	push(t, p, record("app.lan", "192.0.2.2", minute))
	if got := rows(r); len(got) != 30001 || !slices.Contains(got, "app.lan A 192.0.2.2 1m managed-by=dnsteer/test") {
		t.Errorf("%d rows", len(got))
	}
}

// Two controllers would remove each other's records.
func TestFieldBug27TwoInstances(t *testing.T) {
	r := router(t, routersim.Options{})
	one, second := plain(r), plain(r)
	second.Mark = "test-2"
	p, q := open(t, one), open(t, second)
	push(t, p, record("a.lan", "192.0.2.1", minute))
	push(t, q, record("b.lan", "192.0.2.2", minute))
	settled(t, r, p, record("a.lan", "192.0.2.1", minute))
	push(t, p)
	if d := cmp.Diff([]string{"b.lan A 192.0.2.2 1m managed-by=dnsteer/test-2"}, rows(r)); d != "" {
		t.Error(d)
	}
}

// Of a wildcard's addresses only one would be answered, or only one be there.
func TestFieldBug29WildcardOfTwo(t *testing.T) {
	for _, version := range routersim.Versions {
		r := router(t, routersim.Options{Version: version})
		p := open(t, plain(r))
		want := []providers.Record{record("*.apps.lan", "192.0.2.1", minute), record("*.apps.lan", "192.0.2.2", minute), record("*.apps.lan", "2001:db8::1", minute)}
		push(t, p, want...)
		settled(t, r, p, want...)
		if got := address(r, "x.apps.lan"); got != "192.0.2.1 192.0.2.2" {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// Records that are there twice would stay, and grow in number.
func TestFieldBug34Doubles(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	do(t, r, "add", "name=app.lan", "address=192.0.2.1", "ttl=60", "comment="+p.mark)
	do(t, r, "add", "name=APP.lan", "address=192.0.2.1", "ttl=60", "comment="+p.mark)
	do(t, r, "add", "name=app.lan", "address=192.0.2.1", "ttl=60", "comment="+p.mark, "disabled=yes")
	push(t, p, record("app.lan", "192.0.2.1", minute))
	if got := rows(r); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A record of ours that somebody has disabled would stay so, while it is taken
// for answered.
func TestFieldBug36Disabled(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	push(t, p, record("app.lan", "192.0.2.1", minute))
	do(t, r, "disable", ".id="+r.Records()[0].ID)
	push(t, p, record("app.lan", "192.0.2.1", minute))
	if got := address(r, "app.lan"); got != "192.0.2.1" {
		t.Error(got)
	}
}

// A password with a character that means something somewhere would be refused.
func TestFieldBug38Passwords(t *testing.T) {
	for _, password := range []string{"a=b", "ü €", "=name=x", "with space", `q"\$`, strings.Repeat("x", 200)} {
		for _, version := range []string{"6.42", "7.24"} {
			r := router(t, routersim.Options{Version: version, Password: password})
			c := plain(r)
			c.Password = providers.Secret(password)
			list(t, open(t, c), "app.lan")
		}
	}
}
