// Package archtest holds the rules that no single package can keep: who imports
// whom, how long a file may be, what never stands in the tree, and links that
// lead somewhere. Every rule is a function from a file to its faults, and is
// tried on a file that breaks it before it is asked about the tree.
package archtest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/dnsteer/dnsteer"

// file is one file of the tree; its name is relative to the root, with slashes.
type file struct {
	name string
	data []byte
}

func (f file) isTest() bool     { return strings.HasSuffix(f.name, "_test.go") }
func (f file) isGo() bool       { return path.Ext(f.name) == ".go" && !f.inTestdata() }
func (f file) isMarkdown() bool { return path.Ext(f.name) == ".md" }
func (f file) inTestdata() bool { return strings.Contains("/"+f.name, "/testdata/") }

// text says whether people read the file as it is.
func (f file) text() bool { return !bytes.Contains(f.data[:min(len(f.data), 8000)], []byte{0}) }

// rule gives the faults of a file, each as "line: what is wrong".
type rule func(t *testing.T, f file) []string

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above this package")
		}
		dir = parent
	}
}

// built are the folders that hold what .gitignore leaves out.
var built = map[string]bool{".git": true, ".tools": true, "bin": true, "dist": true, "node_modules": true}

// tree reads every file of the sources.
func tree(t *testing.T) []file {
	t.Helper()
	top := root(t)
	var files []file
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if built[rel] || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if rel == ".git" {
			return nil // of a worktree: where its repository is
		}
		switch path.Ext(rel) {
		case ".out", ".prof", ".test":
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // an editor's passing file
			return nil
		}
		files = append(files, file{rel, data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no files under %s", top)
	}
	return files
}

// hold asks a rule about every file of the tree that it is for.
func hold(t *testing.T, about func(file) bool, broken rule) {
	t.Helper()
	asked := 0
	for _, f := range tree(t) {
		if !about(f) {
			continue
		}
		asked++
		for _, fault := range broken(t, f) {
			t.Errorf("%s:%s", f.name, fault)
		}
	}
	if asked == 0 {
		t.Error("no file was asked about")
	}
}
