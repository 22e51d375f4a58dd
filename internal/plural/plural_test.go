package plural_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/plural"
)

// People would read of "1 records".
func TestOf(t *testing.T) {
	for n, want := range []string{"0 records are", "1 record is", "2 records are"} {
		if got := plural.Of(n, "record") + " " + plural.Are(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// counted is a number before a word that may be one.
var counted = regexp.MustCompile(`%d (records?|messages|services|events|alerts|changes|steps|sites|targets|hosts|warnings|things)\b`)

// countedInAPage is the same in a template.
var countedInAPage = regexp.MustCompile(`\}\} (more )?(records?|messages|services|events|alerts|changes|steps|sites|targets|hosts|warnings|things|nodes|problems)\b`)

// fine are the places where the number is never 1.
var fine = map[string]bool{
	"internal/config/zonefile.go": true, // a limit
	"dnsserver/notify.go":         true, // a limit
	"sites/text.go":               true, // several sites are
	"sites/brake.go":              true, // likewise
	"internal/alert/engine.go":    true, // has a case of its own, as the others
	"internal/alert/channels.go":  true, // a limit
	"internal/alert/outbox.go":    true, // a limit
	"internal/web/overview.go":    true,
	"internal/cli/online.go":      true,
	"internal/cli/plan.go":        true,
	"internal/api/targettold.go":  true,
}

// A sentence that is written tomorrow would read "1 records" again.
func TestNobodyCountsByHand(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".html") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || fine[filepath.ToSlash(name)] || strings.HasPrefix(name, "tools") {
			return err
		}
		data, err := os.ReadFile(path)
		for i, line := range strings.Split(string(data), "\n") {
			m := countedInAPage.FindString(line)
			if strings.HasSuffix(path, ".go") {
				if m = counted.FindString(line); strings.Contains(line, "//") {
					m = ""
				}
			}
			if m != "" {
				t.Errorf("%s:%d: %q: use plural.Of", name, i+1, m)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
