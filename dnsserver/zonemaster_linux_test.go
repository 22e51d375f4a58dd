package dnsserver

import (
	"context"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// rootAbove runs NSD in a namespace as the root and the zone test., which
// delegates dnsteer.test, with the further records of it. It gives the path of the
// hints.
func rootAbove(t *testing.T, ns netnstest.Namespace, records string) string {
	t.Helper()
	dir := t.TempDir()
	const head = "$TTL 86400\n@ IN SOA a.root-test. hostmaster.root-test. 1 14400 3600 1209600 86400\n@ IN NS a.root-test.\n"
	daemontest.File(t, filepath.Join(dir, "root.zone"), head+"a.root-test. IN A 10.53.0.1\ntest. IN NS a.root-test.\n")
	daemontest.File(t, filepath.Join(dir, "test.zone"), "$ORIGIN test.\n"+head+
		"dnsteer IN NS ns1.dnsteer\ndnsteer IN NS ns2.dnsteer\nns1.dnsteer IN A 10.53.1.1\nns2.dnsteer IN A 10.53.2.1\n"+records)
	conf := daemontest.File(t, filepath.Join(dir, "nsd.conf"), daemontest.NSD(dir, netip.MustParseAddrPort("10.53.0.1:53"), `zone:
  name: "."
  zonefile: root.zone
zone:
  name: "test."
  zonefile: test.zone
`))
	daemontest.StartCmd(t, ns.Command(context.Background(), "nsd", "-d", "-c", conf)) // it ends with the test
	return daemontest.File(t, filepath.Join(dir, "hints"), ". 3600000 NS a.root-test.\na.root-test. 3600000 A 10.53.0.1\n")
}

// If this fails, those who look after delegations find fault with zones that are
// served from here.
func TestZonemaster(t *testing.T) {
	netnstest.Need(t)
	k := signingKey(t, "dnsteer.test", dns.ECDSAP256SHA256)
	t.Run("unsigned", func(t *testing.T) { zonemaster(t, nil, "") })
	t.Run("signed", func(t *testing.T) { zonemaster(t, &Signing{Keys: []SigningKey{k}}, k.DS().String()+"\n") })
}

// zonemaster lets it look at a zone whose parent has further records of it.
func zonemaster(t *testing.T, signing *Signing, above string) {
	t.Helper()
	ns := netnstest.New(t, "zonemaster")
	ns.IP(t, "addr add 10.53.0.1/24 dev lo", "addr add 10.53.1.1/24 dev lo", "addr add 10.53.2.1/24 dev lo")
	hints := rootAbove(t, ns, above)
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
	ns.Do(t, s.Listen)
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
	for start := time.Now(); ns.Command(t.Context(), "dig", "+time=1", "+tries=1", "@10.53.0.1", "dnsteer.test", "NS").Run() != nil; {
		if time.Since(start) > time.Minute {
			t.Fatal("the root does not answer")
		}
	}
	out := ns.Run(t, "zonemaster-cli", "--hints", hints, "--no-ipv6", "--level", "INFO", "--show-testcase", "--no-progress", "dnsteer.test")
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
