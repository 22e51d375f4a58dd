package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
)

func (c *commands) probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "probe SITE/NODE",
		Short: "Run the probes of a node once, now, and show what they find",
		Long: `Run the probes of a node once, now, and show what they find. The exit code says
that they ran, not what they found; nothing is decided by it.`,
		Example: "  dnsteer probe berlin/a",
		Args:    takes(1, 1, "SITE/NODE"), ValidArgsFunction: c.complete(offerNodes),
		RunE: c.asking(func(ctx context.Context, client *api.Client, args []string) error {
			site, node, err := target(args[0])
			if err == nil && node == "" {
				err = &exit{wrongUse, fmt.Errorf("name the node: probe %s/NODE", site)}
			}
			if err != nil {
				return err
			}
			report, err := client.Probe(ctx, site, node)
			if err != nil {
				return err
			}
			return c.print(report, func(p *printer) { p.table("", probeRows(&report)) })
		}),
	}
}

func probeRows(r *api.ProbeReport) [][]cell {
	rows := [][]cell{{{"ADDRESS", dim}, {"PROBE", dim}, {"OUTCOME", dim}, {"TOOK", dim}, {"FOUND", dim}}}
	for _, l := range r.Lines {
		for i := range l.Checks {
			k := &l.Checks[i]
			c := yellow
			switch k.Outcome {
			case "up":
				c = green
			case "down":
				c = red
			}
			text := k.Text
			if text == "" {
				text = k.Cause
			}
			if !k.Steer {
				text = strings.TrimPrefix(text+"; shown only, it steers nothing", "; ")
			}
			rows = append(rows, []cell{{l.Address, plain}, {k.Probe, plain}, {k.Outcome, c}, {took(k.Duration), plain}, {text, plain}})
		}
	}
	return rows
}

func (c *commands) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Read the configuration again; what is faulty changes nothing",
		Long: `Have the controller read its configuration again. It is taken wholly or not at
all: if there is a fault in it, the exit code is 3 and the old one goes on.`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
			report, err := client.Reload(ctx)
			if err != nil {
				return err
			}
			if c.output == "table" {
				for _, w := range report.Warnings {
					fmt.Fprintf(c.Err, "warning: %s\n", oneLine(w))
				}
			}
			return c.print(report, func(p *printer) { p.para("", report.Text) })
		}),
	}
}

func (c *commands) healthCommand() *cobra.Command {
	ready := false
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit with 0 while the controller decides, else with 4",
		Long: `Exit with 0 while the controller decides, and with 4 when it does not or cannot
be reached; for service managers and containers.`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
		ask, word := client.Healthy, "healthy"
		if ready {
			ask, word = client.Ready, "ready"
		}
		if err := ask(ctx); err != nil {
			if p, ok := errors.AsType[*api.Problem](err); ok && len(p.Missing) > 0 {
				err = fmt.Errorf("%s: %s", p.Detail, strings.Join(p.Missing, ", "))
			}
			return &exit{unhealthy, err}
		}
		return c.print(api.Healthful{Status: word}, func(p *printer) { p.line("%s", word) })
	})
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether everything is ready, too: 4 while something is missing")
	return cmd
}
