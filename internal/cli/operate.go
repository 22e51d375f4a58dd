package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// order holds the flags of the commands that tell the controller something.
type order struct {
	end, force, all bool
	lasting, reason string
	drain           string
}

func (o *order) reasonFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, as `text` for the others and for later")
}

func (o *order) forFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.lasting, "for", "", "end it by itself after a `duration` such as 90m or 2d")
}

func (o *order) forceFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&o.force, "force", false, what)
}

func (o *order) endFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.end, "end", false, "end it")
}

// startOrEnd gives the verb that --end chooses.
func (o *order) startOrEnd(start, end sites.Verb) (sites.Verb, error) {
	switch {
	case !o.end:
		return start, nil
	case o.lasting != "" || o.force || o.drain != "":
		return "", &exit{wrongUse, errors.New("--end goes with none of --for, --force and --drain")}
	default:
		return end, nil
	}
}

const forceEmpty = "also when no node would be left that serves"

func (c *commands) maintenanceCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "maintenance SITE|SITE/NODE",
		Short: "Take a node, or all of a site, out of DNS for work on it",
		Long: `Take a node, or all of a site, out of DNS for work on it, or put it back with
--end. It is watched meanwhile; after the end it comes back as soon as it
answers. What would leave a pool without a node is refused, unless forced.

With --drain the command then waits until no session is open on it any more and
caches have forgotten it, and says meanwhile how many are. It exits with 1 when
the time has passed before, or when no probe (haproxy, heartbeat) finds out how
many sessions there are. The node stays in maintenance either way.`,
		Example: `  dnsteer maintenance berlin/a --for 2h --reason "new kernel"
  dnsteer maintenance berlin/a --drain 5m
  dnsteer maintenance berlin/a --end`,
		Args: takes(1, 1, "SITE or SITE/NODE"), ValidArgsFunction: c.complete(offerSites | offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		verb, err := o.startOrEnd(sites.Maintenance, sites.MaintenanceEnd)
		if err != nil {
			return err
		}
		if o.drain != "" {
			return c.maintainDrained(ctx, client, args[0], &o)
		}
		return c.node(ctx, client, verb, args[0], &o)
	})
	o.endFlag(cmd)
	cmd.Flags().StringVar(&o.drain, "drain", "", "wait up to a `duration` such as 5m for its sessions to end")
	o.forFlag(cmd)
	o.reasonFlag(cmd)
	o.forceFlag(cmd, forceEmpty)
	return cmd
}

func (c *commands) disableCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:     "disable SITE/NODE",
		Short:   "Take a node out of DNS and probe it no more",
		Example: `  dnsteer disable hamburg/b --reason "sold"`,
		Args:    takes(1, 1, "SITE/NODE"), ValidArgsFunction: c.complete(offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		return c.node(ctx, client, sites.Disable, args[0], &o)
	})
	o.forFlag(cmd)
	o.reasonFlag(cmd)
	o.forceFlag(cmd, forceEmpty)
	return cmd
}

func (c *commands) enableCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:     "enable SITE/NODE",
		Short:   "Probe a disabled node again, and put it back once it answers",
		Example: "  dnsteer enable hamburg/b",
		Args:    takes(1, 1, "SITE/NODE"), ValidArgsFunction: c.complete(offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		return c.node(ctx, client, sites.Enable, args[0], &o)
	})
	o.reasonFlag(cmd)
	return cmd
}

func (c *commands) failbackCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "failback SITE",
		Short: "Put back now what is out by an outage and answers again",
		Long: `Put back now what is out by an outage and answers again, without waiting for
its grace; in an active_passive pool the first node that answers becomes the
active one.`,
		Example: "  dnsteer failback berlin",
		Args:    takes(1, 1, "SITE"), ValidArgsFunction: c.complete(offerSites),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		site, name, err := target(args[0])
		if err == nil && name != "" {
			err = &exit{wrongUse, fmt.Errorf("failback is for a whole site: dnsteer failback %s", site)}
		}
		if err != nil {
			return err
		}
		return c.command(ctx, client, sites.Command{Verb: sites.FailbackNow, Site: site}, &o)
	})
	o.reasonFlag(cmd)
	o.forceFlag(cmd, "also what does not answer")
	return cmd
}

func (c *commands) pauseCommand() *cobra.Command {
	cmd, o := c.pool(sites.Pause, "Let nothing of a site, or of a pool, move by itself")
	cmd.Example = `  dnsteer pause berlin --for 30m --reason "work on the line"`
	o.forFlag(cmd)
	return cmd
}

func (c *commands) resumeCommand() *cobra.Command {
	cmd, _ := c.pool(sites.Resume, "Let a paused site or pool move by itself again")
	cmd.Example = "  dnsteer resume berlin"
	return cmd
}

// pool makes the commands that are about pools.
func (c *commands) pool(verb sites.Verb, short string) (*cobra.Command, *order) {
	o := &order{}
	cmd := &cobra.Command{
		Use: string(verb) + " SITE|SITE/POOL|--all", Short: short, Args: takes(0, 1, ""),
		ValidArgsFunction: c.complete(offerSites | offerPools),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		out := sites.Command{Verb: verb}
		switch {
		case o.all == (len(args) == 1):
			return &exit{wrongUse, fmt.Errorf("%s: name SITE or SITE/POOL, or give --all", verb)}
		case !o.all:
			var err error
			if out.Site, out.Pool, err = target(args[0]); err != nil {
				return err
			}
		}
		return c.command(ctx, client, out, o)
	})
	cmd.Flags().BoolVar(&o.all, "all", false, "every site")
	o.reasonFlag(cmd)
	return cmd, o
}

// node carries out a command about a node.
func (c *commands) node(ctx context.Context, client *api.Client, verb sites.Verb, arg string, o *order) error {
	site, node, err := target(arg)
	if err != nil {
		return err
	}
	if node == "" && verb != sites.Maintenance && verb != sites.MaintenanceEnd {
		return &exit{wrongUse, fmt.Errorf("name the node: %s %s/NODE", verb, site)}
	}
	return c.command(ctx, client, sites.Command{Verb: verb, Site: site, Node: node}, o)
}

// command sends a command and prints the reply; a refusal is an error.
func (c *commands) command(ctx context.Context, client *api.Client, out sites.Command, o *order) error {
	text, err := c.send(ctx, client, out, o)
	if err != nil {
		return err
	}
	return c.print(api.CommandReply{Text: text}, func(p *printer) { p.para("", text) })
}

// send sends a command and gives the reply; a refusal is an error.
func (c *commands) send(ctx context.Context, client *api.Client, out sites.Command, o *order) (string, error) {
	out.By, out.Reason, out.Force = c.who(), o.reason, o.force
	if o.lasting != "" {
		var err error
		if out.For, err = config.ParseDuration(o.lasting); err != nil {
			return "", &exit{wrongUse, fmt.Errorf("--for: %w", err)}
		}
		if out.For <= 0 {
			return "", &exit{wrongUse, fmt.Errorf("--for: %q is no time at all", o.lasting)}
		}
	}
	reply, err := client.Command(ctx, out)
	if err != nil {
		return "", err
	}
	if reply.Refused {
		return "", errors.New(strings.TrimPrefix(reply.Text, "Refused: "))
	}
	return reply.Text, nil
}

// who gives the name of the person at the keyboard, which is kept with the
// events.
func (c *commands) who() string {
	name := fmt.Sprintf("user %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by, ok := c.LookupEnv("SUDO_USER"); ok && by != "" && by != name {
		name = by + " as " + name
	}
	return name
}
