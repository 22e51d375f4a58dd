// Package demo runs the whole thing on one machine, with nothing else
// installed: sites on loopback addresses, each with two little HTTP nodes and a
// resolver, and the real controller with its normal probes and its DNS server.
// The resolvers of two sites are a simulated router and a simulated AdGuard Home,
// which the answers are pushed to. Nodes are killed and sites are cut off from the keyboard.
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
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/app"
	"github.com/dnsteer/dnsteer/internal/logging"
	"github.com/dnsteer/dnsteer/sites"
)

// Options of a demo.
type Options struct {
	// DNS is where the names are answered. Port 0 takes a free one, and so does
	// the demo, with a word about it, when the port is taken.
	DNS netip.AddrPort
	// Keys is the keyboard; nil where there is none, and then the demo runs
	// until ctx ends.
	Keys io.Reader
	Out  io.Writer
	// Command is how this program is called, for the commands to try.
	Command string

	// settings stand in for those of patient people in tests.
	settings string
}

// demo is one under way.
type demo struct {
	opt     Options
	dir     string
	places  []*place
	router  *router
	adguard *adguard
	phone   *phone
	nodes   []*node // by key, from 1
	app     *app.App
	dns     atomic.Pointer[string] // where the names are answered
	web     netip.AddrPort         // where the API is
	screen  *screen
	// direct: keys need no Enter.
	direct bool
}

// Run runs the demo until ctx ends or the keyboard says so.
func Run(ctx context.Context, opt Options) (err error) {
	dir, err := folder()
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{opt: opt, dir: dir, screen: &screen{w: opt.Out}}
	if err := d.open(); err != nil {
		return err
	}
	defer d.close()
	path := filepath.Join(dir, "dnsteer.yaml")
	if err := os.WriteFile(path, []byte(d.config()), 0o600); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	restore, direct := takeKeys(opt.Keys)
	d.direct = direct
	// Before the stop, not after it: it may be cut short.
	defer context.AfterFunc(ctx, restore)()
	defer restore()
	log, lines := logging.New(opt.Out, logging.Text, slog.LevelError)
	log = slog.New(eventless{log.Handler()})
	defer func() {
		short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = lines.Close(short)
	}()
	return app.Run(ctx, app.Options{
		ConfigPath: path, Strict: true, Log: log, Levers: levers{d}, Ready: func(a *app.App) { d.ready(ctx, stop, a) },
	})
}

// Where nodes and resolvers are found unless something else is there.
const (
	webPort     = 8080
	httpPort    = 8053
	resolvePort = 5300
	portTries   = 8
)

// folder makes the demo's folder: always the same, so that the commands to try
// are, unless another demo has it.
func folder() (string, error) {
	dir := filepath.Join(os.TempDir(), "dnsteer-demo")
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return dir, nil
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(context.Background(), "unix", filepath.Join(dir, api.SocketName))
	if err == nil {
		_ = conn.Close()
	} else if os.RemoveAll(dir) == nil && os.Mkdir(dir, 0o700) == nil {
		return dir, nil // one that was killed has left it
	}
	return os.MkdirTemp("", "dnsteer-demo-")
}

// open starts the sites, which lie in 127.1.0.0/16 and the networks after it, so
// that nothing of the demo can be reached from elsewhere.
func (d *demo) open() (err error) {
	web, resolve := uint16(webPort), uint16(resolvePort)
	for range portTries {
		d.build(web, resolve)
		if err = d.openAll(); err == nil {
			break
		}
		d.close()
		if !errors.Is(err, errTaken) {
			return fmt.Errorf("the demo needs the loopback addresses from 127.1.0.0 to 127.4.255.255 (Linux has them all; elsewhere add them to the loopback interface): %w", err)
		}
		web, resolve = freePort("tcp"), freePort("udp")
	}
	if err != nil {
		return err
	}
	d.web = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), httpPort)
	if d.opt.DNS.Port() == 0 || d.web == d.opt.DNS || taken(d.web) {
		d.web = netip.AddrPortFrom(d.web.Addr(), freePort("tcp"))
	}
	if taken(d.opt.DNS) {
		d.screen.printf("The port of %s is taken by another program: the demo takes a free one.\n\n", d.opt.DNS)
		d.opt.DNS = netip.AddrPortFrom(d.opt.DNS.Addr(), 0)
	}
	return nil
}

func (d *demo) openAll() error {
	for _, p := range d.places {
		if err := p.open(); err != nil {
			return err
		}
	}
	if err := d.router.open(); err != nil {
		return err
	}
	if err := d.adguard.open(); err != nil {
		return err
	}
	return d.phone.open()
}

func (d *demo) close() {
	for _, p := range d.places {
		p.close()
	}
	d.router.close()
	d.adguard.close()
	d.phone.close()
}

func (d *demo) build(web, resolve uint16) {
	d.places, d.nodes = nil, nil
	for i, name := range []string{"berlin", "hamburg", "munich", "leipzig"} {
		at := func(host byte) netip.Addr { return netip.AddrFrom4([4]byte{127, byte(i + 1), 0, host}) }
		p := newPlace(name, netip.AddrPortFrom(at(1), resolve), d.upstream)
		for j, node := range []string{"a", "b"} {
			n := newNode(p, node, netip.AddrPortFrom(at(byte(11+j)), web))
			p.nodes = append(p.nodes, n)
			d.nodes = append(d.nodes, n)
		}
		d.places = append(d.places, p)
	}
	d.nodes[3].beat()
	d.router, d.adguard = newRouter(d.places[2]), newAdguard(d.places[3])
	d.phone = &phone{screen: d.screen}
}

// upstream is where the sites' resolvers ask for the controller's names.
func (d *demo) upstream() string {
	if at := d.dns.Load(); at != nil {
		return *at
	}
	return d.opt.DNS.String()
}

// patient are the demo's settings: with them one sees each step.
const patient = `  threshold: 30s
  grace: 1m
  probe_interval: 5s
  probe_timeout: 2s
`

// config is the demo's configuration, which is an ordinary one.
func (d *demo) config() string {
	settings := d.opt.settings
	if settings == "" {
		settings = patient
	}
	var b strings.Builder
	fmt.Fprintf(&b, `instance: demo
state: {path: %q}
http: {listen: %q, without_login: admin}
dns:
  listen: [%q]
  default_site: berlin
  zones:
    - {name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}
defaults:
%s  probes: [{type: http, url: "http://{address}:%d/healthz"}]
sites:
`, d.dir, d.web, d.opt.DNS.String(), settings, d.nodes[0].addr.Port())
	for i, p := range d.places {
		more := [...]string{
			"mode: active_active\n    emergency_site: hamburg", "mode: active_passive\n    emergency_site: berlin",
			"mode: active_active\n    targets: [" + routerName + "]", "mode: active_passive\n    targets: [" + adguardName + "]",
		}[i]
		fmt.Fprintf(&b, "  - name: %s\n    %s\n    resolver: %q\n    clients: [127.%d.0.0/16]\n    nodes:\n",
			p.name, more, p.resolver.String(), i+1)
		for _, n := range p.nodes {
			b.WriteString(n.config())
		}
	}
	b.WriteString("services:\n  - {hosts: [app.example.lan, \"*.apps.example.lan\"], ttl: 10s}\n")
	b.WriteString(d.router.config() + d.adguard.config() + d.phone.config())
	return b.String()
}

// ready greets, and starts to listen to the keyboard and to tell of events.
func (d *demo) ready(ctx context.Context, stop func(), a *app.App) {
	d.app = a
	go d.beats(ctx)
	d.find(ctx)
	host, port, _ := net.SplitHostPort(d.upstream())
	socket := filepath.Join(d.dir, api.SocketName)
	d.screen.printf(`dnsteer demo: four sites on this machine, each with two nodes and a resolver.
berlin is active_active: both of its nodes are answered. hamburg is active_passive.
Each is the other's emergency site. munich's resolver is a (simulated) router and
leipzig's an AdGuard Home, which the answers are pushed to. A node is taken out of
DNS after 30 s, and only while its site's own resolver answers. hamburg/b stands
behind a NAT: nobody probes it, it reports by itself (a heartbeat).

Try, in another terminal:

  dig @%s -p %s app.example.lan
  dig @%s -p %d app.example.lan   # munich's router
  dig @%s -p %d app.example.lan   # leipzig's AdGuard Home
  %s status --socket %s
  %s explain berlin --socket %s

The dashboard is at http://%s/ (and the API, the metrics and the
health checks below it); its page "Break things" does what the keys do. Alerts go
to a webhook that stands for your phone: its messages are shown below.

`, host, port, d.router.dns.Addr(), d.router.dns.Port(), d.adguard.dns.Addr(), d.adguard.dns.Port(), d.opt.Command, socket, d.opt.Command, socket, d.web)
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

// find looks up where the names are answered.
func (d *demo) find(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	if st, err := d.app.Status(ctx); err == nil && st.DNS != nil && len(st.DNS.Listen) > 0 {
		d.dns.Store(&st.DNS.Listen[0])
	}
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
