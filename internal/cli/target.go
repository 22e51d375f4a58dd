package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
)

func (c *commands) targetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "target COMMAND",
		Short: "Look at the targets that are pushed to, and tell them something",
		Long: `Look at the targets that sites' answers are pushed to (routers, AdGuard Home,
zones that take updates), and tell them something. What dnsteer did not write
there is never changed or removed, unless adopt has made it dnsteer's.`,
		Example: `  dnsteer target list
  dnsteer target adopt router-berlin`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("target: COMMAND is missing: list, show, enable, disable, adopt, purge or pin")
			}
			return unknown(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.targetListCommand(), c.targetShowCommand(), c.targetEnableCommand(), c.targetDisableCommand(),
		c.targetAdoptCommand(), c.targetPurgeCommand(), c.targetPinCommand())
	return cmd
}

func (c *commands) targetListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the targets with their states, and what is wrong with them",
		Long: `List the targets with their states, and what is wrong with them.

STATE is current (it holds what it should, as it was last READ), pending (a push
is under way), differs (it holds something else, and is left so for now: HOLDS
says when it is put right, "target show" what keeps it), failing, denied (it
refuses the login), disabled, dry run, held (its site cannot be seen) or waiting
(for its site to be seen for the first time).`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
			s, err := client.Status(ctx)
			if err != nil {
				return err
			}
			list := api.TargetList{Targets: s.Targets}
			return c.print(list, func(p *printer) {
				if len(s.Targets) == 0 {
					p.para("", "There are no targets: the built-in server alone has the answers.")
					return
				}
				targetProblems(p, s.Targets, s.Time)
				targetTable(p, s.Targets, s.Time)
			})
		}),
	}
}

func (c *commands) targetShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show TARGET",
		Short:   "Show what a target should hold, holds, and what is seen of it",
		Example: "  dnsteer target show router-berlin",
		Args:    takes(1, 1, "TARGET"), ValidArgsFunction: c.completeTargets(),
		RunE: c.asking(func(ctx context.Context, client *api.Client, args []string) error {
			s, err := client.Status(ctx)
			if err != nil {
				return err
			}
			var list []api.TargetView
			var names []string
			for _, v := range s.Targets {
				if !slices.Contains(names, v.Name) {
					names = append(names, v.Name)
				}
				if v.Name == args[0] {
					list = append(list, v)
				}
			}
			if len(list) == 0 {
				return errors.New(noTarget(args[0], names))
			}
			return c.print(api.TargetList{Targets: list}, func(p *printer) {
				for i := range list {
					if i > 0 {
						p.line("")
					}
					showTarget(p, &list[i], s.Time)
				}
			})
		}),
	}
}

func noTarget(name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("There is no target %q: the configuration has none.", name)
	}
	return fmt.Sprintf("There is no target %q. There are %s.", name, strings.Join(names, ", "))
}

func (c *commands) targetEnableCommand() *cobra.Command {
	cmd, _ := c.operate(api.TargetEnable, "enable TARGET", "Send to a target again, and catch up with what it has missed",
		`Send to a target again, and catch up with what it has missed. It also lets
removals go that delete_guard holds back.`)
	return cmd
}

func (c *commands) targetDisableCommand() *cobra.Command {
	cmd, _ := c.operate(api.TargetDisable, "disable TARGET", "Leave a target alone: nothing is sent and nothing removed",
		`Leave a target alone until it is enabled: nothing is sent and nothing is
removed. Its clients get what it holds, whether that works or not.`)
	return cmd
}

func (c *commands) targetAdoptCommand() *cobra.Command {
	cmd, o := c.operate(api.TargetAdopt, "adopt TARGET [HOST]", "Take over records that somebody else wrote, after a question",
		`Take over records at a target that somebody else wrote: those of configured
hosts whose addresses are those of configured nodes. It shows them first and
asks. From then on dnsteer changes and removes them as it does its own.`)
	cmd.Args, cmd.Example = takes(1, 2, "TARGET"), "  dnsteer target adopt router-berlin app.example.lan"
	o.asks(cmd)
	return cmd
}

func (c *commands) targetPurgeCommand() *cobra.Command {
	cmd, o := c.operate(api.TargetPurge, "purge TARGET", "Remove what is dnsteer's from a target, after a question",
		`Remove everything from a target that is dnsteer's, such as before it is taken
out of the configuration. It shows the records first and asks. Its clients lose
the names. The target is then left alone until it is enabled.`)
	o.asks(cmd)
	return cmd
}

// word is an operator's word about a target.
type word struct {
	ask, yes bool
	reason   string
}

func (w *word) asks(cmd *cobra.Command) {
	w.ask = true
	cmd.Flags().BoolVarP(&w.yes, "yes", "y", false, "do not ask")
}

// operate makes a command that tells a target something.
func (c *commands) operate(verb api.TargetVerb, use, short, long string) (*cobra.Command, *word) {
	w := &word{}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: takes(1, 1, "TARGET"), ValidArgsFunction: c.completeTargets(),
		Example: fmt.Sprintf("  dnsteer target %s router-berlin", verb),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		r := api.TargetRequest{Verb: verb, Target: args[0], By: c.who(), Reason: w.reason, Confirmed: !w.ask || w.yes}
		if len(args) > 1 {
			r.Name = args[1]
		}
		reply, err := client.Operate(ctx, r)
		if err == nil && !reply.Refused && !r.Confirmed && len(reply.Changes) > 0 {
			if err := c.confirm(&reply); err != nil {
				return err
			}
			r.Confirmed = true
			reply, err = client.Operate(ctx, r)
		}
		switch {
		case err != nil:
			return err
		case reply.Refused:
			return errors.New(reply.Text)
		}
		return c.print(reply, func(p *printer) {
			changeTable(p, reply.Changes)
			p.para("", reply.Text)
		})
	})
	cmd.Flags().StringVar(&w.reason, "reason", "", "why, as `text` for the others and for later")
	return cmd, w
}

// confirm shows what would be done and asks for it; an error where that is not
// wanted, or nobody can be asked.
func (c *commands) confirm(would *api.TargetReply) error {
	p := &printer{}
	changeTable(p, would.Changes)
	p.para("", would.Text)
	fmt.Fprint(c.Err, p.String())
	in, ok := c.In.(*os.File)
	if !ok || !Terminal(in) {
		return errors.New("nothing was done: there is no terminal to ask at; give --yes to have it done")
	}
	fmt.Fprint(c.Err, "Do it? [y/N] ")
	answer, _ := bufio.NewReader(in).ReadString('\n') // its end is a no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}

// changeTable lists changes of a target.
func changeTable(p *printer, list []api.TargetChange) {
	var rows [][]cell
	for _, ch := range list {
		text := ch.To
		switch {
		case ch.To == "":
			text = ch.From
		case ch.From != "" && ch.From != ch.To:
			text = ch.From + " to " + ch.To
		}
		color := map[string]color{"add": green, "remove": red, "change": yellow}[ch.Verb]
		rows = append(rows, []cell{{ch.Verb, color}, {ch.Name, plain}, {ch.Type, plain}, {text, plain}})
	}
	p.table("  ", rows)
}

// completeTargets offers the targets that the running controller knows.
func (c *commands) completeTargets() cobra.CompletionFunc {
	return c.completeWith(func(ctx context.Context, client *api.Client) (names []string, err error) {
		list, err := client.Targets(ctx)
		for _, v := range list {
			names = append(names, v.Name)
		}
		return names, err
	})
}
