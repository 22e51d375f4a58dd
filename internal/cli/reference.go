package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// bare is the root command in no environment, as it is documented.
func bare() *cobra.Command {
	c := &commands{Env: Env{LookupEnv: func(string) (string, bool) { return "", false }}}
	return c.root()
}

// described are the commands that are documented, each before those below it:
// all but help.
func described() (list []*cobra.Command) {
	for _, cmd := range bare().Commands() {
		list = append(append(list, cmd), cmd.Commands()...)
	}
	return list
}

// groupOf is the group of a command, or of the one above it.
func groupOf(cmd *cobra.Command) string {
	if cmd.GroupID == "" && cmd.Parent().HasParent() {
		return cmd.Parent().GroupID
	}
	return cmd.GroupID
}

// Reference gives docs/commands.md, made from the commands themselves.
func Reference() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	root := bare()
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
			if groupOf(cmd) == g.ID {
				b.WriteString(section(cmd))
			}
		}
	}
	p("## And\n")
	for _, cmd := range described() {
		if groupOf(cmd) == "" {
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
