package app

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// pushing leads what the rules decide to the targets.
type pushing struct {
	publisher *publish.Publisher
	desired   *pushed // belongs to the loop
}

// kindTargets is the kind of the store's values about targets.
const kindTargets store.Kind = "targets"

// targetStore keeps what is known of targets among the values.
type targetStore struct{ values *values }

func (s targetStore) Get() map[string][]byte { return s.values.get(kindTargets) }

func (s targetStore) Set(key string, value []byte) {
	s.values.set(kindTargets, map[string][]byte{key: value})
}

func (s targetStore) Flush(ctx context.Context) error { return s.values.writer.Flush(ctx) }

// newPushing makes the targets of a configuration. Nothing is sent before a site
// is settled. last is the last event before this start.
func (a *App) newPushing(cfg *config.Config, last uint64) (*pushing, error) {
	ask, jitter := a.opt.stand.asked()
	p := &pushing{
		publisher: publish.New(publish.Deps{
			Store: targetStore{a.keeper.values}, Last: last, Ask: ask, Log: a.log, Meter: a.pushes, Jitter: jitter,
			Tell: func(event func() (sites.Event, bool)) {
				a.loop.post(func() {
					if e, ok := event(); ok {
						a.loop.happened(e)
					}
				})
			},
		}),
		desired: newPushed(cfg),
	}
	return p, p.publisher.Use(a.targetsOf(cfg))
}

// publish puts the answers of touched pools in place: at the built-in server at
// once, and beside the loop at the targets.
func (a *App) publish(m *sites.Machine, touched []sites.PoolID) {
	a.names.publish(m, touched)
	a.pushing.look(m)
	for name, d := range a.pushing.desired.update(m, touched) {
		a.pushing.publisher.Want(name, d)
	}
}

// retargeting is another configuration of the targets, ready to be put in place.
type retargeting struct {
	desired *pushed
	change  *publish.Change
}

// use puts the targets of a configuration in place, in the loop's goroutine.
func (p *pushing) use(r retargeting, m *sites.Machine) {
	p.desired = r.desired
	p.look(m)
	r.change.Commit()
	p.desired.all(m)
}

// look takes in which sites can be seen: to the targets of others nothing is
// sent (E8).
func (p *pushing) look(m *sites.Machine) {
	for _, t := range p.desired.targets {
		s := sight{m.SiteLost(t.Site), m.SiteHeld(t.Site)}
		if t.looked && t.sight == s {
			continue
		}
		t.looked, t.sight = true, s
		p.publisher.Hold(t.Site, s.held)
		p.publisher.Seen(t.Site, !s.lost)
	}
}

// order brings the targets of a site to what an operator has ordered of it,
// though the site cannot be seen. It gives what to say of that.
func (p *pushing) order(c *sites.Command) string {
	switch c.Verb {
	case sites.Maintenance, sites.MaintenanceEnd, sites.Disable, sites.Enable, sites.FailbackNow, sites.Switch:
	default: // what follows is not the order's doing
		return ""
	}
	sent, later := p.publisher.Order(c.Site)
	var text string
	if len(sent) > 0 {
		text = fmt.Sprintf(" %s cannot be seen, so nothing is sent to %s by itself; this is, because it was ordered, with whatever else has waited.", c.Site, strings.Join(sent, ", "))
	}
	if len(later) > 0 {
		text += fmt.Sprintf(" %s was not seen since the start, so %s gets it only when it is.", c.Site, strings.Join(later, ", "))
	}
	return text
}

// waiting says which targets a change of the configuration does not reach yet.
func (p *pushing) waiting() (warnings []string) {
	for _, name := range p.publisher.Held("") {
		warnings = append(warnings, fmt.Sprintf("The site of the target %[1]s cannot be seen, so what has changed there waits until it can (or for \"dnsteer target enable %[1]s\").", name))
	}
	return warnings
}

// left says what a configuration leaves behind at targets that it has no more.
func (p *pushing) left(list []publish.Target) (warnings []string) {
	for _, g := range p.publisher.Left(list) {
		warnings = append(warnings, leftText(&g))
	}
	return warnings
}

func leftText(g *publish.Gone) string {
	const back = "put it back and use \"dnsteer target purge\" first, or remove it by hand."
	switch there := fmt.Sprintf("%s is no server of the target %s any more. What dnsteer wrote there stays there", g.Server, g.Target); {
	case !g.Stays:
		return fmt.Sprintf("The target %s has left the configuration. What dnsteer wrote there stays there: %s", g.Title, back)
	case g.Marks:
		return there + ", and is dnsteer's still where the server has only another address now. Otherwise " + back
	default:
		return fmt.Sprintf("%s. Where the server has only another address now, it is taken for somebody else's, without failover, until \"dnsteer target adopt %s\" takes it over. Otherwise %s", there, g.Target, back)
	}
}

// heard takes in what has happened to resolvers and targets.
func (p *pushing) heard(events []sites.Event) {
	for i := range events {
		if e := &events[i]; e.Kind == sites.ResolverUp || e.Kind == sites.ResolverDown {
			// One that does not give our record any more may have lost it.
			p.publisher.Compare(e.Site)
		}
	}
	p.publisher.Note(events)
}

// targetsOf gives the targets of a configuration as the publisher takes them.
func (a *App) targetsOf(cfg *config.Config) []publish.Target {
	list := make([]publish.Target, 0, len(cfg.Targets))
	for i := range cfg.Targets {
		c := &cfg.Targets[i]
		t := publish.Target{
			Name: c.Name, Site: c.Site, Kind: c.Kind(), Reconcile: c.Reconcile, DryRun: c.DryRun,
			CreateOnly: c.CreateOnly, DeleteGuard: c.DeleteGuard, Drift: publish.Drift(c.Drift), Resolvers: resolversOf(cfg, c.Site),
		}
		for _, server := range connect.Servers(c) {
			t.Traits = server.Traits
			t.Servers = append(t.Servers, publish.Server{Name: server.Name, Connect: server.Connect, Config: server.Config, Login: server.Login})
		}
		if a.opt.provider != nil {
			a.opt.provider(&t)
		}
		list = append(list, t)
	}
	return list
}

// resolversOf lists a site's resolvers with their ports.
func resolversOf(cfg *config.Config, site string) (list []netip.AddrPort) {
	for i := range cfg.Sites.Sites {
		s := &cfg.Sites.Sites[i]
		if s.Name != site {
			continue
		}
		for _, w := range s.Witnesses {
			for _, p := range cfg.Probers(sites.Subject{Site: site, Witness: w.Name}) {
				if r, ok := p.(probes.Resolver); ok {
					list = append(list, netip.AddrPortFrom(w.Addr, uint16(max(r.Port, 1))))
				}
			}
		}
	}
	return list
}

// witness gives what a witness is asked: a resolver that was seen to answer a
// record of ours is asked for that, as long as nobody else has his hand in it,
// unless the configuration asks for something (O3).
func (p *pushing) witness(subject sites.Subject, probers []probes.Prober) []probes.Prober {
	if subject.Witness == "" || len(probers) != 1 {
		return probers
	}
	r, ok := probers[0].(probes.Resolver)
	if !ok || r.Ask != "localhost." || len(r.Expect) > 0 {
		return probers
	}
	proof, ok := p.publisher.Proof(subject.Site, subject.Addr)
	if !ok {
		return probers
	}
	r.Ask, r.Type, r.Expect, r.Tell = proof.Name+".", "A", proof.Expect, proof.Heard
	if proof.V6 {
		r.Type = "AAAA"
	}
	return []probes.Prober{r}
}
