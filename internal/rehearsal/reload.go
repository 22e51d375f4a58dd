package rehearsal

import (
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// reload is the configuration that a step puts in place, or nil and why it is not
// valid.
type reload struct {
	cfg   *config.Config
	fault error
}

// reload puts another configuration in place. One that is not valid, where that is
// what the rehearsal is about, leaves the old one.
func (p *play) reload(a *action) error {
	r := p.r.reloads[a]
	cfg := r.cfg
	switch {
	case cfg == nil && p.engine == nil:
		return r.fault
	case cfg == nil:
		p.tell(sites.ConfigRejected, "The configuration was rejected, the old one goes on: "+r.fault.Error())
		return nil
	case a.Refused.V:
		p.differ(a.Pos, "the configuration was put in place: it has no faults")
	}
	if err := p.names(cfg); err != nil {
		return err
	}
	p.cfg, p.world.cfg = cfg, cfg
	clear(p.answers)
	if p.engine == nil {
		return nil
	}
	ended := p.follow(p.engine.Reload(p.instant(), &cfg.Sites))
	p.tell(sites.ConfigReloaded, "The configuration is in place.")
	if ended > 0 {
		p.turn(nil)
	}
	return nil
}

// tell has the controller say what has happened around the rules.
func (p *play) tell(kind sites.Kind, text string) {
	if p.follow(p.engine.Turn(p.instant(), engine.Input{Events: []sites.Event{{Kind: kind, Text: text}}})) > 0 {
		p.turn(nil)
	}
}
