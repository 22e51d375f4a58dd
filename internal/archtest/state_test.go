package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two controllers in one process (a rehearsal beside the real thing, two tests)
// would change each other's decisions through a package's variable.
func TestNoPackageKeepsState(t *testing.T) {
	packages := map[string][]file{}
	for _, f := range tree(t) {
		if f.isGo() && !f.isTest() {
			dir := path.Dir(f.name)
			packages[dir] = append(packages[dir], f)
		}
	}
	for _, files := range packages {
		for _, fault := range state(t, files...) {
			t.Error(fault)
		}
	}
}

// A rule that overlooks a write guards nothing.
func TestStateRule(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"a table that is read", `var a = map[string]int{}; func f() int { return a["x"] }`, nil},
		{"a local of the same name", `var a int; func f() { a := 1; a++; _ = a }`, nil},
		{"a field of a parameter", `var a int; type s struct{ a int }; func f(x *s) { x.a = 1 }`, nil},
		{"assigned", `var a int; func f() { a = 1 }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"one of two", `var a int; func f() { b, c := 1, 2; b, a = c, b; _ = b }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"counted", `var a int; func f() { a++ }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"an element", `var a = []int{1}; func f() { a[0] = 1 }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"a field", `var a struct{ b struct{ c int } }; func f() { a.b.c += 1 }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"what it points to", `var a *int; func f() { *a = 1 }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"a loop's variable", `var a int; func f() { for a = range 3 { } }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"emptied", `var a = map[string]int{}; func f() { clear(a) }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"an element deleted", `var a = map[string]int{}; func f() { delete(a, "x") }`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"its address given away", `var a int; func f() { g(&a) }; func g(*int) {}`, []string{"p.go:1: a is written; let its owner hold it"}},
		{"a lock", `import "sync"; var a sync.Mutex`, []string{"p.go:1: a holds sync.Mutex, which is there to change"}},
		{"a counter", `import "sync/atomic"; var a = atomic.Int64{}`, []string{"p.go:1: a holds atomic.Int64, which is there to change"}},
		{"a pool by pointer", `import "sync"; var a = &sync.Pool{New: nil}`, []string{"p.go:1: a holds sync.Pool, which is there to change"}},
		{"worked out once", `import "sync"; var a = sync.OnceValue(func() int { return 1 })`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := state(t, file{"p.go", []byte("package p; " + tt.in)})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

// nothing is an importer: names resolve within a package without what it
// imports.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// state gives where a package's variables are written, or are made to be.
func state(t *testing.T, files ...file) []string {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		one, err := parser.ParseFile(fset, f.name, f.data, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		parsed = append(parsed, one)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}}
	// Its errors are about what is not imported; the compiler judges the rest.
	pkg, _ := config.Check("p", fset, parsed, info)

	var faults []string
	report := func(at token.Pos, format string, args ...any) {
		p := fset.Position(at)
		faults = append(faults, fmt.Sprintf("%s:%d: ", p.Filename, p.Line)+fmt.Sprintf(format, args...))
	}
	written := func(e ast.Expr) {
		id := base(e)
		if id == nil {
			return
		}
		if v, ok := info.Uses[id].(*types.Var); ok && v.Parent() == pkg.Scope() {
			report(id.Pos(), "%s is written; let its owner hold it", id.Name)
		}
	}
	for _, f := range parsed {
		for _, decl := range f.Decls {
			for name, holds := range changeable(decl) {
				report(name.Pos(), "%s holds %s, which is there to change", name.Name, holds)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range writes(n) {
				written(e)
			}
			return true
		})
	}
	slices.Sort(faults)
	return faults
}

// writes gives the expressions that a node changes, or lets others change.
func writes(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// base is the variable that an expression reaches into, nil for none.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// changeable gives the variables that a declaration makes of types that exist
// to be changed.
func changeable(decl ast.Decl) map[*ast.Ident]string {
	found := map[*ast.Ident]string{}
	general, ok := decl.(*ast.GenDecl)
	if !ok || general.Tok != token.VAR {
		return nil
	}
	for _, spec := range general.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, name := range v.Names {
			made := v.Type
			if made == nil && i < len(v.Values) {
				made = literalType(v.Values[i])
			}
			if s, ok := made.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok && (p.Name == "sync" || p.Name == "atomic") {
					found[name] = p.Name + "." + s.Sel.Name
				}
			}
		}
	}
	return found
}

// literalType is the type of a composite literal, nil for anything else.
func literalType(e ast.Expr) ast.Expr {
	if ref, ok := e.(*ast.UnaryExpr); ok {
		e = ref.X
	}
	if literal, ok := e.(*ast.CompositeLit); ok {
		return literal.Type
	}
	return nil
}
