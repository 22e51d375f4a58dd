package alert

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

var update = flag.Bool("update", false, "write docs/events.md and testdata anew")

// Whoever writes a route or a program for events goes by the page on them: it would
// lack a kind or a field, or say that something ends which never does.
func TestReference(t *testing.T) {
	ended := map[sites.Kind]bool{}
	for _, k := range sites.Kinds() {
		s, ok := saidOf(k)
		if !ok || s.when == "" || s.fields == "" {
			t.Errorf("nothing is said of %s", k)
		}
		if (s.end != "") != (roleOf(k) == begins) {
			t.Errorf("%s is ended by %q, and its role is %d", k, s.end, roleOf(k))
		}
		if s.end != "" && s.end != k && roleOf(s.end) != ends {
			t.Errorf("%s is ended by %s, which ends nothing", k, s.end)
		}
		ended[s.end] = true
	}
	for _, k := range sites.Kinds() {
		if roleOf(k) == ends && !ended[k] {
			t.Errorf("%s ends nothing that is said", k)
		}
	}
	for f := range reflect.TypeFor[sites.Event]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); fieldOf(name) == "" {
			t.Errorf("nothing is said of the field %s", name)
		}
	}
	golden(t, filepath.Join("..", "..", "docs", "events.md"), Reference())
}

// golden holds what the code says against a file.
func golden(t *testing.T, path, says string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(says), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(file), says); d != "" {
		t.Errorf("%s is not what the code says; write it anew with -update (-file +code):\n%s", path, d)
	}
}

// Who is called at night would find no section for what calls them, or one for what
// never does, or one that leaves out what was done.
func TestRunbooks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "runbooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "dnsteer.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(page), "| `"+m[1]+"` |") {
			t.Errorf("the alert %s of Prometheus leads nowhere", m[1])
		}
	}
	var want, got []string
	for _, k := range sites.Kinds() {
		if rank(k.Severity()) > 0 {
			want = append(want, string(k))
		}
	}
	for i, section := range strings.Split(string(page), "\n## ") {
		if i == 0 {
			continue
		}
		kind, text, _ := strings.Cut(section, "\n")
		got = append(got, kind)
		at := 0
		for _, part := range []string{"**It means**", "**dnsteer**", "**Look first**", "```console\n$ dnsteer ", "**Worry**"} {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Errorf("%s: no %q in its place", kind, part)
				continue
			}
			at += i
		}
		if s, _ := saidOf(sites.Kind(kind)); s.end != "" && !strings.Contains(text, "`"+string(s.end)+"`") {
			t.Errorf("%s: it does not say that %s ends it", kind, s.end)
		}
		if want := string(sites.Kind(kind).Severity()); !strings.HasPrefix(strings.TrimSpace(text), strings.ToUpper(want[:1])+want[1:]) {
			t.Errorf("%s: it does not begin with its severity, %s", kind, want)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sections (-kinds that are told +page):\n%s", d)
	}
}
