package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// eventFlags choose events.
type eventFlags struct {
	follow       bool
	since, until string
	kinds        []string
	limit        int
}

// followed is how many of the stored events come first when new ones are
// followed.
const followed = 10

func (c *commands) eventsCommand() *cobra.Command {
	var f eventFlags
	cmd := &cobra.Command{
		Use:   "events [SITE|SITE/NODE]",
		Short: "List what has happened, or follow what happens",
		Long: `List what has happened, the newest last, or follow what happens. A line has the
time, the severity, the kind of the event, what it is about, and what happened;
"(drill)" marks what a drill has brought about.`,
		Example: `  dnsteer events berlin --since 24h
  dnsteer events --follow --kind failover_outage --kind site_down`,
		Args: takes(0, 1, ""), ValidArgsFunction: c.complete(offerSites | offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
		if f.follow && !cmd.Flags().Changed("limit") && f.since == "" {
			f.limit = followed
		}
		q, err := f.query(args, time.Now())
		if err != nil {
			return &exit{wrongUse, err}
		}
		return c.events(ctx, client, q, f.follow)
	})
	flags := cmd.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with what happens from now on")
	flags.StringVar(&f.since, "since", "", "only what happened since a `time` such as 2026-01-02T15:04:05Z, or for so long: 24h")
	flags.StringVar(&f.until, "until", "", "only what happened until a `time`, likewise")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only events of this `kind`; may be repeated")
	flags.IntVar(&f.limit, "limit", 100, fmt.Sprintf("the newest `number` of events, at most %d", api.MaxLimit))
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func kindNames() (names []string) {
	for _, k := range sites.Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (f *eventFlags) query(args []string, now time.Time) (q api.EventQuery, err error) {
	if len(args) > 0 {
		if q.Site, q.Node, err = target(args[0]); err != nil {
			return q, err
		}
	}
	if q.Since, err = instant(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = instant(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	for _, name := range f.kinds {
		k := sites.Kind(name)
		if !k.Known() {
			return q, fmt.Errorf("--kind: there are no events of the kind %q", name)
		}
		q.Kinds = append(q.Kinds, k)
	}
	if f.limit < 1 || f.limit > api.MaxLimit {
		return q, fmt.Errorf("--limit: %d is not from 1 to %d", f.limit, api.MaxLimit)
	}
	if f.follow && f.until != "" {
		return q, errors.New("--follow does not go with --until")
	}
	q.Limit = f.limit
	return q, nil
}

// instant reads a time, or how long ago it was; zero for "".
func instant(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := config.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range [...]string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a time like 2026-01-02T15:04:05Z nor a duration like 24h", text)
}

func (c *commands) events(ctx context.Context, client *api.Client, q api.EventQuery, follow bool) error {
	// Whoever follows one site starts behind the newest event of all, so that
	// nothing is missed between the list and the stream.
	var newest []sites.Event
	var err error
	if follow {
		if newest, err = client.Events(ctx, api.EventQuery{Limit: 1}); err != nil {
			return err
		}
	}
	list, err := client.Events(ctx, q)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	if !follow {
		if len(list) == 0 && c.output == "table" {
			fmt.Fprintln(c.Err, "No such event is stored.")
		}
		return c.print(api.EventList{Events: list}, func(p *printer) {
			for i := range list {
				eventLine(p, &list[i])
			}
		})
	}
	if len(newest) > 0 {
		q.After = newest[0].ID
	}
	for i := range list {
		q.After = max(q.After, list[i].ID)
		if err := c.event(&list[i]); err != nil {
			return err
		}
	}
	return c.follow(ctx, client, q)
}

// comeBack is how long follow waits before it connects again.
const comeBack = 2 * time.Second

// follow prints events until ctx ends, and comes back when the controller does.
func (c *commands) follow(ctx context.Context, client *api.Client, q api.EventQuery) error {
	q = api.EventQuery{After: q.After, Kinds: q.Kinds, Site: q.Site, Node: q.Node}
	told := false
	for {
		err := client.Follow(ctx, q, func(e sites.Event) error {
			q.After, told = e.ID, false
			if err := c.event(&e); err != nil {
				return &exit{failed, fmt.Errorf("print an event: %w", err)}
			}
			return nil
		})
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		if !passing(err) {
			return err
		}
		if !told {
			told = true
			fmt.Fprintf(c.Err, "dnsteer: %s; trying again\n", oneLine(err.Error()))
		}
		select {
		case <-time.After(comeBack):
		case <-ctx.Done():
			return nil
		}
	}
}

// passing says whether an error of a stream may be gone when it is asked for
// again.
func passing(err error) bool {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p.Status == http.StatusServiceUnavailable
	}
	_, unreachable := errors.AsType[*api.UnreachableError](err)
	return unreachable || errors.Is(err, api.ErrStreamEnded)
}

// event prints one of a stream.
func (c *commands) event(e *sites.Event) error {
	switch c.output {
	case "json":
		return json.NewEncoder(c.Out).Encode(e)
	case "yaml":
		if _, err := fmt.Fprintln(c.Out, "---"); err != nil {
			return err
		}
	}
	return c.print(e, func(p *printer) { eventLine(p, e) })
}

func eventLine(p *printer, e *sites.Event) {
	c := plain
	switch e.Severity {
	case sites.Critical:
		c = red
	case sites.Warning:
		c = yellow
	default:
	}
	what := string(e.Kind)
	if s := e.Subject(); s != "" {
		what += " " + s
	}
	if e.Drill && e.Kind != sites.DrillEnded {
		what += " (drill)"
	}
	text := oneLine(e.Text)
	var more []string // what the text does not say by itself
	for _, x := range [...]string{oneLine(e.By), oneLine(e.Reason)} {
		if x != "" && !strings.Contains(text, x) {
			more = append(more, x)
		}
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ": ") + ")"
	}
	p.line("%s  %s  %s: %s", e.Time.Local().Format(time.DateTime), p.paint(c, fmt.Sprintf("%-8s", e.Severity)), what, text)
}
