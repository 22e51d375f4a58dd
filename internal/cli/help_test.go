package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// The help is the first thing that people read; what it says must not change
// by accident, and must fit their screens.
func TestHelp(t *testing.T) {
	lines := []string{"dnsteer"}
	for _, cmd := range described() {
		lines = append(lines, cmd.CommandPath())
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			args := append(strings.Fields(line)[1:], "--help")
			out, messages, code := run(t, args...)
			if code != done || messages != "" {
				t.Errorf("exit code %d, %s", code, messages)
			}
			for text := range strings.Lines(out) {
				if len([]rune(text)) > width+1 {
					t.Errorf("too wide: %s", text)
				}
			}
			golden(t, filepath.Join("testdata", "help", strings.ReplaceAll(line, " ", "-")+".txt"), out)
		})
	}
}

// A command without an example, or a flag without a sentence, leaves people to
// guess.
func TestEverythingIsDescribed(t *testing.T) {
	for _, cmd := range described() {
		if cmd.Short == "" {
			t.Errorf("%s has no description", cmd.CommandPath())
		}
		if strings.ContainsAny(cmd.Use, " ") && cmd.Example == "" {
			t.Errorf("%s takes arguments and has no example", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no description", cmd.CommandPath(), f.Name)
			}
		})
	}
}

// The reference in the documents would speak of another program.
func TestReference(t *testing.T) {
	golden(t, filepath.Join("..", "..", "docs", "commands.md"), Reference())
}
