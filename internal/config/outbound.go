package config

import "github.com/dnsteer/dnsteer/providers/outbound"

// outbound gives what holds the names of targets and channels to: they must not lead to
// a listener of this controller.
func (b *builder) outbound() (g outbound.Guard) {
	if b.cfg.DNS != nil {
		g.Own = append(g.Own, b.cfg.DNS.Listen...)
	}
	if b.cfg.HTTP != nil {
		g.Own = append(g.Own, b.cfg.HTTP.Listen...)
	}
	return g
}
