package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz[A-Z][A-Za-z0-9_]*)\(`)
	fuzzCell   = regexp.MustCompile("((?:`Fuzz[A-Za-z0-9_]+`(?:, )?)+) in `([^`]+)`")
	fuzzName   = regexp.MustCompile("`(Fuzz[A-Za-z0-9_]+)`")
)

// own reads nothing of others: the program's own help for its manual pages.
const own = "FuzzInline in internal/manpage"

// The table of what comes from others would leave out a parser that is fuzzed, or name
// a target that is elsewhere.
func TestFuzzTargetsAreListed(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "| who sends it | what | fuzz target |")
	text, _, _ = strings.Cut(text, "\n\n")
	listed := map[string]bool{own: true}
	for _, m := range fuzzCell.FindAllStringSubmatch(text, -1) {
		for _, name := range fuzzName.FindAllStringSubmatch(m[1], -1) {
			listed[name[1]+" in "+m[2]] = true
		}
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			target := string(m[1]) + " in " + filepath.ToSlash(dir)
			if !listed[target] {
				t.Errorf("docs/reliability.md does not list %s: say whose bytes it reads", target)
			}
			delete(listed, target)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for target := range listed {
		t.Errorf("docs/reliability.md lists %s, and it is not there", target)
	}
}
