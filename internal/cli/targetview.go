package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/sites"
)

// targetProblems says what is wrong with targets.
func targetProblems(p *printer, list []api.TargetView, now time.Time) {
	var texts []string
	for i := range list {
		texts = append(texts, list[i].Problems(now)...)
	}
	if len(texts) == 0 {
		return
	}
	p.line("%s", p.paint(red, "Problems"))
	for _, text := range texts {
		p.para("  ! ", text)
	}
	p.line("")
}

// targetTable lists targets, one server a row.
func targetTable(p *printer, list []api.TargetView, now time.Time) {
	rows := [][]cell{{{"TARGET", dim}, {"SITE", dim}, {"STATE", dim}, {"READ", dim}, {"HOLDS", dim}}}
	several := make(map[string]int)
	for i := range list {
		several[list[i].Name]++
	}
	for i := range list {
		v := &list[i]
		name := v.Name
		if several[v.Name] > 1 {
			name += " " + v.Server
		}
		rows = append(rows, []cell{
			{name, plain},
			{v.Site, plain},
			{strings.ReplaceAll(string(v.State), "_", " "), stateColor(v.State)},
			{since(v.Compared, now), plain},
			{holds(v, now), plain},
		})
	}
	p.table("", rows)
}

func stateColor(s api.TargetState) color {
	switch s {
	case api.TargetCurrent:
		return green
	case api.TargetFailing, api.TargetDenied:
		return red
	default:
		return yellow
	}
}

// since says how long ago something was; a dash where it never was.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ago(now.Sub(t))
}

// holds says how a target fares in few words.
func holds(v *api.TargetView, now time.Time) string {
	text := v.Holds()
	switch v.State {
	case api.TargetWaiting:
		text = "nothing is pushed before the site was seen"
	case api.TargetHeld:
		text += "; nothing is sent while the site cannot be seen"
	default:
	}
	if n := len(v.NoFailover); n > 0 {
		text += fmt.Sprintf("; %d without failover", n)
	}
	if v.TTL > 0 {
		text += fmt.Sprintf("; TTL %ds for all", v.TTL)
	}
	if v.Retry.After(now) {
		text += "; tried again " + in(v.Retry, now)
	}
	if v.Repair.After(now) {
		text += "; put right " + in(v.Repair, now)
	}
	return text
}

// showTarget shows one server of a target whole.
func showTarget(p *printer, v *api.TargetView, now time.Time) {
	p.line("%s  %s", p.paint(bold, v.Title()), p.paint(stateColor(v.State), strings.ReplaceAll(string(v.State), "_", " ")))
	about := v.Kind
	if v.Product != "" {
		about = v.Product
	}
	p.para("  ", fmt.Sprintf("%s, for %s. Read %s, written %s, %s since the start.", about, v.Site, past(v.Compared, now), past(v.Changed, now), plural.Of(v.Writes, "change")))
	for _, text := range v.Problems(now) {
		p.para("  ! ", text)
	}
	for _, f := range v.Findings {
		if f.Severity != sites.Critical {
			p.para("  - ", f.Text)
		}
	}
	if len(v.Records) == 0 {
		return
	}
	rows := [][]cell{{{"NAME", dim}, {"TYPE", dim}, {"TTL", dim}, {"SEEN", dim}, {"HOLDS", dim}}}
	for i := range v.Records {
		r := &v.Records[i]
		ttl, seen := "-", "-"
		if r.TTL > 0 {
			ttl = fmt.Sprintf("%ds", r.TTL)
		}
		if r.Visible != nil {
			seen = map[bool]string{true: "yes", false: "no"}[*r.Visible]
		}
		text, c := orNothing(r.Actual), plain
		if !slices.Equal(r.Desired, r.Actual) {
			text, c = text+"; it should be "+orNothing(r.Desired), yellow
		}
		rows = append(rows, []cell{{r.Name, plain}, {r.Type, plain}, {ttl, plain}, {seen, plain}, {text, c}})
	}
	p.table("  ", rows)
}

func orNothing(addrs []string) string {
	if len(addrs) == 0 {
		return "nothing"
	}
	return strings.Join(addrs, ", ")
}

// past says when something was.
func past(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return ago(now.Sub(t)) + " ago"
}
