package app

import (
	"context"
	"fmt"
	"net"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/connect"
)

// wake has a target's server wake a machine up, over a connection of its own: a
// push that is under way does not hold it up.
func (a *App) wake(ctx context.Context, via *alert.Via, mac net.HardwareAddr) error {
	cfg := a.cfg.Load()
	for i := range cfg.Targets {
		t := &cfg.Targets[i]
		if t.Name != via.Target {
			continue
		}
		return wakeBy(ctx, connect.Servers(t)[0], via, mac) // a router is one server
	}
	return fmt.Errorf("there is no target %s any more", via.Target)
}

func wakeBy(ctx context.Context, s connect.Server, via *alert.Via, mac net.HardwareAddr) error {
	p, err := s.Connect()
	if err != nil {
		return err
	}
	defer p.Close()
	w, ok := p.(alert.Waker)
	if !ok {
		return fmt.Errorf("the target %s cannot wake machines up", via.Target)
	}
	return w.Wake(ctx, mac, via.Interface)
}
