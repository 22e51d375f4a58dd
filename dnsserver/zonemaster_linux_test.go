package dnsserver

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// inNamespace runs f on a thread that is in a network namespace and dies with it.
func inNamespace(t *testing.T, name string, f func() error) {
	t.Helper()
	errs := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		errs <- func() error {
			fd, err := unix.Open("/run/netns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
				return err
			}
			return f()
		}()
	}()
	if err := <-errs; err != nil {
		t.Fatalf("in the namespace %s: %v", name, err)
	}
}

// command runs a program to its end and gives its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v (.ci/packages installs it)\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// rootAbove runs NSD in a namespace as the root and the zone test., which
// delegates dnsteer.test, with the further records of it. It gives the path of the
// hints.
func rootAbove(t *testing.T, namespace, records string) string {
	t.Helper()
	dir := t.TempDir()
	const head = "$TTL 86400\n@ IN SOA a.root-test. hostmaster.root-test. 1 14400 3600 1209600 86400\n@ IN NS a.root-test.\n"
	daemontest.File(t, filepath.Join(dir, "root.zone"), head+"a.root-test. IN A 10.53.0.1\ntest. IN NS a.root-test.\n")
	daemontest.File(t, filepath.Join(dir, "test.zone"), "$ORIGIN test.\n"+head+
		"dnsteer IN NS ns1.dnsteer\ndnsteer IN NS ns2.dnsteer\nns1.dnsteer IN A 10.53.1.1\nns2.dnsteer IN A 10.53.2.1\n"+records)
	conf := daemontest.File(t, filepath.Join(dir, "nsd.conf"), fmt.Sprintf(`server:
  ip-address: 10.53.0.1
  username: ""
  chroot: ""
  zonesdir: %[1]q
  xfrdir: %[1]q
  xfrdfile: "%[1]s/xfrd.state"
  zonelistfile: "%[1]s/zone.list"
  pidfile: "%[1]s/nsd.pid"
  database: ""
remote-control:
  control-enable: no
zone:
  name: "."
  zonefile: root.zone
zone:
  name: "test."
  zonefile: test.zone
`, dir))
	daemontest.Start(t, "ip", "netns", "exec", namespace, "nsd", "-d", "-c", conf)
	return daemontest.File(t, filepath.Join(dir, "hints"), ". 3600000 NS a.root-test.\na.root-test. 3600000 A 10.53.0.1\n")
}

// If this fails, those who look after delegations find fault with zones that are
// served from here.
func TestZonemaster(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make network namespaces")
	}
	k := signingKey(t, "dnsteer.test", dns.ECDSAP256SHA256)
	t.Run("unsigned", func(t *testing.T) { zonemaster(t, nil, "") })
	t.Run("signed", func(t *testing.T) { zonemaster(t, &Signing{Keys: []SigningKey{k}}, k.DS().String()+"\n") })
}

// zonemaster lets it look at a zone whose parent has further records of it.
func zonemaster(t *testing.T, signing *Signing, above string) {
	t.Helper()
	namespace := fmt.Sprintf("dnsteer-zonemaster-%d", os.Getpid())
	command(t, "ip", "netns", "add", namespace)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", namespace).Run() }) // what is left of it is empty
	command(t, "ip", "-n", namespace, "link", "set", "lo", "up")
	for _, a := range []string{"10.53.0.1/24", "10.53.1.1/24", "10.53.2.1/24"} {
		command(t, "ip", "-n", namespace, "addr", "add", a, "dev", "lo")
	}
	hints := rootAbove(t, namespace, above)
	cfg := lanConfig(t)
	cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("10.53.1.1:53"), netip.MustParseAddrPort("10.53.2.1:53")}
	cfg.Zones = []Zone{{Name: "dnsteer.test", Records: records(t, `
$ORIGIN dnsteer.test.
@   3600 IN SOA ns1 hostmaster 1 14400 3600 1209600 300
@   3600 IN NS  ns1
@   3600 IN NS  ns2
@   3600 IN MX  10 mail
ns1 3600 IN A   10.53.1.1
ns2 3600 IN A   10.53.2.1
mail 300 IN A   192.0.2.25
`), DNSSEC: signing}}
	cfg.Services = cfg.Services[:1]
	cfg.Services[0].Hosts = []string{"app.dnsteer.test", "*.apps.dnsteer.test"}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11"))
	s.SetAnswer("hamburg", "default", answer("10.2.0.11"))
	inNamespace(t, namespace, s.Listen)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	// The root is there as soon as it answers.
	for start := time.Now(); exec.CommandContext(t.Context(), "ip", "netns", "exec", namespace, "dig", "+time=1", "+tries=1", "@10.53.0.1", "dnsteer.test", "NS").Run() != nil; {
		if time.Since(start) > time.Minute {
			t.Fatal("the root does not answer")
		}
	}
	out := command(t, "ip", "netns", "exec", namespace, "zonemaster-cli", "--hints", hints, "--no-ipv6", "--level", "INFO", "--show-testcase", "--no-progress", "dnsteer.test")
	good := 0
	for line := range strings.Lines(out) {
		switch f := strings.Fields(line); {
		case len(f) < 3:
		case f[1] == "INFO" || f[1] == "NOTICE":
			good++
		// Private addresses, which have no names.
		case (f[1] == "WARNING" || f[1] == "ERROR" || f[1] == "CRITICAL") && f[2] != "ADDRESS01" && f[2] != "ADDRESS02":
			t.Error(line)
		}
	}
	if good < 20 {
		t.Errorf("it did not get through:\n%s", out)
	}
	t.Logf("%d remarks", good)
}
