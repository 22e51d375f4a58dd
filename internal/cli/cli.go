// Package cli is the command line: it reads what a person types, asks the
// running controller, and writes data to the standard output and messages to
// the standard error. Exit codes: 0 done, 1 failed or refused, 2 wrong use, 3
// configuration invalid, 4 unhealthy.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/online"
	"github.com/dnsteer/dnsteer/internal/rehearsal"
	"github.com/dnsteer/dnsteer/internal/version"
)

// Exit codes.
const (
	done      = 0
	failed    = 1
	wrongUse  = 2
	invalid   = 3
	unhealthy = 4
)

// Env is what the commands have of the world around them.
type Env struct {
	// In is where questions are answered and secrets are typed; nil where there is nobody.
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	// Serve runs the controller until ctx ends.
	Serve func(context.Context, ServeOptions) error
	// Demo runs the demonstration until ctx ends.
	Demo func(context.Context, DemoOptions) error
	// OnlineChecks are what `check --online` looks at beside nodes, resolvers and
	// targets.
	OnlineChecks []online.Check
}

// ServeOptions of a controller.
type ServeOptions struct {
	ConfigPath string
	Strict     bool
	Log        *slog.Logger
}

// DemoOptions of a demonstration.
type DemoOptions struct {
	// DNS is where the demonstration answers; port 0 takes a free one.
	DNS netip.AddrPort
}

// defaultConfig is where the configuration lies unless something else is said.
const defaultConfig = "/etc/dnsteer/dnsteer.yaml"

// defaultState is where the state lies unless the configuration says.
const defaultState = "/var/lib/dnsteer"

// exit is an error with a code of its own.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// Run carries out one command line and gives the exit code.
func Run(ctx context.Context, args []string, env Env) int {
	c := &commands{Env: env}
	root := c.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return done
	}
	code := c.code(err)
	if text := err.Error(); text != "" {
		fmt.Fprintf(env.Err, "dnsteer: %s\n", printable(text))
	}
	if code == wrongUse && !c.begun {
		fmt.Fprintf(env.Err, "Run '%s --help' for how it is used.\n", cmd.CommandPath())
	}
	return code
}

// code gives the exit code of an error.
func (c *commands) code(err error) int {
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	if !c.begun { // the command line itself was refused
		return wrongUse
	}
	if _, ok := errors.AsType[*config.FaultsError](err); ok {
		return invalid
	}
	if _, ok := errors.AsType[*rehearsal.ConfigError](err); ok {
		return invalid
	}
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusUnprocessableEntity {
		return invalid
	}
	return failed
}

// commands are the commands with the flags that they share.
type commands struct {
	Env
	begun  bool // the command line was understood
	config string
	socket string
	remote remote
	output string
}

func (c *commands) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dnsteer",
		Short: "Steer DNS answers away from what is down",
		Long: `dnsteer watches the nodes of your sites and answers DNS with those that work.

Exit codes: 0 done, 1 failed or refused, 2 wrong use, 3 configuration invalid,
4 unhealthy.`,
		Version:       version.Version,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			switch c.output {
			case "table", "json", "yaml":
			default:
				return fmt.Errorf("--output is table, json or yaml, not %q", c.output)
			}
			c.begun = true
			return nil
		},
	}
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetUsageTemplate(usage)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	path := defaultConfig
	if named, ok := c.LookupEnv("DNSTEER_CONFIG"); ok && named != "" {
		path = named
	}
	flags := root.PersistentFlags()
	flags.StringVar(&c.config, "config", path, "configuration, a `file` or a folder of files; also $DNSTEER_CONFIG")
	flags.StringVar(&c.socket, "socket", "", "control socket of the running controller, a `file`; by default dnsteer.sock in the configuration's state.path")
	c.remote.flags(flags, c.LookupEnv)
	flags.StringVarP(&c.output, "output", "o", "table", "`format` of what is printed: table, json or yaml")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))

	root.AddGroup(
		&cobra.Group{ID: "run", Title: "Run it:"},
		&cobra.Group{ID: "look", Title: "Ask the running controller:"},
		&cobra.Group{ID: "act", Title: "Tell the running controller:"},
		&cobra.Group{ID: "try", Title: "Try a configuration:"},
		&cobra.Group{ID: "secrets", Title: "Make what lets others in:"},
	)
	group := func(id string, list ...*cobra.Command) {
		for _, cmd := range list {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("run", c.serveCommand(), c.demoCommand())
	group("look", c.statusCommand(), c.explainCommand(), c.eventsCommand(), c.historyCommand(), c.probeCommand(),
		c.planCommand(), c.alertCommand(), c.healthCommand(), c.supportCommand())
	group("act", c.maintenanceCommand(), c.disableCommand(), c.enableCommand(), c.failbackCommand(),
		c.pauseCommand(), c.resumeCommand(), c.switchCommand(), c.drillCommand(), c.releaseCommand(), c.targetCommand(),
		c.reloadCommand())
	group("try", c.checkCommand(), c.rehearseCommand(), c.schemaCommand(), c.dnssecCommand())
	group("secrets", c.hashPasswordCommand(), c.tokenCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(c.completionCommand(), c.versionCommand())
	return root
}

// usage is cobra's own, but for flags that are wrapped.
const usage = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND [flags]{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

{{if .Groups}}And:{{else}}Commands:{{end}}{{range $cmds}}{{if (and (eq .GroupID "") (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all commands:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" says more.{{end}}
`

// takes gives a check of the number of arguments that says what is missing.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s: %s is missing", cmd.Name(), what)
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%s: %q is one too many", cmd.Name(), args[most])
		}
		return nil
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return fmt.Errorf("%s takes no argument, but %q is given", cmd.Name(), args[0])
	}
	return unknown(cmd, args[0])
}
