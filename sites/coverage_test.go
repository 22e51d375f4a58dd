package sites

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A rule without a test is a promise that the next change may break unseen.
func TestEveryRuleHasATest(t *testing.T) {
	tests := testNames(t)
	rules := documented(t)
	if len(rules) < 42 {
		t.Fatalf("only %d rules in the page", len(rules))
	}
	for _, rule := range rules {
		tested := slices.ContainsFunc(tests, func(name string) bool {
			rest, ok := strings.CutPrefix(name, "Test"+rule)
			return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
		})
		if !tested {
			t.Errorf("rule %s has no test", rule)
		}
	}
}

// documented gives the numbers of the rules of docs/rules.md.
func documented(t *testing.T) (rules []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^### ([ONACS]\d+) `)
	for _, m := range heading.FindAllStringSubmatch(string(page), -1) {
		rules = append(rules, m[1])
	}
	return rules
}

func testNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// The page that alerts are set up by must name every event, with its severity.
func TestEveryEventIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[Kind]Severity{}
	row := regexp.MustCompile(`(?m)^\| ((?:` + "`" + `[a-z_]+` + "`" + ` ?)+) \| (\w+) \|`)
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		for kind := range strings.FieldsSeq(strings.ReplaceAll(m[1], "`", "")) {
			documented[Kind(kind)] = Severity(m[2])
		}
	}
	want := map[Kind]Severity{}
	for _, k := range Kinds() {
		want[k] = k.Severity()
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("the events of docs/rules.md (-want +got):\n%s", diff)
	}
}
