//go:build unix

package dnsserver

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// startNSD runs NSD as a secondary of a server on loopback.
func startNSD(t *testing.T, addr, primary netip.AddrPort, zone string) {
	t.Helper()
	dir := t.TempDir()
	daemontest.Start(t, "nsd", "-d", "-c", daemontest.File(t, filepath.Join(dir, "nsd.conf"), daemontest.NSD(dir, addr, fmt.Sprintf(`key:
  name: xfr.example.lan
  algorithm: hmac-sha256
  secret: %[3]q
zone:
  name: %[4]s
  zonefile: "%[1]s/zone"
  request-xfr: 127.0.0.1@%[2]d xfr.example.lan
  allow-notify: 127.0.0.1 xfr.example.lan
`, dir, primary.Port(), encodedSecret, zone))))
}

// startKnot runs Knot as a secondary of a server on loopback.
func startKnot(t *testing.T, addr, primary netip.AddrPort, zone string) {
	t.Helper()
	dir := t.TempDir()
	daemontest.Start(t, "knotd", "-c", daemontest.File(t, filepath.Join(dir, "knot.conf"), daemontest.Knot(dir, addr, fmt.Sprintf(`key:
  - id: xfr.example.lan
    algorithm: hmac-sha256
    secret: %[2]s
remote:
  - id: primary
    address: 127.0.0.1@%[1]d
    key: xfr.example.lan
acl:
  - id: told
    address: 127.0.0.1
    key: xfr.example.lan
    action: notify
zone:
  - domain: %[3]s
    master: primary
    acl: told
`, primary.Port(), encodedSecret, zone))))
}

// startBIND runs BIND as a secondary of a server on loopback.
func startBIND(t *testing.T, addr, primary netip.AddrPort, zone string) {
	t.Helper()
	dir := t.TempDir()
	daemontest.Start(t, "named", "-g", "-n", "1", "-c", daemontest.File(t, filepath.Join(dir, "named.conf"), fmt.Sprintf(`options {
  directory %[1]q;
  pid-file none;
  session-keyfile none;
  managed-keys-directory %[1]q;
  listen-on port %[3]d { %[2]s; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
};
controls { };
key xfr.example.lan { algorithm hmac-sha256; secret %[5]q; };
zone %[6]q {
  type secondary;
  file "zone";
  primaries { 127.0.0.1 port %[4]d key xfr.example.lan; };
  allow-notify { key xfr.example.lan; };
};
`, dir, addr.Addr(), addr.Port(), primary.Port(), encodedSecret, zone)))
}

// give asks a server over UDP until it gives addresses.
func give(t *testing.T, who string, addr netip.AddrPort, name string, limit time.Duration, want string) {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	c := &dns.Client{Timeout: 200 * time.Millisecond}
	last := "nothing"
	start := time.Now()
	for time.Since(start) < limit {
		in, _, err := c.ExchangeContext(t.Context(), m, addr.String())
		if err != nil {
			last = err.Error()
		} else if last = in.String(); in.Authoritative && strings.Join(brief(in.Answer), ", ") == want {
			return
		}
		pause := time.NewTimer(10 * time.Millisecond) // asking is polling
		<-pause.C
	}
	t.Fatalf("%s does not give %q for %s within %s; last: %s", who, want, name, limit, last)
}

// If this fails, NSD, Knot or BIND cannot stand beside this server: they do not get
// the zone, learn of a failover late, or have nothing to say when this server is gone.
func TestSecondaries(t *testing.T) {
	const limit = 3 * time.Minute // for a start on a busy machine
	nsd, knot, bind := daemontest.Addr(t), daemontest.Addr(t), daemontest.Addr(t)
	cfg := transferConfig(t)
	cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	for i := range cfg.Zones {
		z := &cfg.Zones[i]
		z.Transfer.Allow = prefixes("127.0.0.0/8")
		// Knot takes no zone with records below a DNAME.
		z.Records = slices.DeleteFunc(z.Records, func(rr dns.RR) bool { return rr.Header().Name == "under.moved.example.lan." })
	}
	cfg.Zones[0].Notify = []Secondary{{nsd, "xfr.example.lan"}, {knot, "xfr.example.lan"}, {bind, "xfr.example.lan"}}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"streaming", "weighted", "hashed", "uneven"} {
		s.SetAnswer("berlin", p, answer("10.1.0.21"))
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11"))
	s.SetAnswer("hamburg", "default", answer("10.2.0.11"))
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	primary := s.Addrs()[0]
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	startNSD(t, nsd, primary, "example.lan")
	startKnot(t, knot, primary, "example.lan")
	startBIND(t, bind, primary, "example.lan")
	all := map[string]netip.AddrPort{"NSD": nsd, "Knot": knot, "BIND": bind}
	for who, addr := range all {
		give(t, who, addr, "app.example.lan.", limit, "app.example.lan. 30 A 10.1.0.11")
		give(t, who, addr, "x.apps.example.lan.", limit, "x.apps.example.lan. 30 A 10.1.0.11")
		give(t, who, addr, "mail.example.lan.", limit, "mail.example.lan. 300 A 10.0.0.25")
	}
	for i := range 3 {
		to := fmt.Sprintf("10.1.0.%d", 12+i)
		s.SetAnswer("berlin", "default", answer(to))
		start := time.Now()
		for who, addr := range all {
			give(t, who, addr, "app.example.lan.", limit, "app.example.lan. 30 A "+to)
			t.Logf("%s: %s after the failover", who, time.Since(start).Round(time.Millisecond))
		}
	}
	if st := s.Stats(); st.Transfers.Whole != 3 || st.Transfers.Changes < 9 || st.Transfers.Failed+st.Transfers.Refused > 0 {
		t.Errorf("transfers %+v", st.Transfers)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	for who, addr := range all {
		give(t, who, addr, "app.example.lan.", limit, "app.example.lan. 30 A 10.1.0.14")
	}
}
