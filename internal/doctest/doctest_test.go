// Package doctest holds the documentation against the program: what a page
// shows must work.
package doctest

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/cli"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/rehearsal"
)

// block is a fenced block of a page.
type block struct {
	page string
	line int
	lang string
	text string
}

// pages gives the paths of all pages of the project.
func pages(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// blocks gives the fenced blocks of all pages.
func blocks(t *testing.T) (list []block) {
	t.Helper()
	for _, page := range pages(t) {
		list = append(list, read(t, page)...)
	}
	return list
}

func read(t *testing.T, path string) (list []block) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case !strings.HasPrefix(line, "```") && inside:
			list[len(list)-1].text += line + "\n"
		case strings.HasPrefix(line, "```") && !inside:
			list = append(list, block{page: path, line: i + 1, lang: strings.TrimPrefix(line, "```")})
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		}
	}
	if inside {
		t.Errorf("%s: a block is not closed", path)
	}
	return list
}

// Whoever copies a configuration or a rehearsal from a page must get one that
// works.
func TestYAMLBlocks(t *testing.T) {
	count := 0
	for _, b := range blocks(t) {
		// The guides' own files, which need others beside them, are used by a test of
		// the guides.
		if b.lang != "yaml" || strings.HasPrefix(b.text, "# /etc/") && strings.Contains(filepath.ToSlash(b.page), "docs/guides/") {
			continue
		}
		count++
		if !strings.Contains(b.text, "\nsteps:") {
			if _, err := config.Parse(b.page, []byte(b.text), config.Options{FirstLine: b.line + 1}); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
			continue
		}
		path := filepath.Join(t.TempDir(), "rehearsal.yaml")
		if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := rehearsal.Load(path)
		if err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
			continue
		}
		res, err := r.Play(rehearsal.Options{})
		if err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
		for _, d := range res.Differences {
			t.Errorf("%s:%d: %s", b.page, b.line, d)
		}
	}
	if count == 0 {
		t.Fatal("no page has a block of YAML")
	}
}

// A command that a page names must exist, with the flags that it is given.
func TestCommands(t *testing.T) {
	named := regexp.MustCompile("`dnsteer ([a-z][a-z-]*)[^`]*`")
	seen := make(map[string]bool)
	check := func(place, command string) {
		if seen[command] {
			return
		}
		seen[command] = true
		env := cli.Env{Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}
		if code := cli.Run(t.Context(), []string{command, "--help"}, env); code != 0 {
			t.Errorf("%s: there is no command %q (exit code %d)", place, command, code)
		}
	}
	for _, b := range blocks(t) {
		for line := range strings.Lines(b.text) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok || b.lang != "console" {
				continue
			}
			for _, program := range []string{"dnsteer ", "go run ./cmd/dnsteer "} {
				if args, ours := strings.CutPrefix(rest, program); ours && !strings.HasPrefix(args, "-") {
					check(b.page, strings.Fields(args)[0])
				}
			}
		}
	}
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(data), -1) {
			check(page, m[1])
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d commands are named by the pages", len(seen))
	}
}
