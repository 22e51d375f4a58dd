// Package demo runs the whole thing on one machine, with nothing else
// installed: two sites on loopback addresses, each with two little HTTP nodes
// and a resolver, and the real controller with its normal probes and its DNS
// server. Nodes are killed and sites are cut off from the keyboard.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/app"
	"github.com/dnsteer/dnsteer/sites"
)

// Options of a demo.
type Options struct {
	// DNS is where the names are answered; port 0 takes a free one.
	DNS netip.AddrPort
	// Keys is the keyboard; nil where there is none, and then the demo runs
	// until ctx ends.
	Keys io.Reader
	Out  io.Writer
	// Command is how this program is called, for the commands to try.
	Command string
}

// demo is one under way.
type demo struct {
	opt    Options
	dir    string
	places []*place
	nodes  []*node // by key, from 1
	app    *app.App
	dns    string
	screen *screen
}

// Run runs the demo until ctx ends or the keyboard says so.
func Run(ctx context.Context, opt Options) (err error) {
	dir, err := os.MkdirTemp("", "dnsteer-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{opt: opt, dir: dir, screen: &screen{w: opt.Out}}
	if err := d.build(); err != nil {
		return err
	}
	for _, p := range d.places {
		defer p.close()
		if err := p.open(); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "dnsteer.yaml")
	if err := os.WriteFile(path, []byte(d.config()), 0o600); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return app.Run(ctx, app.Options{
		ConfigPath: path, Strict: true,
		Log:   slog.New(slog.NewTextHandler(opt.Out, &slog.HandlerOptions{Level: slog.LevelError})),
		Ready: func(a *app.App) { d.ready(ctx, stop, a) },
	})
}

// build chooses the addresses: sites lie in 127.1.0.0/16 and 127.2.0.0/16, so
// nothing of the demo can be reached from elsewhere.
func (d *demo) build() error {
	web, err := freePort("tcp", 8080)
	if err != nil {
		return err
	}
	resolve, err := freePort("udp", 5300)
	if err != nil {
		return err
	}
	if d.opt.DNS.Port() == 0 {
		port, err := freePort("udp", 0)
		if err != nil {
			return err
		}
		d.opt.DNS = netip.AddrPortFrom(d.opt.DNS.Addr(), port)
	}
	for i, name := range []string{"berlin", "hamburg"} {
		at := func(host byte) netip.Addr { return netip.AddrFrom4([4]byte{127, byte(i + 1), 0, host}) }
		p := &place{name: name, resolver: netip.AddrPortFrom(at(1), resolve), upstream: d.opt.DNS.String}
		for j, node := range []string{"a", "b"} {
			n := newNode(p, node, netip.AddrPortFrom(at(byte(11+j)), web))
			p.nodes = append(p.nodes, n)
			d.nodes = append(d.nodes, n)
		}
		d.places = append(d.places, p)
	}
	return nil
}

func newNode(p *place, name string, addr netip.AddrPort) *node {
	return &node{site: p, name: name, addr: addr}
}

// freePort gives the wanted port if it is free on the demo's addresses, else
// another.
func freePort(network string, want uint16) (uint16, error) {
	for _, port := range []uint16{want, 0} {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, 0, 11}), port).String()
		var got net.Addr
		var err error
		if network == "tcp" {
			var ln net.Listener
			if ln, err = net.Listen("tcp", addr); err == nil {
				got = ln.Addr()
				_ = ln.Close()
			}
		} else {
			var pc net.PacketConn
			if pc, err = net.ListenPacket("udp", addr); err == nil {
				got = pc.LocalAddr()
				_ = pc.Close()
			}
		}
		if err == nil {
			ap, err := netip.ParseAddrPort(got.String())
			return ap.Port(), err
		}
		if port == 0 {
			return 0, fmt.Errorf("the demo needs the loopback addresses 127.1.0.0/16 (Linux has them all; elsewhere add them to the loopback interface): %w", err)
		}
	}
	return 0, errors.New("no free port")
}

// config is the demo's configuration, which is an ordinary one.
func (d *demo) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, `instance: demo
state: {path: %q}
dns:
  listen: [%q]
  default_site: berlin
  zones:
    - {name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}
defaults:
  threshold: 30s
  grace: 1m
  probe_interval: 5s
  probe_timeout: 2s
  probes: [{type: http, url: "http://{address}:%d/healthz"}]
sites:
`, filepath.Join(d.dir, "state"), d.opt.DNS.String(), d.nodes[0].addr.Port())
	for i, p := range d.places {
		mode, other := "active_active", d.places[1-i].name
		if i == 1 {
			mode = "active_passive"
		}
		fmt.Fprintf(&b, "  - name: %s\n    mode: %s\n    emergency_site: %s\n    resolver: %q\n    clients: [127.%d.0.0/16]\n    nodes:\n",
			p.name, mode, other, p.resolver.String(), i+1)
		for _, n := range p.nodes {
			fmt.Fprintf(&b, "      - {name: %s, addresses: [%s]}\n", n.name, n.addr.Addr())
		}
	}
	b.WriteString("services:\n  - {hosts: [app.example.lan, \"*.apps.example.lan\"], ttl: 10s}\n")
	return b.String()
}

// ready greets, and starts to listen to the keyboard and to tell of events.
func (d *demo) ready(ctx context.Context, stop func(), a *app.App) {
	d.app = a
	host, port, _ := net.SplitHostPort(d.opt.DNS.String())
	socket := filepath.Join(d.dir, "state", api.SocketName)
	d.screen.printf(`dnsteer demo: two sites on this machine, %s and %s, each with two nodes and a resolver.
berlin is active_active: both of its nodes are answered. hamburg is active_passive.
Each is the other's emergency site. A node is taken out of DNS after 30 s, and only
while its site's own resolver answers.

Try, in another terminal:

  dig @%s -p %s app.example.lan
  %s status --socket %s
  %s explain berlin --socket %s

`, d.places[0].name, d.places[1].name, host, port, d.opt.Command, socket, d.opt.Command, socket)
	events, err := a.Follow(ctx, 0)
	if err != nil {
		d.screen.printf("events cannot be followed: %v\n", err)
	} else {
		go func() {
			for e := range events {
				d.screen.printf("%s  %s\n", e.Time.Local().Format("15:04:05"), line(&e))
			}
		}()
	}
	if d.opt.Keys == nil {
		d.screen.printf("There is no terminal: the demo runs until it is sent SIGINT or SIGTERM.\n")
		return
	}
	d.help()
	go d.keys(ctx, stop)
}

// line is an event in one line.
func line(e *sites.Event) string {
	mark := " "
	if e.Severity != sites.Info {
		mark = "!"
	}
	return fmt.Sprintf("%s %s  %s", mark, e.Kind, e.Text)
}

// shortly bounds what a key asks of the controller.
const shortly = 3 * time.Second
