package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/sites"
)

func (c *commands) statusCommand() *cobra.Command {
	watch := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is wrong, then every site with its nodes and answers",
		Long: `Show what is wrong, then every site with its nodes and answers.

STATE of a node is pending, up, failing, out, recovering, returning,
maintenance or disabled; FOR says how long it has been in it. Where probes of
type haproxy or heartbeat find it out, OPEN is the sessions on it, TRAFFIC what
it carries, and LOAD how busy it is (0 is idle).`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, _ []string) error {
		if watch {
			return c.watch(ctx, client)
		}
		s, err := client.Status(ctx)
		if err != nil {
			return err
		}
		return c.print(s, func(p *printer) { statusTable(p, &s) })
	})
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it anew every two seconds, until it is interrupted")
	return cmd
}

// watchEvery is the pace of a status that is watched.
const watchEvery = 2 * time.Second

// clearScreen starts a terminal anew at its upper left.
const clearScreen = "\x1b[H\x1b[2J"

// watch prints the status again and again. One that cannot be had is said so in
// its place: the controller may be starting.
func (c *commands) watch(ctx context.Context, client *api.Client) error {
	if c.output != "table" {
		return &exit{wrongUse, errors.New("--watch shows a table; for programs there is `dnsteer events --follow -o json`")}
	}
	for {
		s, err := client.Status(ctx)
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		p := &printer{colored: c.colored()}
		if err != nil {
			p.para("", err.Error())
		} else {
			statusTable(p, &s)
		}
		text := p.String() + "\n"
		if p.colored {
			text = clearScreen + text
		}
		if _, err := io.WriteString(c.Out, text); err != nil {
			return fmt.Errorf("print the status: %w", err)
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

func statusTable(p *printer, s *api.Status) {
	if len(s.Problems) == 0 {
		p.line("%s", p.paint(green, "All is well."))
	} else {
		p.line("%s", p.paint(red, "Problems"))
		for _, text := range s.Problems {
			p.para("  ! ", text)
			urgent(p, s, text)
		}
	}
	for i := range s.Sites {
		p.line("")
		siteTable(p, &s.Sites[i], s.Time)
	}
	if len(s.Targets) > 0 {
		p.line("")
		targetTable(p, s.Targets, s.Time)
	}
	p.line("")
	p.para("", fmt.Sprintf("dnsteer %s, %s, runs for %s.", s.Version, s.Instance, ago(s.Time.Sub(s.Started))))
	p.para("", fmt.Sprintf("Configuration: %s, read at %s.", s.Config.Path, moment(s.Config.Loaded, s.Time)))
	if n := len(s.Config.Warnings); n > 0 {
		p.para("", fmt.Sprintf("It has warnings (%d): `dnsteer check %s` prints them.", n, s.Config.Path))
	}
	if s.Brake == "released" {
		p.para("", "The brake is released: what fails is taken out until fewer nodes fail.")
	}
	if a := s.Alerts; a != nil && a.Queued > 0 {
		p.para("", fmt.Sprintf("Not sent yet: %s. See `dnsteer alert list`.", plural.Of(a.Queued, "alert")))
	}
	if d := s.DNS; d != nil {
		p.para("", fmt.Sprintf("DNS: %s, %d queries.", strings.Join(d.Listen, ", "), d.Queries))
		namesTable(p, d)
	}
}

// urgent says what to do about a problem that is critical, for how long it has been
// so, and what says more.
func urgent(p *printer, s *api.Status, problem string) {
	i := slices.IndexFunc(s.Critical, func(c api.CriticalView) bool { return c.Text == problem })
	if i < 0 {
		return
	}
	c := &s.Critical[i]
	since := ""
	if !c.Since.IsZero() {
		since = " for " + ago(s.Time.Sub(c.Since))
	}
	p.para("    ", fmt.Sprintf("CRITICAL%s. %s See %s.", since, c.Do, c.Runbook()))
}

// namesTable tells of signed zones and of secondaries.
func namesTable(p *printer, d *api.DNSStatus) {
	var signed []string
	for _, z := range d.Signed {
		signed = append(signed, z.Zone)
	}
	if len(signed) > 0 {
		p.para("", fmt.Sprintf("Signed: %s; `dnsteer dnssec ds` prints what their parents must hold.", strings.Join(signed, ", ")))
	}
	heard := 0
	for _, s := range d.Secondaries {
		if s.Answered {
			heard++
		}
	}
	if n := len(d.Secondaries); n > 0 {
		p.para("", fmt.Sprintf("Secondaries: %d of %d have heard of the last change.", heard, n))
	}
}

func siteTable(p *printer, s *sites.SiteView, now time.Time) {
	word, c := strings.ReplaceAll(string(s.Condition), "_", " "), green
	if s.Condition != sites.SiteIsUp {
		c = red
	}
	p.line("%s  %s for %s", p.paint(bold, s.Name), p.paint(c, word), ago(now.Sub(s.Since)))
	if s.Condition != sites.SiteIsUp {
		p.para("  ", s.Explain)
	}
	if len(s.Nodes) > 0 {
		works := worksAt(s)
		rows := [][]cell{slices.Concat([]cell{{"NODE", dim}, {"STATE", dim}, {"FOR", dim}}, workHeads(works), []cell{{"NEXT", dim}})}
		braked := len(s.Pools) > 0
		for i := range s.Pools {
			braked = braked && s.Pools[i].Braked
		}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			rows = append(rows, slices.Concat([]cell{{n.Name, plain}, {string(n.Word), wordColor(n.Word)}, {ago(now.Sub(n.Since)), plain}}, workCells(works, n.Figures), []cell{{next(n, now, braked), plain}}))
		}
		p.table("  ", rows)
	}
	rows := [][]cell{{{"POOL", dim}, {"ANSWERS", dim}}}
	for i := range s.Pools {
		pool := &s.Pools[i]
		text, c := answers(pool, now)
		rows = append(rows, []cell{{pool.Name, plain}, {text, c}})
	}
	p.table("  ", rows)
}

func wordColor(w sites.Word) color {
	switch w {
	case sites.WordUp:
		return green
	case sites.WordOut:
		return red
	default:
		return yellow
	}
}

// next says what happens to a node next, as far as that is in sight; braked says
// that the brake holds all pools of its site.
func next(n *sites.NodeView, now time.Time, braked bool) string {
	text := ""
	switch n.Word {
	case sites.WordFailing:
		text = nextFailing(n, now, braked)
	case sites.WordRecovering:
		text = "waits for `dnsteer failback`, or for its witness"
		if n.Next.After(now) {
			text = "back in DNS " + in(n.Next, now) + " if it answers until then"
		}
		if n.Quarantine {
			text += " (quarantine)"
		}
	case sites.WordOut:
		text = "comes back after it answers again"
		switch {
		case n.Drill != nil:
			text = "comes back when that ends"
		case n.Quarantine:
			text += ", and waits for its quarantine"
		}
	case sites.WordReturning:
		text = "back in DNS as soon as it answers"
	case sites.WordPending:
		text = "joins when it first answers"
		if n.Answers {
			text = "joins once its site has been seen and probed"
		}
	case sites.WordMaintenance, sites.WordDisabled:
		if h := n.Ordered; h != nil {
			text = held(h, "until it is ended", now)
		}
	default:
	}
	if n.Drill != nil {
		text = strings.TrimSuffix("a drill "+held(n.Drill, "until it is ended", now)+"; "+text, "; ")
	}
	if n.Stale {
		text = strings.TrimPrefix(text+"; its probes give no results", "; ")
	}
	return text
}

// nextFailing is next for a node that is failing.
func nextFailing(n *sites.NodeView, now time.Time, braked bool) string {
	ahead := n.Next.After(now)
	switch {
	case braked:
		return "stays in DNS: the brake holds its pool"
	case ahead && n.Drill != nil:
		return "taken out of DNS " + in(n.Next, now)
	case ahead:
		return "taken out of DNS " + in(n.Next, now) + " unless it answers"
	case !n.Next.IsZero():
		return "taken out of DNS once its site's witness answers"
	default:
		return "stays in DNS for now: see `dnsteer explain`"
	}
}

// in says how far ahead a time is.
func in(t, now time.Time) string { return "in " + ago(t.Sub(now)+time.Second/2) }

// held says until when something was ordered, by whom and why; endless stands
// for what does not end by itself.
func held(h *sites.Hold, endless string, now time.Time) string {
	text := endless
	switch {
	case !h.Until.IsZero():
		text = "until " + moment(h.Until, now)
	case h.Lasts > 0: // the wall clock is not right yet
		text = "for " + ago(h.Lasts) + " once the clock is right"
	}
	if h.By != "" {
		text += ", by " + h.By
	}
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text
}

// answers says what a pool gives.
func answers(v *sites.PoolView, now time.Time) (string, color) {
	var list []string
	for _, addrs := range [...][]netip.Addr{v.IPv4, v.IPv6} {
		for _, a := range addrs {
			list = append(list, a.String())
		}
	}
	text, c := strings.Join(list, ", "), plain
	if text == "" {
		text, c = "nothing", red
	}
	site, emergency := strings.CutPrefix(v.Serves, "emergency:")
	switch {
	case emergency:
		text, c = text+" from "+site+", which steps in", yellow
	case v.Serves == "last_resort":
		text, c = text+" as a last resort", red
	case v.Active != "":
		text += " (" + v.Active + " is active)"
	}
	if v.Braked {
		text, c = text+"; held by the brake: see `dnsteer release --help`", yellow
	}
	if w := v.PutOff; w != nil {
		text, c = text+"; "+w.Text, yellow
	}
	if h := v.Paused; h != nil {
		word := "; paused "
		if h.Switch {
			word = "; paused by a switch "
		}
		text, c = text+word+held(h, "until `dnsteer resume`", now), yellow
	}
	return text, c
}
