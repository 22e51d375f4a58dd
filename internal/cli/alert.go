package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
)

func (c *commands) alertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alert",
		Short: "Try the alert channels, and show what waits to be sent",
		Long: `Try the alert channels, and show what waits to be sent.

"alert test" sends a test message now, beside what waits, and shows what was
said between the controller and the server. "alert list" shows how each channel
fares, the messages that wait, and the incidents that were told and last.`,
		Example: `  dnsteer alert test
  dnsteer alert test mail
  dnsteer alert list`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknown(cmd, args[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.alertTestCommand(), c.alertListCommand())
	return cmd
}

func (c *commands) alertTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [CHANNEL]",
		Short: "Send a test message, and show the dialogue with the server",
		Long: `Send a test message by a channel, or by each, and show what was said between the
controller and the server. Secrets are masked. The exit code is 1 if one of them
was not taken.`,
		Example: "  dnsteer alert test mail",
		Args:    takes(0, 1, ""), ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		channel := ""
		if len(args) > 0 {
			channel = args[0]
		}
		list, err := client.TestAlerts(ctx, channel)
		if err != nil {
			return err
		}
		if err := c.print(api.AlertTests{Tests: list}, func(p *printer) { alertTests(p, list) }); err != nil {
			return err
		}
		var bad []string
		for i := range list {
			if !list[i].OK {
				bad = append(bad, list[i].Channel)
			}
		}
		if bad != nil {
			return errors.New("not taken by " + strings.Join(bad, ", "))
		}
		return nil
	})
	return cmd
}

func alertTests(p *printer, list []alert.TestReport) {
	for i := range list {
		t := &list[i]
		if i > 0 {
			p.line("")
		}
		p.line("%s (%s)", p.paint(bold, t.Channel), t.Type)
		for _, l := range t.Dialogue {
			p.line("  %s", printable(l))
		}
		if t.OK {
			p.para("  ", p.paint(green, "The test message was taken."))
		} else {
			p.para("  ! ", "It was not taken: "+t.Error)
		}
	}
}

func (c *commands) alertListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show how the channels fare and what waits to be sent",
		Args:  noArguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
		s, err := client.Alerts(ctx)
		if err != nil {
			return err
		}
		return c.print(s, func(p *printer) { alertTable(p, &s, time.Now()) })
	})
	return cmd
}

func alertTable(p *printer, s *alert.Status, now time.Time) {
	if len(s.Channels) == 0 {
		p.para("", "No alert channel is configured: nobody is told of anything. See the key \"alerts\".")
		deadMan(p, s.DeadMan, now)
		return
	}
	rows := [][]cell{{{"CHANNEL", dim}, {"TYPE", dim}, {"WAIT", dim}, {"STATE", dim}}}
	for i := range s.Channels {
		text, color := channelState(&s.Channels[i], now)
		ch := &s.Channels[i]
		rows = append(rows, []cell{{ch.Name, plain}, {ch.Type, plain}, {strconv.Itoa(ch.Queued), plain}, {text, color}})
	}
	p.table("", rows)
	for i := range s.Channels {
		for _, q := range s.Channels[i].Queue {
			p.para("  ", fmt.Sprintf("%s waits for %s: %s", moment(q.Time, now), s.Channels[i].Name, q.Subject))
		}
	}
	if len(s.Open) > 0 {
		p.line("")
		p.line("Told, and not over:")
		for _, x := range s.Open {
			p.para("  ", fmt.Sprintf("since %s, %s to %s: %s", moment(x.Since, now), plural.Of(x.Sent, "message"), strings.Join(x.To, ", "), x.Subject))
		}
	}
	if s.Waiting > 0 {
		p.para("", fmt.Sprintf("Not told yet, and perhaps never if it ends by itself: %s.", plural.Of(s.Waiting, "event")))
	}
	deadMan(p, s.DeadMan, now)
}

// deadMan says how the calls of the dead man's switch fare; d is nil where there is none.
func deadMan(p *printer, d *alert.DeadManState, now time.Time) {
	switch {
	case d == nil:
	case d.Error != "":
		p.para("", "The dead man's switch cannot be called: "+d.Error)
	case !d.Last.IsZero():
		p.para("", "The dead man's switch was called "+ago(now.Sub(d.Last))+" ago.")
	}
}

// channelState says how a channel fares.
func channelState(c *alert.ChannelStatus, now time.Time) (string, color) {
	text, col := "nothing sent since the start", plain
	switch {
	case !c.Failing.IsZero():
		text, col = fmt.Sprintf("fails for %s: %s", ago(now.Sub(c.Failing)), c.Error), red
	case c.Error != "":
		text, col = "not to everyone: "+c.Error, yellow
	case !c.LastSent.IsZero():
		text, col = "works; last "+ago(now.Sub(c.LastSent))+" ago", green
	}
	if c.Dropped > 0 {
		text += fmt.Sprintf("; %d dropped", c.Dropped)
	}
	return text, col
}
