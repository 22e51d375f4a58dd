package realnet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/internal/netnstest"
	"github.com/dnsteer/dnsteer/internal/routersim"
)

// witness is a site's resolver.
type witness interface {
	// silence stops it answering, and gives what ends that.
	silence(*Site) (end func())
}

// unbound asks the controller for its zone.
type unbound struct {
	t   testing.TB
	cmd *exec.Cmd
}

func newUnbound(t testing.TB, w *World, ns netnstest.Namespace, addr netip.Addr) *unbound {
	t.Helper()
	conf := daemontest.File(t, filepath.Join(w.dir, "unbound-"+addr.String()), fmt.Sprintf(`server:
  interface: %[1]s
  access-control: 0.0.0.0/0 allow
  username: ""
  chroot: ""
  directory: %[2]q
  pidfile: ""
  use-syslog: no
  num-threads: 1
  module-config: iterator
  cache-max-negative-ttl: 1
remote-control:
  control-enable: no
forward-zone:
  name: example.lan
  forward-addr: %[3]s
`, addr, w.dir, controllerAddr))
	cmd := ns.Command(context.WithoutCancel(t.Context()), daemontest.Path(t, "unbound"), "-d", "-p", "-c", conf)
	daemontest.StartCmd(t, cmd)
	Until(t, "the resolver "+addr.String()+" listens", func() string { return ns.Listens(addr.String() + ":53") })
	return &unbound{t, cmd}
}

func (u *unbound) silence(*Site) func() {
	u.signal(syscall.SIGSTOP)
	return func() { u.signal(syscall.SIGCONT) }
}

func (u *unbound) signal(s syscall.Signal) {
	u.t.Helper()
	if err := u.cmd.Process.Signal(s); err != nil {
		u.t.Fatalf("the resolver: %v", err)
	}
}

// routerOS is a simulated router that answers what was pushed to it.
type routerOS struct{ *routersim.Router }

func newRouterOS(t testing.TB, ns netnstest.Namespace, addr netip.Addr) routerOS {
	t.Helper()
	r, err := routersim.New(routersim.Options{DNS: netip.AddrPortFrom(addr, 53), UsualPorts: true})
	if err != nil {
		t.Fatal(err)
	}
	ns.Do(t, func() error { return r.Start(context.WithoutCancel(t.Context())) })
	t.Cleanup(func() { _ = r.Close() })
	return routerOS{r}
}

func (r routerOS) silence(s *Site) func() {
	return s.w.rules(s.router, "forward", "ip daddr "+hostOf(r.DNSAddr())+" meta l4proto { tcp, udp } th dport 53 drop")
}

func hostOf(a netip.AddrPort) string { return a.Addr().String() }

// Router is the simulated RouterOS of the site.
func (s *Site) Router() *routersim.Router {
	s.w.t.Helper()
	r, ok := s.witness.(routerOS)
	if !ok {
		s.w.t.Fatalf("%s has no RouterOS", s.Name)
	}
	return r.Router
}

// TargetYAML is the target of that RouterOS, as it stands in a configuration.
func (s *Site) TargetYAML(name string) string {
	s.w.t.Helper()
	r := s.Router()
	host, _, _ := net.SplitHostPort(r.DNSAddr().String())
	return fmt.Sprintf("{name: %s, type: routeros, address: %q, username: dnsteer, password: secret, tls_fingerprint: \"sha256:%x\"}", name, host, r.Fingerprint())
}
