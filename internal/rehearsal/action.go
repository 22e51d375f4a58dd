package rehearsal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// change is an action on the world: it sets or clears a mark.
type change struct {
	name  string
	value config.Value[string]
	marks func(*world) map[string]bool
	set   bool
	check func(*world, string) error
}

func (a *action) changes() []change {
	node, probe := (*world).checkNode, (*world).checkProbe
	down := func(w *world) map[string]bool { return w.down }
	unknown := func(w *world) map[string]bool { return w.unknown }
	failing := func(w *world) map[string]bool { return w.failing }
	resolver := func(w *world) map[string]bool { return w.resolver }
	cut := func(w *world) map[string]bool { return w.cut }
	all := func(w *world, name string) error {
		if name == "all" {
			return nil
		}
		return w.checkSite(name)
	}
	return []change{
		{"down", a.Down, down, true, node},
		{"up", a.Up, down, false, node},
		{"unknown", a.Unknown, unknown, true, node},
		{"known", a.Known, unknown, false, node},
		{"fails", a.Fails, failing, true, probe},
		{"passes", a.Passes, failing, false, probe},
		{"resolver_down", a.ResolverDown, resolver, true, (*world).checkSite},
		{"resolver_up", a.ResolverUp, resolver, false, (*world).checkSite},
		{"cut", a.Cut, cut, true, all},
		{"heal", a.Heal, cut, false, all},
	}
}

// order is an operator's command with what it is about.
type order struct {
	verb  sites.Verb
	value config.Value[string]
}

// check refuses what cannot be meant; lasts says that a time stands beside it. Names that the configuration does not
// have are for the controller to refuse.
func (o order) check(lasts bool) error {
	text := o.value.V
	switch o.verb {
	case sites.Switch:
		if pool, node, ok := strings.Cut(text, " "); !ok || pool == "" || node == "" {
			return fmt.Errorf("switch: found %q, expected \"SITE NODE\" or \"SITE/POOL NODE\"", text)
		}
	case sites.Drill:
		_, length, ok := strings.Cut(text, " ")
		if ok == lasts {
			return fmt.Errorf("drill: found %q, expected \"SITE/NODE 5m\", or SITE/NODE with `for: 5m` beside it", text)
		}
		if lasts {
			return nil
		}
		if _, err := config.ParseDuration(length); err != nil {
			return fmt.Errorf("drill: found %q: %w", text, err)
		}
	case sites.Release:
		if text != "true" {
			return fmt.Errorf("release: found %q, expected true", text)
		}
	default:
	}
	return nil
}

// commands are the actions that an operator's command stands behind.
func (a *action) commands() []order {
	return []order{
		{sites.Maintenance, a.Maintenance},
		{sites.MaintenanceEnd, a.MaintenanceEnd},
		{sites.Disable, a.Disable},
		{sites.Enable, a.Enable},
		{sites.FailbackNow, a.Failback},
		{sites.Pause, a.Pause},
		{sites.Resume, a.Resume},
		{sites.Switch, a.Switch},
		{sites.Drill, a.Drill},
		{sites.DrillEnd, a.DrillEnd},
		{sites.Release, a.Release},
	}
}

// command gives the operator's command that the action is, if it is one.
func (a *action) command() (*sites.Command, bool) {
	for _, c := range a.commands() {
		if !c.value.Set {
			continue
		}
		cmd := &sites.Command{
			Verb: c.verb, By: "rehearsal", Reason: a.Reason.V, Force: a.Force.V, For: a.For.V,
		}
		site, rest, _ := strings.Cut(c.value.V, "/")
		cmd.Site = site
		switch c.verb {
		case sites.Pause, sites.Resume:
			cmd.Pool = rest
			if site == "all" {
				cmd.Site = ""
			}
		case sites.FailbackNow:
		case sites.Release:
			cmd.Site = ""
		case sites.Switch:
			pool, node, _ := strings.Cut(c.value.V, " ")
			cmd.Site, cmd.Pool, _ = strings.Cut(pool, "/")
			cmd.Node = node
		case sites.Drill:
			name, length, _ := strings.Cut(rest, " ")
			cmd.Node = name
			if d, err := config.ParseDuration(length); err == nil && length != "" {
				cmd.For = d
			}
		default:
			cmd.Node = rest
		}
		return cmd, true
	}
	return nil, false
}

// check refuses an action that names nothing, or two things at once.
func (a *action) check(w *world) error {
	found := 0
	for _, c := range a.changes() {
		if c.value.Set {
			found++
			if err := c.check(w, c.value.V); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	_, isCommand := a.command()
	for _, c := range a.commands() {
		if !c.value.Set {
			continue
		}
		found++
		if err := c.check(a.For.Set); err != nil {
			return err
		}
	}
	if a.Load != nil {
		found++
		if err := a.Load.check(w); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	for _, set := range [...]bool{a.Restart.Set, a.Suspend.Set, !a.Config.IsZero(), a.Clock.Set} {
		if set {
			found++
		}
	}
	switch {
	case found == 0:
		return errors.New("this action does nothing, expected one such as {down: SITE/NODE}")
	case found > 1:
		return errors.New("an entry of `do` is one action, found several: write them as entries of their own")
	case !isCommand && (a.Force.Set || a.For.Set || a.Reason.Set):
		return errors.New("force, for and reason belong beside a command")
	case !isCommand && a.Refused.Set && a.Config.IsZero():
		return errors.New("refused belongs beside a command or a config")
	}
	return nil
}

// name is how a difference calls the action.
func (a *action) name() string {
	for _, c := range a.commands() {
		if c.value.Set {
			return string(c.verb) + " " + c.value.V
		}
	}
	return "the action"
}

// command has the operator say something.
func (p *play) command(a *action) {
	cmd, _ := a.command()
	if p.engine == nil || p.asleep {
		p.differ(a.Pos, "%s: the controller is off", a.name())
		return
	}
	reply := p.turn(cmd)
	if reply.Refused != a.Refused.V {
		was := "was carried out"
		if reply.Refused {
			was = "was refused"
		}
		p.differ(a.Pos, "%s %s: %s", a.name(), was, reply.Text)
	}
}
