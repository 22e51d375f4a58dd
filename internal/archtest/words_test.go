package archtest

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// phrase is something that never stands in the tree. Each pattern is written so
// that it does not match itself.
type phrase struct {
	pattern *regexp.Regexp
	why     string
	source  bool // in sources and documents alone, not in test data
}

var phrases = []phrase{
	{regexp.MustCompile(`\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b`), "unfinished work: finish it or leave it out", true},
	{regexp.MustCompile(`\b(proxy\.[g]olang\.org|sum\.[g]olang\.org|registry\.[n]pmjs\.org|(deb|security)\.[d]ebian\.org|[p]ypi\.org|index\.[c]rates\.io)\b`), "a package registry's host: builds use the one that is set up", false},
	{regexp.MustCompile(`(?m)(^|[^\w./}-])/(work|farm|root|Users|home/[a-z]\w*)/[\w.]`), "a path of one machine", false},
	{regexp.MustCompile(`\bshared/([d]esign|[f]acts|[s]cenarios|[c]onformance|[b]ench|[h]ooks)\b`), "a folder that users do not have", false},
	{regexp.MustCompile(`(?i)\b([w]orkplace|co-[a]uthored-by|generated (by|with) (an )?[a]i\b)`), "how the project is made is no part of it", false},
}

// What a reader of the sources meets must be of use to them, and a build must
// not depend on one machine or one registry.
func TestNothingForeignStandsInTheTree(t *testing.T) {
	hold(t, func(f file) bool { return f.text() && path.Base(f.name) != "go.sum" }, words)
}

// A pattern that misses what it is for guards nothing; one that finds too much
// is switched off by the next who meets it.
func TestWordRule(t *testing.T) {
	tests := []struct {
		name, file, line string
		want             bool
	}{
		{"prose", "README.md", "A node that is down for 30 s is taken out.", false},
		{"unfinished work", "sites/a.go", "// TO" + "DO: more", true},
		{"part of a word", "sites/a.go", "// MASTO" + "DON", false},
		{"test data", "sites/testdata/x", "XX" + "X", false},
		{"a registry", "Makefile", "GOPROXY=https://proxy." + "golang.org,direct", true},
		{"a registry in test data", "web/testdata/lock", "https://registry." + "npmjs.org/x", true},
		{"a machine's path", "docs/a.md", "see /wo" + "rk/main", true},
		{"a home folder", "docs/a.md", "`/home/ann" + "a/x`", true},
		{"a path below another", "docs/a.md", "https://example.com/wo" + "rk/main", false},
		{"a path of the system", "docs/a.md", "/var/lib/dnsteer/state.db", false},
		{"a folder that users lack", "docs/a.md", "../shared/" + "design/rules.md", true},
		{"a trailer", "docs/a.md", "Co-" + "Authored-By: x", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := words(t, file{tt.file, []byte("first\n" + tt.line + "\n")})
			if (len(got) > 0) != tt.want {
				t.Errorf("faults: %q, want some: %v", got, tt.want)
			}
		})
	}
}

func words(_ *testing.T, f file) (faults []string) {
	for _, p := range phrases {
		if p.source && f.inTestdata() {
			continue
		}
		for _, at := range p.pattern.FindAllIndex(f.data, -1) {
			line := 1 + bytes.Count(f.data[:at[1]], []byte("\n"))
			faults = append(faults, fmt.Sprintf("%d: %q: %s", line, bytes.TrimSpace(f.data[at[0]:at[1]]), p.why))
		}
	}
	return faults
}

// People learn from the change log what an update brings.
func TestChangelogHasRoomForWhatComes(t *testing.T) {
	hold(t, func(f file) bool { return f.name == "CHANGELOG.md" }, changelog)
}

var (
	unreleased = regexp.MustCompile(`(?m)^## \[?Unreleased\]?$`)
	release    = regexp.MustCompile(`^## (\[?Unreleased\]?|\[?\d+\.\d+\.\d+(-[\w.]+)?\]? - \d{4}-\d\d-\d\d)$`)
	section    = regexp.MustCompile(`^### (Added|Changed|Deprecated|Removed|Fixed|Security)$`)
)

// A change log that readers cannot find their way in is not read.
func TestChangelogRule(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"in order", "# Changelog\n\n## [Unreleased]\n\n### Added\n\n## [1.0.0] - 2026-01-02\n", nil},
		{"nothing unreleased", "# Changelog\n\n## 1.0.0 - 2026-01-02\n", []string{"1: no section Unreleased"}},
		{"a release without its day", "## Unreleased\n\n## 1.0.0\n", []string{`3: "## 1.0.0" is neither Unreleased nor "VERSION - YYYY-MM-DD"`}},
		{"an unknown section", "## Unreleased\n\n### News\n", []string{`3: "### News" is not a section that readers look for`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, changelog(t, file{"CHANGELOG.md", []byte(tt.in)})); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

func changelog(_ *testing.T, f file) (faults []string) {
	if !unreleased.Match(f.data) {
		faults = append(faults, "1: no section Unreleased")
	}
	for i, line := range strings.Split(string(f.data), "\n") {
		switch {
		case strings.HasPrefix(line, "## ") && !release.MatchString(line):
			faults = append(faults, fmt.Sprintf(`%d: %q is neither Unreleased nor "VERSION - YYYY-MM-DD"`, i+1, line))
		case strings.HasPrefix(line, "### ") && !section.MatchString(line):
			faults = append(faults, fmt.Sprintf("%d: %q is not a section that readers look for", i+1, line))
		}
	}
	return faults
}
