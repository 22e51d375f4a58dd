package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
	writtenTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)\(`)
)

// A page would name a test as the proof of a promise, and there would be none.
func TestNamedTestsExist(t *testing.T) {
	written := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range writtenTest.FindAllSubmatch(data, -1) {
			written[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedTest.FindAllSubmatch(data, -1) {
			named++
			if !written[string(m[1])] {
				t.Errorf("%s names %s, and there is no such test: name the one that shows this, or say that there is none", page, m[1])
			}
		}
	}
	if named < 100 {
		t.Errorf("the pages name %d tests, and should name at least 100", named)
	}
}

var faultRow = regexp.MustCompile(`(?m)^\| ([0-9]*) \| (.*) \| (.*) \|$`)

// A fault would stand in the table of faults with nothing that shows that it is met,
// or two of them under one number.
func TestEveryFaultHasATest(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "| no. | fault | covered by |")
	text, _, _ = strings.Cut(text, "\n## ")
	last, rows := 0, 0
	for _, m := range faultRow.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			continue // a heading
		}
		rows++
		number, err := strconv.Atoi(m[1])
		if err != nil || number <= last {
			t.Errorf("fault %q (%s) stands after fault %d: numbers grow, and each is there once", m[1], m[2], last)
		}
		last = number
		if !namedTest.MatchString(m[3]) {
			t.Errorf("fault %d (%s) names no test", number, m[2])
		}
	}
	if rows < 80 {
		t.Errorf("the table has %d faults, and should have at least 80", rows)
	}
}
