package config

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/alert/wake"
	"github.com/dnsteer/dnsteer/internal/alert/webhook"
	"github.com/dnsteer/dnsteer/sites"
)

// wakeTimeout bounds the sending of a packet, viaTimeout that by a router, with
// the login there.
const (
	wakeTimeout = 5 * time.Second
	viaTimeout  = 30 * time.Second
)

// actions resolves what is done on events.
func (b *builder) actions(cfg *alert.Config) {
	seen := newNames(b.report, "action")
	macs := b.macs()
	for i := range b.file.Actions {
		k := &b.file.Actions[i]
		b.known.fill(k, true)
		seen.add(text(k.Name))
		a := alert.Action{
			Name: string(k.Name.V), Match: b.match(&k.matchKeys, sites.Info, false), AtMost: k.AtMost.V, Within: k.Within.V,
		}
		if len(k.Kinds) == 0 {
			b.fault(k.At, "the key \"kinds\" is missing: name the kinds of events that the action is for")
		}
		switch {
		case k.Webhook != nil && k.Wake != nil:
			b.fault(k.Wake.At, "found wake beside webhook, expected one of them: make two actions")
		case k.Webhook != nil:
			b.known.fill(k.Webhook, true)
			if h := b.hook(&k.Webhook.callKeys, k.Webhook.At); h != nil {
				a.Timeout, a.Do, a.Try = k.Webhook.Timeout.V, call(h), h.Try
			}
		case k.Wake != nil:
			b.known.fill(k.Wake, true)
			b.wake(k.Wake, macs, &a)
		default:
			b.fault(k.At, "the action does nothing, expected webhook or wake")
		}
		cfg.Actions = append(cfg.Actions, a)
	}
}

// macs gives the hardware addresses of the nodes that have one.
func (b *builder) macs() map[string]net.HardwareAddr {
	macs := make(map[string]net.HardwareAddr)
	for i := range b.file.Sites {
		s := &b.file.Sites[i]
		for j := range s.Nodes {
			if n := &s.Nodes[j]; n.MAC.Set {
				macs[string(s.Name.V)+"/"+string(n.Name.V)] = net.HardwareAddr(n.MAC.V)
			}
		}
	}
	return macs
}

// call gives what a webhook does on an event.
func call(h *webhook.Hook) func(context.Context, *alert.Message) (string, error) {
	return func(ctx context.Context, m *alert.Message) (string, error) {
		return "the webhook was called", h.Send(ctx, m, nil)
	}
}

// wake resolves what wakes a node up: a named one, or that of the event.
func (b *builder) wake(k *wakeKeys, macs map[string]net.HardwareAddr, a *alert.Action) {
	if k.Node.Set {
		if n := b.nodeNamed(k.Node); n != nil && !n.MAC.Set {
			b.fault(k.Node.At, "the node %s has no hardware address, expected the key \"mac\" there", k.Node.V)
		}
	} else if len(macs) == 0 {
		b.fault(k.At, "no node has a hardware address, expected the key \"mac\" of those that are to be woken up")
	}
	node, to := k.Node.V, unwrap(k.To)
	whom := func(m *alert.Message) (string, net.HardwareAddr, error) {
		name := node
		if name == "" && len(m.Events) > 0 {
			name = m.Events[0].Site + "/" + m.Events[0].Node
		}
		mac, ok := macs[name]
		if !ok {
			return name, nil, &alert.RefusedError{Err: fmt.Errorf("%s has no hardware address", name), Message: true}
		}
		return name, mac, nil
	}
	switch {
	case k.Via.Set:
		b.router(k)
		a.Timeout, a.Via = viaTimeout, &alert.Via{Target: k.Via.V, Interface: k.On.V, Whom: whom}
		return
	case k.On.Set:
		b.fault(k.On.At, "found interface without via, expected the router that has it")
	}
	a.Timeout, a.Do = wakeTimeout, func(ctx context.Context, m *alert.Message) (string, error) {
		name, mac, err := whom(m)
		if err != nil {
			return "", err
		}
		var errs []error
		for _, addr := range to {
			errs = append(errs, wake.Send(ctx, mac, addr))
		}
		return fmt.Sprintf("a packet that wakes up %s (%s) was sent", name, mac), errors.Join(errs...)
	}
}

// router checks the target that is to send a packet.
func (b *builder) router(k *wakeKeys) {
	var known []string
	found := false
	for i := range b.cfg.Targets {
		if t := &b.cfg.Targets[i]; t.RouterOS != nil {
			known = append(known, t.Name)
			found = found || t.Name == k.Via.V
		}
	}
	if !found {
		b.unknownName(k.Via, "there is no target of type routeros", known)
	}
	// The default stands in no file.
	if len(k.To) > 0 && k.To[0].At.File != "" {
		b.fault(k.To[0].At, "found to beside via, expected one of them: the router sends the packet into its own networks")
	}
}
