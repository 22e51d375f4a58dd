package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
)

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
			return c.print(report, func(p *printer) {
				p.para("", report.Text)
				if report.Stay > 0 {
					p.para("", plural.Of(report.Stay, "warning")+" as before: `dnsteer check` shows all.")
				}
			})
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
	asked := c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
		ask, word := client.Healthy, "healthy"
		if ready {
			ask, word = client.Ready, "ready"
		}
		if err := ask(ctx); err != nil {
			if p, ok := errors.AsType[*api.Problem](err); ok && len(p.Missing) > 0 {
				err = fmt.Errorf("%s: %s", p.Detail, strings.Join(p.Missing, ", "))
			}
			return err
		}
		return c.print(api.Healthful{Status: word}, func(p *printer) { p.line("%s", word) })
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := asked(cmd, args)
		if _, coded := errors.AsType[*exit](err); err != nil && !coded {
			err = &exit{unhealthy, err}
		}
		return err
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether everything is ready, too: 4 while something is missing")
	return cmd
}
