package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

func (c *commands) switchCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "switch SITE|SITE/POOL NODE",
		Short: "Make a node the active one of an active_passive pool",
		Long: `Make a node the active one of an active_passive pool, now. The pool is then
paused: nothing of it moves by itself until resume, or failback, or the end of
--for. It is refused if the node does not answer, unless forced.`,
		Example: `  dnsteer switch hamburg b --reason "a is slow" --for 2h`,
		Args:    takes(2, 2, "SITE or SITE/POOL, and NODE"), ValidArgsFunction: c.complete(offerSites | offerPools),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		site, pool, err := target(args[0])
		if err != nil {
			return err
		}
		out := sites.Command{Verb: sites.Switch, Site: site, Pool: pool, Node: args[1]}
		return c.command(ctx, client, out, &o)
	})
	o.forFlag(cmd)
	o.reasonFlag(cmd)
	o.forceFlag(cmd, "also to a node that does not answer")
	return cmd
}

func (c *commands) drillCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "drill SITE/NODE --for DURATION",
		Short: "Treat a node as not answering, to see the real path at work",
		Long: `Treat a node as not answering although it does, so that the real path is
exercised: threshold, proof, switch, and alerts marked as a drill. It ends by
itself after --for, with --end, and at once if the pool loses its other nodes.
The node is then back without grace. What would leave a pool without a node is
refused, unless forced.`,
		Example: `  dnsteer drill berlin/a --for 5m
  dnsteer drill berlin/a --end`,
		Args: takes(1, 1, "SITE/NODE"), ValidArgsFunction: c.complete(offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		verb, err := o.startOrEnd(sites.Drill, sites.DrillEnd)
		switch {
		case err != nil:
			return err
		case !o.end && o.lasting == "":
			return &exit{wrongUse, fmt.Errorf("say for how long: dnsteer drill %s --for 5m", args[0])}
		}
		return c.node(ctx, client, verb, args[0], &o)
	})
	o.endFlag(cmd)
	o.forFlag(cmd)
	o.reasonFlag(cmd)
	o.forceFlag(cmd, forceEmpty)
	return cmd
}

func (c *commands) releaseCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Let nodes move although many fail at once",
		Long: `End the brake of a mass failure: nodes that do not answer are then taken out as
in any outage. First make sure that it is they that fail and not the prober: a
firewall rule, a wrong path, a certificate, a clock.`,
		Example: `  dnsteer release --reason "the power is out in both halls"`,
		Args:    takes(0, 0, ""),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
		return c.command(ctx, client, sites.Command{Verb: sites.Release}, &o)
	})
	o.reasonFlag(cmd)
	return cmd
}
