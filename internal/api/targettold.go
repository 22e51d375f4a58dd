package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/sites"
)

// addTargets puts the targets into the status, and what is wrong with them among
// its problems.
func (h *Handler) addTargets(ctx context.Context, s *Status) error {
	list, err := h.targetViews(ctx)
	if err != nil {
		return err
	}
	s.Targets = list
	var wrong []CriticalView
	var urgent, others []string
	for i := range list {
		told := list[i].Problems(s.Time)
		if v := &list[i]; v.Wrong && (v.State == TargetFailing || v.State == TargetDenied) { // of both something is told
			wrong = append(wrong, CriticalView{Kind: sites.PublishFailed, Site: v.Site, Since: v.Since, Text: told[0], Do: doTarget})
			urgent, told = append(urgent, told[0]), told[1:]
		}
		others = append(others, told...)
	}
	first := min(len(s.Critical), len(s.Problems)) // those stand before what is less urgent
	s.Problems = slices.Concat(s.Problems[:first], urgent, s.Problems[first:], others)
	s.Critical = slices.Concat(s.Critical, wrong)
	return nil
}

// doTarget is what to do first about a target whose clients get what is wrong.
const doTarget = "Mend the target, or change the record there by hand: clients are sent to a node that is out."

// Whole gives the reader with a status that has the targets in it too.
func (h *Handler) Whole() Reader { return whole{h.Reader, h} }

type whole struct {
	Reader
	h *Handler
}

// Status adds the targets and their problems.
func (w whole) Status(ctx context.Context) (Status, error) {
	s, err := w.Reader.Status(ctx)
	if err == nil {
		err = w.h.addTargets(ctx, &s)
	}
	return s, err
}

// Problems are what a person should look at first, worst first, as sentences;
// nil when the target is well. They are read at now.
func (v *TargetView) Problems(now time.Time) (list []string) {
	since := ""
	if !v.Since.IsZero() {
		since = " since " + clock.Told(v.Since, now)
	}
	switch v.State {
	case TargetDenied:
		list = append(list, fmt.Sprintf("%s refuses the credentials%s: %s.", v.Title(), since, ended(v.Error)))
	case TargetFailing:
		list = append(list, fmt.Sprintf("%s fails%s: %s. %s", v.Title(), since, ended(v.Error), v.Get()))
	case TargetDiffers:
		list = append(list, v.differs(now)...)
	default:
	}
	for _, c := range v.NoFailover {
		list = append(list, "At "+v.Name+": "+c.Text)
	}
	for _, f := range v.Findings {
		if f.Severity == sites.Critical {
			list = append(list, "At "+v.Name+": "+f.Text)
		}
	}
	for i := range v.Records {
		if r := &v.Records[i]; r.Visible != nil && !*r.Visible && slices.Equal(r.Desired, r.Actual) {
			list = append(list, fmt.Sprintf("%s %s was pushed to %s, and the site's resolver does not answer with it.", r.Name, r.Type, v.Name))
		}
	}
	return list
}

// Get says what the clients of a target that fails get. What fails may be what it has
// beside its records.
func (v *TargetView) Get() string {
	wrong := func(r TargetRecord) bool { return !slices.Equal(r.Desired, r.Actual) }
	if v.Wrong || v.Compared.IsZero() || len(v.Records) == 0 || slices.ContainsFunc(v.Records, wrong) {
		return "Its clients get what it was told before."
	}
	return "Its records were as they should be when it was last read."
}

// differs tells of a repair that has to wait: what the target holds till then, and
// when it ends. What is left so by the configuration is no problem.
func (v *TargetView) differs(now time.Time) []string {
	if v.Repair.IsZero() {
		return nil
	}
	var found []string
	for i := range v.Records {
		if r := &v.Records[i]; !slices.Equal(r.Desired, r.Actual) {
			found = append(found, fmt.Sprintf("%s %s is %s and should be %s", r.Name, r.Type, addresses(r.Actual), addresses(r.Desired)))
		}
	}
	text := strings.Join(found, "; ")
	if len(found) > maxDiffering {
		text = fmt.Sprintf("%s, and %d more", strings.Join(found[:maxDiffering], "; "), len(found)-maxDiffering)
	}
	if text == "" { // their addresses are right
		text = "a record has another TTL than it should, or is switched off"
	}
	return []string{fmt.Sprintf("Somebody has changed %s again: %s. It is put right at %s.", v.Title(), text, clock.Told(v.Repair, now))}
}

// maxDiffering bounds the records that one sentence lists.
const maxDiffering = 3

// ended takes the end of a sentence off a text.
func ended(text string) string { return strings.TrimRight(strings.TrimSpace(text), ".") }

// Title names a server of a target for people.
func (v *TargetView) Title() string { return v.Name + " (" + v.Server + ")" }

// explainTargets adds to an explanation where the name, or the site's answers,
// are pushed to. That a name has no failover stands first.
func explainTargets(what string, sentences []string, views []TargetView) []string {
	var loud, told []string
	host := strings.ToLower(strings.TrimSuffix(what, "."))
	for i := range views {
		v := &views[i]
		if v.Site == what {
			told = append(told, fmt.Sprintf("Its answers are pushed to %s: %s.", v.Title(), v.Holds()))
			continue
		}
		for _, c := range v.NoFailover {
			if covers(c.Name, host) {
				loud = append(loud, "At "+v.Name+": "+c.Text)
			}
		}
		for j := range v.Records {
			if r := &v.Records[j]; covers(r.Name, host) {
				told = append(told, r.told(v))
			}
		}
	}
	return append(append(loud, sentences...), told...)
}

// covers says whether a record is one of a host: its own, or the wildcard above
// it.
func covers(name, host string) bool {
	parent, wildcard := strings.CutPrefix(name, "*")
	return name == host || wildcard && strings.HasSuffix(host, parent)
}

// told says how an RRset stands at a target.
func (r *TargetRecord) told(v *TargetView) string {
	text := fmt.Sprintf("It is pushed to %s as %s %s", v.Title(), r.Type, addresses(r.Desired))
	if len(r.Desired) == 0 {
		text = fmt.Sprintf("It has no %s at %s", r.Type, v.Title())
	}
	switch {
	case r.Error != "":
		return fmt.Sprintf("%s; there it was last read as %s, and the target refuses to change it: %s.", text, addresses(r.Actual), ended(r.Error))
	case !slices.Equal(r.Desired, r.Actual):
		return text + "; there it was last read as " + addresses(r.Actual) + "."
	case r.Visible == nil:
		return text + ", and was read there."
	case *r.Visible:
		return text + "; the site's resolver answers with it."
	default:
		return text + ", and was read there, but the site's resolver does not answer with it."
	}
}

func addresses(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// Holds says in few words how much of what it should hold a target holds.
func (v *TargetView) Holds() string {
	right := 0
	for i := range v.Records {
		if slices.Equal(v.Records[i].Desired, v.Records[i].Actual) {
			right++
		}
	}
	switch n := len(v.Records); {
	case v.Compared.IsZero():
		return "not read yet"
	case n == 1 && right == 0:
		return "1 record, other than it should be"
	case right == n && n == 1:
		return "1 record, as it should be"
	case right == n:
		return plural.Of(n, "record") + ", as they should be"
	default:
		return fmt.Sprintf("%d of %s as they should be", right, plural.Of(n, "record"))
	}
}
