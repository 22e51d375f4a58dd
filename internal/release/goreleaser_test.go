package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two descriptions of the same packages would drift apart, and what is tested
// would not be what is published.
func TestBothDescriptionsAgree(t *testing.T) {
	ours, theirs := source(t, "deploy", "package", "nfpm.yaml"), source(t, ".goreleaser.yaml")
	// The one key that the two spell differently.
	theirs = strings.ReplaceAll(theirs, "dependencies: [", "depends: [")
	for _, key := range []string{"contents", "overrides", "deb", "rpm", "section", "priority", "maintainer", "vendor", "homepage", "license", "description", "umask"} {
		want := slices.DeleteFunc(block(t, ours, "", key), func(l string) bool { return strings.Contains(l, "${BINARY}") })
		if d := cmp.Diff(want, block(t, theirs, "    ", key)); d != "" {
			t.Errorf("%s (-nfpm.yaml +.goreleaser.yaml):\n%s", key, d)
		}
	}
	var targets, want []string
	for _, m := range regexp.MustCompile(`targets: \[(.*)\]`).FindAllStringSubmatch(theirs, -1) {
		targets = append(targets, strings.Split(m[1], ", ")...)
	}
	for _, s := range systems {
		want = append(want, s.os+"_"+s.arch+map[string]string{"amd64": "_v1", "arm": "_6"}[s.arch])
	}
	if d := cmp.Diff(want, targets); d != "" {
		t.Errorf("targets (-those of make package +.goreleaser.yaml):\n%s", d)
	}
}

// If this fails, an archive of goreleaser's has other files than one of make
// package.
func TestArchivesOfGoreleaser(t *testing.T) {
	theirs := source(t, ".goreleaser.yaml")
	file := map[string]string{} // by anchor
	for _, m := range regexp.MustCompile(`&(\w+) \{src: ([^,]+),`).FindAllStringSubmatch(theirs, -1) {
		file[m[1]] = m[2]
	}
	_, archives, _ := strings.Cut(theirs, "\narchives:\n")
	archives, _, _ = strings.Cut(archives, "\nnfpms:\n")
	for id, s := range map[string]system{"linux": {"linux", "arm"}, "unix": {"freebsd", "arm64"}, "windows": {"windows", "amd64"}} {
		_, part, found := strings.Cut(archives, "    id: "+id+"\n")
		if !found {
			t.Errorf("there is no archive %q", id)
			continue
		}
		part, _, _ = strings.Cut(part, "\n  - <<: ")
		var want, got []string
		for _, e := range contents(s) {
			want = append(want, e.from)
		}
		for _, m := range regexp.MustCompile(`src: ([^,]+),|\*(\w+)[,\]]`).FindAllStringSubmatch(part, -1) {
			if from := m[1] + file[m[2]]; from != "" { // or it is an anchor of something else
				got = append(got, from)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-make package +.goreleaser.yaml):\n%s", id, d)
		}
	}
}

// keys are the names, of those that goreleaser 2.15 knows, that its configuration
// here is written with: it refuses the whole file for one that it does not know.
// Whether each is in its place is what "goreleaser check" says.
var keys = map[string]string{
	"":          "version project_name before snapshot builds archives nfpms sboms checksum changelog release",
	"before":    "hooks",
	"snapshot":  "version_template",
	"builds":    "id main binary env flags ldflags mod_timestamp targets",
	"archives":  "id ids formats name_template wrap_in_directory builds_info files src dst strip_parent info mtime mode owner group",
	"nfpms":     "package_name file_name_template formats bindir section priority maintainer vendor homepage license description umask mtime contents src dst type packager file_info mode overrides deb rpm dependencies recommends scripts postinstall preremove postremove compression buildhost",
	"sboms":     "artifacts documents cmd args",
	"checksum":  "name_template algorithm",
	"changelog": "disable",
	"release":   "draft",
}

// If this fails, a release ends before it has begun.
func TestKeysOfGoreleaser(t *testing.T) {
	quoted := regexp.MustCompile(`"[^"]*"`)
	key := regexp.MustCompile(`(?:^|[\s{])(\w+):(?:\s|$)`)
	part, text := "", false
	for i, line := range strings.Split(source(t, ".goreleaser.yaml"), "\n") {
		line, _, _ = strings.Cut(quoted.ReplaceAllString(line, `""`), "#")
		if text = text && strings.HasPrefix(line, "      "); text {
			continue
		}
		for _, m := range key.FindAllStringSubmatch(line, -1) {
			if !strings.HasPrefix(line, " ") {
				part = ""
			}
			if !slices.Contains(strings.Fields(keys[part]), m[1]) {
				t.Errorf("line %d: goreleaser knows no key %q in %q", i+1, m[1], part)
			}
			if part == "" {
				part = m[1]
			}
		}
		text = strings.HasSuffix(line, "|")
	}
}

// block gives the lines of a key, without the indentation before it.
func block(t *testing.T, text, indent, key string) (lines []string) {
	t.Helper()
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		rest, deep := strings.CutPrefix(line, indent)
		switch {
		case deep && strings.HasPrefix(rest, key+":"):
			inside = true
			lines = append(lines, rest)
		case inside && deep && strings.HasPrefix(rest, " "):
			lines = append(lines, rest)
		default:
			inside = false
		}
	}
	if len(lines) == 0 {
		t.Errorf("there is no key %q", key)
	}
	return lines
}
