package app

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
)

// wake has a target's server wake a machine up, over a connection of its own: a
// push that is under way does not hold it up. Credentials that were refused are refused
// to it too, and nothing is sent to a target that is disabled.
func (a *App) wake(ctx context.Context, via *alert.Via, mac net.HardwareAddr) error {
	cfg := a.cfg.Load()
	at := slices.IndexFunc(cfg.Targets, func(t config.Target) bool { return t.Name == via.Target })
	if at < 0 {
		return fmt.Errorf("there is no target %s any more", via.Target)
	}
	if a.pushing.publisher.Disabled(via.Target) {
		return fmt.Errorf("the target %[1]s is disabled, so nothing is sent to it (\"dnsteer target enable %[1]s\" ends that)", via.Target)
	}
	server := connect.Servers(&cfg.Targets[at])[0] // a router is one server
	p, err := server.Connect()
	if err != nil {
		return err
	}
	defer p.Close()
	w, ok := p.(alert.Waker)
	if !ok {
		return fmt.Errorf("the target %s cannot wake machines up", via.Target)
	}
	return a.pushing.publisher.Circuit(server.Login).Do(ctx, func() error { return w.Wake(ctx, mac, via.Interface) })
}
