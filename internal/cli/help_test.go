package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// described are the commands that are documented: all but help.
func described() []*cobra.Command {
	c := &commands{Env: Env{LookupEnv: func(string) (string, bool) { return "", false }}}
	return c.root().Commands()
}

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
	golden(t, filepath.Join("..", "..", "docs", "commands.md"), reference())
}

// reference gives docs/commands.md.
func reference() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	c := &commands{Env: Env{LookupEnv: func(string) (string, bool) { return "", false }}}
	root := c.root()
	p("# Commands\n\nMade from the commands themselves: `dnsteer COMMAND --help` says the same.\n")
	p("The commands that ask the running controller, or tell it something, talk to it over")
	p("the socket `dnsteer.sock` in the folder `state.path` of the configuration. Whoever may")
	p("connect to it (its owner and its group) may do everything. With `--url` they talk to the")
	p("[HTTP listener](http.md), with a token. Data is written to the standard output, messages")
	p("to the standard error.\n")
	p("| exit code | meaning |\n|---|---|\n| 0 | done |\n| 1 | failed or refused |\n| 2 | wrong use |\n| 3 | configuration invalid |\n| 4 | unhealthy |\n")
	p("Flags of all commands:\n\n```text\n%s```\n", root.PersistentFlags().FlagUsagesWrapped(width))
	for _, g := range root.Groups() {
		p("## %s\n", strings.TrimSuffix(g.Title, ":"))
		for _, cmd := range described() {
			if cmd.GroupID == g.ID {
				b.WriteString(section(cmd))
			}
		}
	}
	p("## And\n")
	for _, cmd := range described() {
		if cmd.GroupID == "" {
			b.WriteString(section(cmd))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func section(cmd *cobra.Command) string {
	var b strings.Builder
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(&b, "### %s\n\n%s\n\n```text\n%s\n```\n\n", cmd.CommandPath(), text, cmd.UseLine())
	if flags := cmd.LocalNonPersistentFlags(); flags.HasFlags() {
		fmt.Fprintf(&b, "```text\n%s```\n\n", flags.FlagUsagesWrapped(width))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "```console\n")
		for line := range strings.Lines(cmd.Example) {
			fmt.Fprintf(&b, "$ %s\n", strings.TrimSpace(line))
		}
		fmt.Fprintf(&b, "```\n\n")
	}
	return b.String()
}
