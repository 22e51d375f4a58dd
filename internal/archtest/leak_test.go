package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unchecked are packages whose tests have no goroutines of the program: they start it
// as another process, or build worlds for tests of others out of network namespaces.
var unchecked = []string{"cmd/dnsteer", "internal/netnstest", "internal/realnet"}

// A goroutine that is left behind keeps a port, a descriptor or memory, each time that
// a configuration is read again: the tests of a package that starts any end with a
// look at what is left.
func TestGoroutinesAreLookedFor(t *testing.T) {
	for _, fault := range unlooked(tree(t)) {
		t.Error(fault)
	}
	idle := slices.Clone(unchecked)
	for _, f := range tree(t) {
		idle = slices.DeleteFunc(idle, func(s string) bool { return s == path.Dir(f.name) && f.isGo() && starts(f) > 0 })
	}
	if len(idle) > 0 {
		t.Errorf("excused in vain: %q", idle)
	}
}

// A rule that sees no goroutine guards nothing.
func TestLeakRule(t *testing.T) {
	const (
		main  = "package p\n\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }\n"
		fault = "p: p/a.go:3 starts a goroutine, and no TestMain of the package calls goleak"
	)
	for _, tt := range []struct {
		name, source, test string
		want               []string
	}{
		{"no tests", "package p\n\nfunc f() { go g() }\n", "", nil},
		{"none", "package p\n\nfunc f() { g() }\n", "package p\n", nil},
		{"a statement", "package p\n\nfunc f() { go g() }\n", "package p\n", []string{fault}},
		{"of a group", "package p\n\nfunc f() { all.Go(func() {}) }\n", "package p\n", []string{fault}},
		{"a timer's", "package p\n\nfunc f() { time.AfterFunc(d, g) }\n", "package p\n", []string{fault}},
		{"a statement, and a look", "package p\n\nfunc f() { go g() }\n", main, nil},
		{"a word of it", "package p\n\nfunc f() { go g() }\n", "package p\n\n// goleak\nfunc TestMain(m *testing.M) {}\n", []string{fault}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := []file{{"p/a.go", []byte(tt.source)}}
			if tt.test != "" {
				files = append(files, file{"p/a_test.go", []byte(tt.test)})
			}
			got := unlooked(files)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

// unlooked gives the packages that start goroutines and do not look for them.
func unlooked(files []file) (faults []string) {
	first, tested, looks := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.name)
		switch {
		case !f.isGo():
		case f.isTest():
			tested[dir] = true
			looks[dir] = looks[dir] || names(f, "goleak")
		case first[dir] == "":
			if line := starts(f); line > 0 {
				first[dir] = fmt.Sprintf("%s:%d", f.name, line)
			}
		}
	}
	for dir, where := range first {
		if tested[dir] && !looks[dir] && !slices.Contains(unchecked, dir) {
			faults = append(faults, fmt.Sprintf("%s: %s starts a goroutine, and no TestMain of the package calls goleak", dir, where))
		}
	}
	slices.Sort(faults)
	return faults
}

// starts gives the first line of a file that starts a goroutine; 0 for none.
func starts(f file) (line int) {
	look(f, func(fset *token.FileSet, n ast.Node) {
		begins := false
		switch n := n.(type) {
		case *ast.GoStmt:
			begins = true
		case *ast.CallExpr:
			of, ok := n.Fun.(*ast.SelectorExpr)
			begins = ok && (of.Sel.Name == "Go" || of.Sel.Name == "AfterFunc")
		}
		if begins && line == 0 {
			line = fset.Position(n.Pos()).Line
		}
	})
	return line
}

// names says whether the code of a file has an identifier.
func names(f file, name string) (found bool) {
	look(f, func(_ *token.FileSet, n ast.Node) {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
	})
	return found
}

func look(f file, at func(*token.FileSet, ast.Node)) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.name, f.data, 0)
	if err != nil {
		return // the compiler says so
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if n != nil {
			at(fset, n)
		}
		return true
	})
}
