package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/logging"
)

// logFlags say what is logged, and how.
type logFlags struct{ level, format string }

func (f *logFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.level, "log-level", "info", "log this `level` and what is above: debug, info, warn or error")
	cmd.Flags().StringVar(&f.format, "log-format", string(logging.Text), "`format` of the log: text or json")
	_ = cmd.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// lastLines is how long the end of a run waits for the log to be read.
const lastLines = time.Second

// logged runs something with a logger to the standard error.
func (c *commands) logged(f logFlags, run func(*slog.Logger) error) error {
	level, err := logging.ParseLevel(f.level)
	if err != nil {
		return &exit{wrongUse, err}
	}
	format, err := logging.ParseFormat(f.format)
	if err != nil {
		return &exit{wrongUse, err}
	}
	log, w := logging.New(c.Err, format, level)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastLines)
		defer cancel()
		_ = w.Close(ctx) // whoever does not read the log is not told so in it
	}()
	return run(log)
}

func (c *commands) serveCommand() *cobra.Command {
	var f logFlags
	strict := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the controller until it is stopped",
		Long: `Run the controller until SIGINT or SIGTERM. SIGHUP, and any change of the
configuration's files, have it read again. If it is faulty at the start, the
last good one is used, with a loud word about it, unless --strict is given.`,
		Example: "  dnsteer serve --config config.example.yaml",
		Args:    noArguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if c.socket != "" {
			return &exit{wrongUse, errors.New("serve opens its socket in the configuration's state.path; --socket is for the other commands")}
		}
		return c.logged(f, func(log *slog.Logger) error {
			return c.Serve(cmd.Context(), ServeOptions{ConfigPath: c.config, Strict: strict, Log: log})
		})
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "do not start with the last good configuration when this one is faulty")
	f.add(cmd)
	return cmd
}

func (c *commands) demoCommand() *cobra.Command {
	listen := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show it at work: four sites on this machine, nothing to set up",
		Long: `Show it at work: four sites with two nodes each and a resolver, all on loopback
addresses of this machine, and the real controller with its DNS server. The
resolvers of two are a simulated router and a simulated AdGuard Home, which the
answers are pushed to. Nodes are stopped and sites are cut off from the
keyboard. Without a terminal it runs until SIGINT or SIGTERM.`,
		Example: "  dnsteer demo --dns 127.0.0.1:5354",
		Args:    noArguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		addr, err := netip.ParseAddrPort(listen)
		if err != nil || !addr.Addr().IsLoopback() {
			return &exit{wrongUse, fmt.Errorf("--dns: %q is no loopback address with a port, such as 127.0.0.1:5353", listen)}
		}
		return c.Demo(cmd.Context(), DemoOptions{DNS: addr})
	}
	cmd.Flags().StringVar(&listen, "dns", "127.0.0.1:5353", "answer DNS on this loopback `address`; port 0 takes a free one")
	return cmd
}
