package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/probes"
)

// said is one thing that a probe has seen on its way: a text, or a time.
type said struct {
	Label, Text string
	At          time.Time
}

// detailed lists what a probe has seen, in the order in which it came.
func detailed(d *probes.Detail) (list []said) {
	say := func(label, format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			list = append(list, said{Label: label, Text: text})
		}
	}
	say("Asked", "%s", d.Address)
	for _, s := range d.Steps {
		text := strings.ReplaceAll(s.Name, "_", " ") + " " + took(s.Took)
		if s.Error != "" {
			text += ": " + s.Error
		}
		say("Step", "%s", text)
	}
	if c := d.Certificate; c != nil {
		say("Certificate", "%s, from %s, %s", c.Subject, c.Issuer, c.Version)
		say("Its names", "%s", strings.Join(c.Names, ", "))
		list = append(list, said{Label: "Lasts until", At: c.NotAfter})
		say("Fingerprint", "%s", c.Fingerprint)
	}
	if h := d.HTTP; h != nil {
		say("Response", "%s", h.Status)
		say("Begins with", "%s", h.Body)
	}
	if m := d.DNS; m != nil {
		say("Response", "%s", m.Rcode)
		for _, record := range m.Answer {
			say("Record", "%s", record)
		}
	}
	if d.EchoesSent > 0 {
		echoes := []string{fmt.Sprintf("%d of %d", len(d.Echoes), d.EchoesSent)}
		for _, e := range d.Echoes {
			echoes = append(echoes, took(e.RTT))
		}
		say("Echoes", "%s", strings.Join(echoes, ", "))
	}
	if c := d.Command; c != nil {
		say("Ended", "%s", c.Status)
		say("Output", "%s", c.Output)
	}
	return list
}
