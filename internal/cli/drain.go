package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// drainEvery is the pace of looking at the sessions that are open.
const drainEvery = time.Second

// drained is what came of waiting for the sessions of nodes to end.
type drained struct {
	Text string `json:"text"`
	// Done: none is open any more.
	Done bool `json:"drained"`
	// Sessions that are still open; absent where nobody knows.
	Sessions *int64        `json:"sessions,omitempty"`
	Waited   time.Duration `json:"waited_ns"`
}

// looker is what draining asks of a controller.
type looker interface {
	Status(ctx context.Context) (api.Status, error)
}

// drain waits until no session is open on the nodes of a site, or on one of them,
// that were just taken out.
type drain struct {
	ask        looker
	site, node string // node "" for all of the site
	within     time.Duration
	progress   io.Writer
	said       string
}

// parseDrain reads how long --drain may wait.
func parseDrain(text string) (time.Duration, error) {
	d, err := config.ParseDuration(text)
	switch {
	case err != nil:
		return 0, &exit{wrongUse, fmt.Errorf("--drain: %w", err)}
	case d <= 0:
		return 0, &exit{wrongUse, fmt.Errorf("--drain: %q is no time at all", text)}
	}
	return d, nil
}

func (d *drain) name() string { return strings.TrimSuffix(d.site+"/"+d.node, "/") }

// run waits. The error says why it is not drained; what was found stands in the
// result in any case.
func (d *drain) run(ctx context.Context) (out drained, err error) {
	start := time.Now()
	var caches time.Duration
	for first := true; ; first = false {
		st, failed := d.ask.Status(ctx)
		out.Waited = time.Since(start).Truncate(time.Second)
		left := d.within - time.Since(start)
		switch {
		case ctx.Err() != nil:
			return d.gaveUp(out, "interrupted")
		case failed != nil:
			d.say("%s", failed)
		default:
			if first {
				caches = cached(&st, d.site)
			}
			nodes := d.nodes(&st)
			if len(nodes) == 0 {
				return out, fmt.Errorf("%s is not in maintenance any more", d.name())
			}
			if out.Sessions = open(nodes); d.done(&out, caches) {
				return out, nil
			}
			d.tell(&out, nodes, left, caches)
		}
		if left <= 0 {
			return d.gaveUp(out, "after "+ago(d.within))
		}
		select {
		case <-time.After(min(drainEvery, left)):
		case <-ctx.Done():
		}
	}
}

// done says whether nothing is open any more, and caches hold the nodes'
// addresses no longer.
func (d *drain) done(out *drained, caches time.Duration) bool {
	if out.Sessions == nil || *out.Sessions > 0 || out.Waited < caches {
		return false
	}
	out.Done = true
	out.Text = fmt.Sprintf("No session is open on %s any more, after %s.", d.name(), ago(out.Waited))
	return true
}

// gaveUp ends the waiting without having drained.
func (d *drain) gaveUp(out drained, when string) (drained, error) {
	switch {
	case out.Sessions == nil:
		out.Text = fmt.Sprintf("%s, it is not known how many sessions are open on %s; it stays in maintenance", when, d.name())
	case *out.Sessions == 0:
		out.Text = fmt.Sprintf("%s, no session is open on %s, but caches may still hold its address; it stays in maintenance", when, d.name())
	default:
		out.Text = fmt.Sprintf("%s, %s open on %s; it stays in maintenance", when, still(*out.Sessions), d.name())
	}
	return out, errors.New(out.Text)
}

func still(n int64) string {
	if n == 1 {
		return "1 session is still"
	}
	return fmt.Sprintf("%d sessions are still", n)
}

// tell says what is waited for, once for the same.
func (d *drain) tell(out *drained, nodes []*sites.NodeView, left, caches time.Duration) {
	switch {
	case out.Sessions == nil:
		var names []string
		for _, n := range nodes {
			if n.Figures == nil || n.Figures.Sessions == nil {
				names = append(names, d.site+"/"+n.Name)
			}
		}
		d.say("How many sessions are open on %s is not known: only probes of type haproxy and heartbeat find that out. Waiting all the same.", strings.Join(names, ", "))
	case *out.Sessions == 0:
		d.say("No session is open on %s; waiting until caches hold its address no longer (%s).", d.name(), ago(caches))
	default:
		text := fmt.Sprintf("%s open on %s", still(*out.Sessions), d.name())
		if rate := carried(nodes); rate != "" {
			text += ", carrying " + rate
		}
		if text == d.said {
			return
		}
		d.said = text
		fmt.Fprintf(d.progress, "%s; waiting for up to %s.\n", text, ago(left.Round(time.Second)))
	}
}

// say prints a sentence, unless it was the last.
func (d *drain) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != d.said {
		d.said = text
		fmt.Fprintln(d.progress, text)
	}
}

// nodes gives those that are waited for, as far as they are in maintenance.
func (d *drain) nodes(st *api.Status) (list []*sites.NodeView) {
	for i := range st.Sites {
		s := &st.Sites[i]
		for j := range s.Nodes {
			if n := &s.Nodes[j]; s.Name == d.site && (d.node == "" || n.Name == d.node) && n.Word == sites.WordMaintenance {
				list = append(list, n)
			}
		}
	}
	return list
}

// open counts the sessions of nodes; nil if it is not known of one of them.
func open(nodes []*sites.NodeView) *int64 {
	sum := int64(0)
	for _, n := range nodes {
		if n.Figures == nil || n.Figures.Sessions == nil {
			return nil
		}
		sum += *n.Figures.Sessions
	}
	return &sum
}

// carried says what nodes carry together, as far as that is known.
func carried(nodes []*sites.NodeView) string {
	sum, known := 0.0, false
	for _, n := range nodes {
		if n.Figures != nil && n.Figures.BytesPerSecond != nil {
			sum, known = sum+*n.Figures.BytesPerSecond, true
		}
	}
	if !known {
		return ""
	}
	return sites.Rate(sum)
}

// cached is how long caches may hold what a site answered.
func cached(st *api.Status, site string) (longest time.Duration) {
	for i := range st.Services {
		for _, a := range st.Services[i].Sites {
			if a.Site == site {
				longest = max(longest, time.Duration(a.TTL)*time.Second)
			}
		}
	}
	return longest
}

// maintainDrained takes nodes out and waits for their sessions to end.
func (c *commands) maintainDrained(ctx context.Context, client *api.Client, arg string, o *order) error {
	site, node, err := target(arg)
	if err != nil {
		return err
	}
	within, err := parseDrain(o.drain)
	if err != nil {
		return err
	}
	text, err := c.send(ctx, client, sites.Command{Verb: sites.Maintenance, Site: site, Node: node}, o)
	if err != nil {
		return err
	}
	if c.output == "table" {
		if err := c.print(nil, func(p *printer) { p.para("", text) }); err != nil {
			return err
		}
	}
	d := &drain{ask: client, site: site, node: node, within: within, progress: c.Err}
	out, failed := d.run(ctx)
	if failed == nil || c.output != "table" {
		if err := c.print(out, func(p *printer) { p.para("", out.Text) }); err != nil {
			return err
		}
	}
	return failed
}
