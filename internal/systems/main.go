// Command systems checks that everything, tests included, passes the compiler's
// type checks on each system that binaries are made for. It reads the sources of
// what is imported without the bodies of its functions, so it takes seconds where
// a cold build for each system would take minutes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// systems are those that binaries are made for; of 32-bit ones one is enough.
var systems = []string{"linux/amd64", "linux/arm", "freebsd/amd64", "darwin/arm64", "windows/amd64"}

func main() {
	failed := false
	for _, s := range systems {
		faults, err := check(context.Background(), s, "./...")
		if err != nil {
			faults = append(faults, err)
		}
		for _, f := range faults {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", s, f)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, ForTest string
	GoFiles                  []string
	ImportMap                map[string]string
	Standard                 bool
	Module                   *struct{ Main bool }
	Error                    *struct{ Err string }
}

// check gives the faults of the packages on a system.
func check(ctx context.Context, system string, packages ...string) ([]error, error) {
	goos, arch, _ := strings.Cut(system, "/")
	args := append([]string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,ImportMap,Standard,Module,Error"}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(messages.Bytes()))
	}
	c := checker{sizes: types.SizesFor("gc", arch), fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return c.faults, nil
		case err != nil:
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		c.check(p)
	}
}

// checker checks packages in an order in which each comes after what it imports.
type checker struct {
	sizes  types.Sizes
	fset   *token.FileSet
	done   map[string]*types.Package
	faults []error
}

func (c *checker) check(p listed) {
	if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a test's main is made by the go command
		return
	}
	ours := p.Module != nil && p.Module.Main
	if p.Error != nil && ours {
		c.faults = append(c.faults, errors.New(p.Error.Err))
		return
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.faults = append(c.faults, err)
			return
		}
		files = append(files, f)
	}
	config := types.Config{
		Sizes: c.sizes, IgnoreFuncBodies: !ours, FakeImportC: true,
		Importer: importer(func(path string) (*types.Package, error) {
			if to, ok := p.ImportMap[path]; ok {
				path = to
			}
			if pkg := c.done[path]; pkg != nil {
				return pkg, nil
			}
			return nil, fmt.Errorf("%s is not there", path)
		}),
		Error: func(err error) {
			if ours {
				c.faults = append(c.faults, err)
			}
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	// Its errors have been told, or are other people's.
	pkg, _ := config.Check(path, c.fset, files, nil)
	c.done[p.ImportPath] = pkg
}

type importer func(string) (*types.Package, error)

// Import implements [types.Importer].
func (i importer) Import(path string) (*types.Package, error) { return i(path) }
