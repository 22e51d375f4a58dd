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
)

// elsewhere are the rules that other packages carry out or test.
var elsewhere = map[string]string{
	"A8": "the order of the addresses is the DNS server's",
}

// A rule without a test is a promise that the next change may break unseen.
func TestEveryRuleHasATest(t *testing.T) {
	tests := testNames(t)
	rules := documented(t)
	if len(rules) < 38 {
		t.Fatalf("only %d rules in the page", len(rules))
	}
	for _, rule := range rules {
		tested := slices.ContainsFunc(tests, func(name string) bool {
			rest, ok := strings.CutPrefix(name, "Test"+rule)
			return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
		})
		if _, other := elsewhere[rule]; tested == other {
			t.Errorf("rule %s: tested here: %v, tested elsewhere: %v", rule, tested, other)
		}
	}
}

// documented gives the numbers of the rules of docs/rules.md that this version
// carries out.
func documented(t *testing.T) (rules []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^### ([ONACS]\d+) .*\n\n(.*)$`)
	for _, m := range heading.FindAllStringSubmatch(string(page), -1) {
		if m[2] != "*Not in this version.*" {
			rules = append(rules, m[1])
		}
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
