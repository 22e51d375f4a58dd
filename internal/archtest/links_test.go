package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A reader who follows a link in the documents must arrive.
func TestLinksLeadSomewhere(t *testing.T) {
	top := root(t)
	hold(t, file.isMarkdown, links(func(name string) ([]byte, error) {
		name = filepath.Join(top, filepath.FromSlash(name))
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return nil, err
		}
		return os.ReadFile(name)
	}))
}

// A rule that takes a dead link for a live one guards nothing.
func TestLinkRule(t *testing.T) {
	files := map[string]string{
		"README.md":    "# Title\n",
		"docs/dns.md":  "# DNS\n\n## What `dig` says (and why)\n\n<a id=\"ttl\"></a>\n",
		"docs/pic.svg": "",
	}
	read := func(name string) ([]byte, error) {
		data, ok := files[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(data), nil
	}
	tests := []struct {
		name, in string
		want     []string
	}{
		{"a file", "[x](dns.md) and ![p](pic.svg \"title\")", nil},
		{"above", "[x](../README.md)", nil},
		{"from the root", "[x](/docs/dns.md)", nil},
		{"a heading", "[x](dns.md#what-dig-says-and-why)", nil},
		{"a named place", "[x](dns.md#ttl)", nil},
		{"a heading of its own", "# Own one\n\n[x](#own-one)", nil},
		{"elsewhere", "[x](https://example.com/a) [m](mailto:a@example.com)", nil},
		{"a definition", "[x]: dns.md", nil},
		{"in code", "```\n[x](gone.md)\n```\n`[x](gone.md)`", nil},
		{"gone", "first\n[x](gone.md)", []string{"2: gone.md does not exist"}},
		{"a definition that is gone", "[x]: gone.md", []string{"1: gone.md does not exist"}},
		{"a heading that is gone", "[x](dns.md#gone)", []string{"1: dns.md#gone: no such heading"}},
		{"a heading of its own that is gone", "[x](#gone)", []string{"1: #gone: no such heading"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := links(read)(t, file{"docs/a.md", []byte(tt.in)})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

var (
	inlineLink = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	definition = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	scheme     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	heading    = regexp.MustCompile(`(?m)^#{1,6}\s+(.+?)\s*#*$`)
	anchor     = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	noSlug     = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// links gives the rule on a document's relative links; read gives a file of the
// tree, nil for a folder.
func links(read func(name string) ([]byte, error)) rule {
	return func(_ *testing.T, f file) (faults []string) {
		fenced := false
		for i, line := range strings.Split(string(f.data), "\n") {
			if fence := strings.TrimSpace(line); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, target := range targets(line) {
				if why := follow(f, target, read); why != "" {
					faults = append(faults, fmt.Sprintf("%d: %s", i+1, why))
				}
			}
		}
		return faults
	}
}

// targets gives where the links of a line of Markdown lead within the tree.
func targets(line string) (found []string) {
	line = inlineCode.ReplaceAllString(line, "")
	for _, m := range append(inlineLink.FindAllStringSubmatch(line, -1), definition.FindAllStringSubmatch(line, -1)...) {
		if !scheme.MatchString(m[1]) {
			found = append(found, m[1])
		}
	}
	return found
}

// follow says why a link does not arrive, "" when it does.
func follow(from file, target string, read func(string) ([]byte, error)) string {
	name, place, _ := strings.Cut(target, "#")
	data := from.data
	if name != "" {
		at := strings.TrimPrefix(name, "/")
		if at == name {
			at = path.Join(path.Dir(from.name), name)
		}
		var err error
		if data, err = read(at); err != nil {
			return name + " does not exist"
		}
	}
	if place == "" || (name != "" && path.Ext(name) != ".md") {
		return ""
	}
	for _, m := range heading.FindAllSubmatch(data, -1) {
		if slug(string(m[1])) == place {
			return ""
		}
	}
	for _, m := range anchor.FindAllSubmatch(data, -1) {
		if string(m[1]) == place {
			return ""
		}
	}
	return target + ": no such heading"
}

// slug is the anchor that a heading gets on the usual hosts.
func slug(text string) string {
	return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}
