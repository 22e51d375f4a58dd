package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// Targets gives what is known of each server of each target ([api.Publisher]).
func (a *App) Targets(context.Context) ([]api.TargetView, error) {
	list := []api.TargetView{}
	for _, v := range a.pushing.publisher.Views() {
		list = append(list, targetView(&v))
	}
	return list, nil
}

func targetView(v *publish.View) api.TargetView {
	t := api.TargetView{
		Name: v.Name, Server: v.Server, Kind: v.Kind, Site: v.Site, State: api.TargetState(v.State), Product: v.Inspection.Product,
		Since: v.Since, Retry: v.Retry, Compared: v.Compared, Changed: v.Changed, Repair: v.Repair, Wrong: v.Wrong, Writes: v.Writes,
		TTL: int(v.Inspection.TTL / time.Second), Visible: v.Visible.Seconds(), Records: []api.TargetRecord{},
	}
	if v.Error != nil {
		t.Error = v.Error.Error()
	}
	for i := range v.Sets {
		s := &v.Sets[i]
		r := api.TargetRecord{
			Name: s.Name, Type: s.Type(), TTL: int(s.TTL / time.Second), Desired: s.Desired, Actual: s.Actual, Visible: s.Visible,
		}
		if s.Error != nil {
			r.Error = s.Error.Error()
		}
		t.Records = append(t.Records, r)
	}
	for _, c := range v.Plan.Conflicts {
		t.NoFailover = append(t.NoFailover, api.TargetConflict{Name: c.Name, Type: c.Type(), Text: c.Text()})
	}
	for _, r := range v.Plan.Satisfied {
		t.NoFailover = append(t.NoFailover, api.TargetConflict{Name: r.Name, Type: r.Key().Type(), Text: providers.SatisfiedText(r)})
	}
	for _, f := range v.Inspection.Findings {
		t.Findings = append(t.Findings, api.TargetFinding{Severity: f.Severity, Text: f.Text})
	}
	for _, s := range v.Shadows {
		t.Findings = append(t.Findings, api.TargetFinding{Severity: sites.Warning, Text: s.Text})
	}
	for _, text := range v.Problems {
		t.Findings = append(t.Findings, api.TargetFinding{Severity: sites.Warning, Text: text})
	}
	for _, e := range v.Foreign {
		t.Foreign = append(t.Foreign, api.TargetForeign{Name: e.Name, Type: e.Key().Type(), Address: e.Addr.String(), Text: e.Text})
	}
	if t.Strangers = v.Strangers; v.Ordered != nil {
		t.Disabled = &api.TargetOrder{By: v.Ordered.By, Reason: v.Ordered.Reason, Since: v.Ordered.Since}
	}
	for _, h := range v.Plan.Held {
		severity := sites.Warning
		if h.By == "delete_guard" { // it waits for an operator
			severity = sites.Critical
		}
		t.Findings = append(t.Findings, api.TargetFinding{Severity: severity, Text: h.Key.String() + " is left as it is: " + h.Text + "."})
	}
	return t
}

// Plan lists what is at the targets and says what a push would change
// ([api.Publisher]).
func (a *App) Plan(ctx context.Context, target string) ([]api.TargetPlan, error) {
	list, err := a.pushing.publisher.Plan(ctx, target)
	if err != nil {
		return nil, unknownTarget(err, target)
	}
	out := []api.TargetPlan{}
	for i := range list {
		p := &list[i]
		v := api.TargetPlan{Target: p.Name, Server: p.Server, Changes: changesOf(p.Plan.Changes), Repair: p.Repair}
		if p.Err != nil {
			v.Error = p.Err.Error()
		}
		for _, c := range p.Plan.Conflicts {
			v.Held = append(v.Held, api.TargetConflict{Name: c.Name, Type: c.Type(), Text: c.Text()})
		}
		for _, h := range p.Plan.Held {
			v.Held = append(v.Held, api.TargetConflict{Name: h.Name, Type: h.Type(), Text: h.Text})
		}
		out = append(out, v)
	}
	return out, nil
}

func unknownTarget(err error, target string) error {
	if errors.Is(err, publish.ErrUnknown) {
		return &api.NotFoundError{Text: "There is no target " + target + "."}
	}
	return err
}

// changesOf writes changes line by line.
func changesOf(list []providers.Change) []api.TargetChange {
	out := []api.TargetChange{}
	for i := range list {
		c := &list[i]
		add := func(verb, from, to string) {
			out = append(out, api.TargetChange{Verb: verb, Name: c.Name, Type: c.Type(), From: from, To: to})
		}
		for _, e := range c.Adopt {
			add("adopt", e.Addr.String(), "")
		}
		for _, s := range c.Swap {
			add("change", s.From.Addr.String(), changed(s))
		}
		for _, r := range c.Add {
			add("add", "", r.Addr.String())
		}
		for _, e := range c.Remove {
			add("remove", e.Addr.String(), "")
		}
	}
	return out
}

// changed says what of an entry a swap changes.
func changed(s providers.Swap) string {
	switch {
	case s.From.Addr != s.To.Addr:
		return s.To.Addr.String()
	case s.From.Disabled:
		return s.To.Addr.String() + ", enabled"
	default:
		return fmt.Sprintf("%s with TTL %s", s.To.Addr, s.To.TTL)
	}
}

// Operate carries out an operator's word about a target ([api.Publisher]).
func (a *App) Operate(ctx context.Context, r api.TargetRequest) (api.TargetReply, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	p := a.pushing.publisher
	order := publish.Order{By: r.By, Reason: r.Reason, Since: time.Now()}
	var reply api.TargetReply
	var err error
	switch r.Verb {
	case api.TargetDisable:
		reply.Text = fmt.Sprintf("Nothing is sent to %s any more, and nothing is removed there: its clients get what it holds now, whatever happens.", r.Target)
		err = p.Disable(ctx, r.Target, order)
	case api.TargetEnable:
		if reply.Text, err = p.Enable(ctx, r.Target); reply.Text == "" {
			reply.Text = fmt.Sprintf("%s is caught up with.", r.Target)
		}
	case api.TargetAdopt:
		reply, err = a.adopt(ctx, r)
	case api.TargetPurge:
		reply, err = a.purge(ctx, r, order)
	default:
		return api.TargetReply{}, fmt.Errorf("there is no command %q for targets", r.Verb)
	}
	switch {
	case errors.Is(err, publish.ErrUnknown):
		return reply, unknownTarget(err, r.Target)
	case err != nil:
		// What was ordered is in force; what of it has failed is said.
		text := err.Error() + "."
		if !strings.HasPrefix(text, r.Target) {
			text = r.Target + ": " + text
		}
		return api.TargetReply{Refused: true, Text: text, Changes: reply.Changes}, nil
	}
	return reply, nil
}

func (a *App) adopt(ctx context.Context, r api.TargetRequest) (api.TargetReply, error) {
	found, err := a.pushing.publisher.Adopt(ctx, r.Target, r.Name, r.Confirmed)
	reply := api.TargetReply{Changes: entriesAs("adopt", found)}
	switch n := len(found); {
	case n == 0:
		reply.Text = "There is no record of somebody else there that has a configured host's name and a node's address."
	case r.Confirmed:
		reply.Text = fmt.Sprintf("%s %s ours now.", plural.Of(n, "record"), plural.Are(n))
	default:
		reply.Text = fmt.Sprintf("%s would become ours, to be changed and removed from then on as the nodes' states say.", plural.Of(n, "record"))
	}
	return reply, err
}

func (a *App) purge(ctx context.Context, r api.TargetRequest, order publish.Order) (api.TargetReply, error) {
	found, err := a.pushing.publisher.Purge(ctx, r.Target, order, r.Confirmed)
	reply := api.TargetReply{Changes: entriesAs("remove", found)}
	if r.Confirmed {
		reply.Text = fmt.Sprintf("Removed: %s. %s is disabled, or it would be filled again: \"dnsteer target enable %s\" does that.", plural.Of(len(found), "record"), r.Target, r.Target)
	} else {
		reply.Text = fmt.Sprintf("%s would be removed, and %s disabled.", plural.Of(len(found), "record"), r.Target)
	}
	return reply, err
}

func entriesAs(verb string, list []providers.Entry) []api.TargetChange {
	out := []api.TargetChange{}
	for _, e := range list {
		out = append(out, api.TargetChange{Verb: verb, Name: e.Name, Type: e.Key().Type(), From: e.Addr.String()})
	}
	slices.SortStableFunc(out, func(x, y api.TargetChange) int {
		if x.Name != y.Name {
			if x.Name < y.Name {
				return -1
			}
			return 1
		}
		return netip.MustParseAddr(x.From).Compare(netip.MustParseAddr(y.From))
	})
	return out
}
