package guides

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// pair is two machines in one network, each with a proxy, and with keepalived as
// the guide configures it. The network is behind the router 10.1.0.1.
type pair struct {
	w        *world
	machines map[string]netnstest.Namespace // by address
}

// shared is the address that the two have between them.
const shared = "10.1.0.100"

func newPair(w *world) *pair {
	w.t.Helper()
	p := &pair{w: w, machines: map[string]netnstest.Namespace{}}
	w.there.Run(w.t, "ip", "link", "add", "lan", "type", "bridge")
	w.there.Run(w.t, "ip", "link", "set", "lan", "up")
	// A machine that is off is silent, and nobody answers in its place.
	w.there.Run(w.t, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
	w.there.Run(w.t, "nft", "add chain inet guide silent { type filter hook output priority 0; }; add rule inet guide silent icmp type destination-unreachable drop")
	for port, addr := range map[string]string{"port1": "10.1.0.11", "port2": "10.1.0.12"} {
		ns := netnstest.New(w.t, "pair")
		p.machines[addr] = ns
		w.there.Run(w.t, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", string(ns))
		w.there.Run(w.t, "ip", "link", "set", port, "master", "lan", "up")
		ns.Run(w.t, "ip", "addr", "add", addr+"/24", "dev", "eth0")
		for _, at := range []string{":443", "127.0.0.1:8080"} {
			p.proxy(ns, at)
		}
		w.add(addr, &thing{
			start: func() {
				ns.Run(w.t, "ip", "link", "set", "eth0", "up")
				ns.Run(w.t, "ip", "route", "replace", w.controller+"/32", "via", "10.1.0.1", "dev", "eth0", "onlink")
			},
			stop: func() { ns.Run(w.t, "ip", "link", "set", "eth0", "down") },
		})
		w.t.Cleanup(func() { w.things[addr].on = false }) // it ends with its namespace
	}
	for _, addr := range []string{"10.1.0.11", "10.1.0.12", shared} {
		w.there.Run(w.t, "ip", "route", "add", addr+"/32", "dev", "lan", "src", "10.1.0.1")
		w.here.Run(w.t, "ip", "route", "add", addr+"/32", "via", "10.1.0.1", "dev", "wire", "onlink", "src", w.controller)
	}
	return p
}

// proxy answers every request with 200 until the test ends.
func (p *pair) proxy(ns netnstest.Namespace, at string) {
	p.w.t.Helper()
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	ns.Do(p.w.t, func() error {
		l, err := net.Listen("tcp4", at)
		if err == nil {
			go func() { _ = s.Serve(l) }()
		}
		return err
	})
	p.w.t.Cleanup(func() { _ = s.Close() })
}

// keepalived runs on both, with what the guide has written, and what it says is
// other on the second.
func (p *pair) keepalived(r *reader) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "etc", "keepalived", "keepalived.conf"))
	if err != nil {
		r.t.Fatal(err)
	}
	second := strings.NewReplacer("state MASTER", "state BACKUP", "priority 110", "priority 100").Replace(string(text))
	for addr, conf := range map[string]string{"10.1.0.11": string(text), "10.1.0.12": second} {
		dir := r.folder("keepalived-" + addr)
		path := daemontest.File(r.t, filepath.Join(dir, "keepalived.conf"), conf)
		daemontest.StartCmd(r.t, r.at(p.machines[addr], daemontest.Path(r.t, "keepalived"), "--dont-fork", "--log-console", "--vrrp",
			"--use-file", path, "--pid", filepath.Join(dir, "pid"), "--vrrp_pid", filepath.Join(dir, "vrrp.pid")))
	}
	p.holds(r, []string{"10.1.0.11"})
}

// holds waits until a machine has the shared address.
func (p *pair) holds(r *reader, args []string) {
	r.t.Helper()
	r.until(func() string {
		out, err := exec.Command("ip", "-n", string(p.machines[args[0]]), "-4", "addr", "show", "dev", "eth0").CombinedOutput()
		if err == nil && strings.Contains(string(out), "inet "+shared+"/") {
			return ""
		}
		return "VRRP does not move " + shared + " to " + args[0] + ": " + string(out)
	})
}
