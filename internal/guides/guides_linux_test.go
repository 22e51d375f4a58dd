package guides

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// password is that of routers and AdGuard Homes in all guides.
const password = "correct horse battery"

// If this fails, somebody who follows the guide for a home gets stuck, or is left
// with names that do not move.
func TestHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "192.168.1.10", "192.168.1.2", "192.168.1.21", "192.168.1.22")
	w.web("192.168.1.21:443")
	w.web("192.168.1.22:443")
	sim := w.adguard("192.168.1.2", "dnsteer", password)
	if err := sim.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		return append(list, adguardsim.Rewrite{Domain: "home.example.net", Answer: "192.168.1.21", Enabled: true})
	}); err != nil {
		t.Fatal(err)
	}
	follow(w, "home.md", nil)
}

// If this fails, a company's administrator gets stuck with the routers, or a site
// that is cut off loses its names.
func TestCompany(t *testing.T) {
	t.Parallel()
	var addresses []string
	for site := 1; site <= 3; site++ {
		for _, host := range []int{1, 11, 12} {
			addresses = append(addresses, fmt.Sprintf("10.%d.0.%d", site, host))
		}
	}
	w := newWorld(t, "10.1.0.10", addresses...)
	for site := 1; site <= 3; site++ {
		w.mikrotik(fmt.Sprintf("10.%d.0.1", site), password)
		w.web(fmt.Sprintf("10.%d.0.11:443", site))
		w.web(fmt.Sprintf("10.%d.0.12:443", site))
	}
	follow(w, "company.md", nil)
}

// If this fails, NSD or Knot as they are in Debian do not take a zone as the guide
// says, and the world gets addresses that are dead.
func TestPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "192.0.2.10", "203.0.113.1", "203.0.113.11", "203.0.113.12")
	w.web("203.0.113.11:443")
	w.web("203.0.113.12:443")
	follow(w, "public.md", map[string]func(*reader, []string){
		"nsd":  func(r *reader, args []string) { r.nsd(args[0]) },
		"knot": func(r *reader, args []string) { r.knot(args[0]) },
	})
}

// nsd runs NSD at an address, with the fragments in /etc/nsd/nsd.conf.d, as
// Debian's own configuration does.
func (r *reader) nsd(addr string) {
	r.t.Helper()
	r.write("/etc/nsd/nsd.conf", daemontest.NSD(r.folder("nsd"), dnsPort(addr), "include: \"/etc/nsd/nsd.conf.d/*.conf\"\n"))
	daemontest.StartCmd(r.t, r.at(r.machine(addr), "nsd", "-d", "-c", "/etc/nsd/nsd.conf"))
}

// knot runs Knot at an address.
func (r *reader) knot(addr string) {
	r.t.Helper()
	r.write("/etc/knot/knot.conf", daemontest.Knot(r.folder("knot"), dnsPort(addr), "include: example.net.conf\n"))
	daemontest.StartCmd(r.t, r.at(r.machine(addr), "knotd", "-c", "/etc/knot/knot.conf"))
}

func dnsPort(addr string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(addr), 53) }

// folder makes a folder for a daemon.
func (r *reader) folder(name string) string {
	r.t.Helper()
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// If this fails, a pair that VRRP looks after is taken out of DNS by the loss of
// one machine, or nobody learns of it.
func TestVRRP(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.1.0.10", "10.1.0.1", "10.2.0.1", "10.2.0.11")
	w.resolver("10.1.0.1", "router.berlin.lan")
	w.resolver("10.2.0.1", "router.hamburg.lan")
	w.web("10.2.0.11:443")
	p := newPair(w)
	follow(w, "vrrp.md", map[string]func(*reader, []string){
		"keepalived": func(r *reader, _ []string) { p.keepalived(r) },
		"holds":      p.holds,
	})
}

// If this fails, what the guide calls the same as a configuration of gdnsd is not.
func TestFromGdnsd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "192.0.2.10", "192.0.2.1", "192.0.2.11", "192.0.2.12")
	w.web("192.0.2.11:80")
	w.web("192.0.2.12:80")
	follow(w, "from-gdnsd.md", nil)
}

// If this fails, what the guide calls the same as Lua records of PowerDNS is not.
func TestFromPowerDNS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "192.0.2.10", "192.0.2.1", "192.0.2.11", "192.0.2.12", "198.51.100.1", "198.51.100.11")
	for _, at := range []string{"192.0.2.11:80", "192.0.2.11:443", "192.0.2.12:80", "192.0.2.12:443", "198.51.100.11:80"} {
		w.web(at)
	}
	follow(w, "from-powerdns.md", nil)
}

// If this fails, a record that a script of the router moved is not taken over.
func TestFromNetwatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10.1.0.10", "10.1.0.1", "10.1.0.11", "10.1.0.12")
	w.mikrotik("10.1.0.1", password)
	w.web("10.1.0.11:443")
	w.web("10.1.0.12:443")
	follow(w, "from-netwatch.md", nil)
}
