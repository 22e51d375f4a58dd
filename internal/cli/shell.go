package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells that completion scripts are made for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (c *commands) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands, flags and names",
		Long: `Print a script that completes commands, flags and names in a shell. The names of
sites and nodes come from the running controller; without one there are none.`,
		Example: `  dnsteer completion bash > /etc/bash_completion.d/dnsteer
  dnsteer completion zsh > "${fpath[1]}/_dnsteer"
  dnsteer completion fish > ~/.config/fish/completions/dnsteer.fish`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(1, 1, "the shell")(cmd, args); err != nil {
				return err
			}
			if !slices.Contains(shells, args[0]) {
				return fmt.Errorf("completion is for %s, not for %q", strings.Join(shells, ", "), args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			write := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}
			return write[args[0]](c.Out)
		},
	}
}

// helpCommand is cobra's, but one that does not take a slip for a question.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say how a command is used",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if found, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 || found == cmd.Root() {
				return unknown(cmd.Root(), args[0])
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, sub := range cmd.Root().Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, _, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// unknown says that there is no such command.
func unknown(root *cobra.Command, name string) error {
	near := ""
	if list := root.SuggestionsFor(name); len(list) > 0 {
		near = "; did you mean " + strings.Join(list, " or ") + "?"
	}
	return fmt.Errorf("there is no command %q%s", name, near)
}
