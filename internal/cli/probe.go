package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/probes"
)

func (c *commands) probeCommand() *cobra.Command {
	brief := false
	cmd := &cobra.Command{
		Use:   "probe SITE/NODE",
		Short: "Run the probes of a node once, now, and show what they find",
		Long: `Run the probes of a node once, now, and show what they find, with every step
on the way: what was connected to, how long each step took, the certificate,
and what came back. The exit code says that they ran, not what they found;
nothing is decided by it.`,
		Example: `  dnsteer probe berlin/a
  dnsteer probe berlin/a --brief`,
		Args: takes(1, 1, "SITE/NODE"), ValidArgsFunction: c.complete(offerNodes),
	}
	cmd.RunE = c.asking(func(ctx context.Context, client *api.Client, args []string) error {
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
		return c.print(report, func(p *printer) { probeReport(p, &report, brief) })
	})
	cmd.Flags().BoolVar(&brief, "brief", false, "only one row for each probe, without its details")
	return cmd
}

func probeReport(p *printer, r *api.ProbeReport, brief bool) {
	rows := [][]cell{{{"ADDRESS", dim}, {"PROBE", dim}, {"OUTCOME", dim}, {"TOOK", dim}, {"FOUND", dim}}}
	details := []probes.Detail{{}} // of each row
	for i := range r.Lines {
		l := &r.Lines[i]
		for j := range l.Checks {
			rows = append(rows, checkRow(l.Address, &l.Checks[j]))
			details = append(details, l.Checks[j].Detail)
		}
	}
	widths := measure(rows)
	for i, row := range rows {
		p.row("", widths, row)
		if !brief {
			detail(p, &details[i], r.Time)
		}
	}
}

func checkRow(address string, k *api.ProbedCheck) []cell {
	c := yellow
	switch k.Outcome {
	case "up":
		c = green
	case "down":
		c = red
	}
	text := oneLine(k.Text)
	if text == "" {
		text = k.Cause
	}
	if !k.Steer {
		text = strings.TrimPrefix(text+"; shown only, it steers nothing", "; ")
	}
	return []cell{{address, plain}, {k.Probe, plain}, {k.Outcome, c}, {took(k.Duration), plain}, {text, plain}}
}

// detail writes what a probe saw on its way, at a time.
func detail(p *printer, d *probes.Detail, now time.Time) {
	say := func(label, text string) {
		if text = oneLine(text); text != "" {
			first := fmt.Sprintf("  %-13s", label)
			p.para(first, broken(text, width-len(first)))
		}
	}
	say("asked", d.Address)
	var steps []string
	for _, s := range d.Steps {
		text := strings.ReplaceAll(s.Name, "_", " ") + " " + took(s.Took)
		if s.Error != "" {
			text += " (" + s.Error + ")"
		}
		steps = append(steps, text)
	}
	say("steps", strings.Join(steps, ", "))
	if c := d.Certificate; c != nil {
		say("certificate", c.Subject+", by "+c.Issuer+", "+c.Version)
		say("names", strings.Join(c.Names, ", "))
		say("valid", validity(c, now))
		// It is a word that people copy, and too long to stand beside its label.
		say("fingerprint", "of the certificate:")
		p.line("    %s", printable(c.Fingerprint))
	}
	if h := d.HTTP; h != nil {
		say("response", h.Status)
		say("body", h.Body)
	}
	if m := d.DNS; m != nil {
		say("response", message(m))
		for _, record := range m.Answer {
			say("answer", record)
		}
	}
	if d.EchoesSent > 0 {
		say("echoes", echoes(d))
	}
	if c := d.Command; c != nil {
		say("ended", c.Status)
		say("output", c.Output)
	}
}

// validity says from when to when a certificate is valid, and how long that is.
func validity(c *probes.SeenCertificate, now time.Time) string {
	text := fmt.Sprintf("%s to %s, ", c.NotBefore.UTC().Format("2006-01-02 15:04:05"), c.NotAfter.UTC().Format("2006-01-02 15:04:05 MST"))
	switch {
	case now.Before(c.NotBefore):
		return text + "not for another " + ago(c.NotBefore.Sub(now))
	case now.After(c.NotAfter):
		return text + "ended " + ago(now.Sub(c.NotAfter)) + " ago"
	default:
		return text + "for " + ago(c.NotAfter.Sub(now)) + " more"
	}
}

// message says what kind of response it is.
func message(m *probes.SeenDNS) string {
	text := m.Rcode
	if m.Authoritative {
		text += ", authoritative"
	}
	if m.Truncated {
		text += ", truncated"
	}
	if len(m.Answer) == 0 {
		text += ", no records"
	}
	return text
}

// echoes says which echoes came back.
func echoes(d *probes.Detail) string {
	var list []string
	for _, e := range d.Echoes {
		text := fmt.Sprintf("number %d in %s", e.Sequence, took(e.RTT))
		if e.TTL > 0 {
			text += fmt.Sprintf(" (TTL %d)", e.TTL)
		}
		list = append(list, text)
	}
	text := fmt.Sprintf("%d of %d", len(d.Echoes), d.EchoesSent)
	if len(list) > 0 {
		text += ": " + strings.Join(list, ", ")
	}
	return text
}
