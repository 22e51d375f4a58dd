package adguard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// fieldBugs are ways in which others have failed at such targets, by the number
// that they have in our notes, with the test that would fail, or the reason why
// AdGuard Home as a target cannot have them.
var fieldBugs = map[int]string{
	1: "no: rewrites have no type", 2: "TestContract", 3: "TestShadows", 4: "TestContract", 5: "TestContract",
	6: "TestApply", 7: "no: there are no rights to give", 8: "no: that word is RouterOS's", 9: "no: rewrites have no TTL", 10: "TestApply",
	11: "no: rewrites have no type", 12: "TestFaultsOfListing", 13: "TestContract", 14: "no: these are RouterOS's REST", 15: "TestFaultsOfListing",
	16: "TestShadows", 17: "no: that library is not used here", 18: "TestApply", 19: "TestLogin", 20: "no: the log-in is another",
	21: "no: that word is RouterOS's", 22: "no: there are no regular expressions among rewrites", 23: "FuzzParseRows", 24: "TestWaysToStand", 25: "no: nobody looks into the users",
	26: "no: rules are not written", 27: "TestContract", 28: "no: TXT is not written", 29: "TestShadows", 30: "TestInspect",
	31: "TestInspect", 32: "TestShadows", 33: "TestLogin", 34: "TestApply", 35: "TestWaysToStand",
	36: "TestApply", 37: "TestLogin", 38: "TestWaysToStand", 39: "TestApply", 40: "TestContract",
	41: "TestApply", 42: "TestLogin", 43: "no: Unbound is another target", 44: "TestContract", 45: "no: a wish, not a fault", 46: "no: a wish, not a fault",
}

// A fault that others have had would come back with nobody to see it.
func TestFieldBugsHaveTests(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // the files of this folder are one package
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, pkg := range packages {
		for _, f := range pkg.Files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					tests[fn.Name.Name] = true
				}
			}
		}
	}
	for n := 1; n <= 46; n++ {
		if by := fieldBugs[n]; !tests[by] && !strings.HasPrefix(by, "no: ") {
			t.Errorf("number %d: there is neither a test %q nor a reason", n, by)
		}
	}
}
