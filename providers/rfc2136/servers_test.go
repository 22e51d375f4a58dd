package rfc2136

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
)

const (
	testZone   = "example.lan"
	testKey    = "dnsteer.example.lan"
	testSecret = "Zm9yIHRlc3RzIGFsb25lLCBub3QgZm9yIGFueSB1c2U="
)

// zoneText is what the test zone holds before anybody pushes anything.
const zoneText = `$TTL 300
@ SOA ns1 admin 1 3600 600 86400 60
@ NS ns1
ns1 A 127.0.0.1
app 77 A 10.9.9.9
hand A 10.9.9.8
alias CNAME hand
*.any A 10.9.9.7
moved DNAME elsewhere.lan.
cut NS ns.cut
ns.cut A 10.9.9.6
`

// server is a kind of server from Debian's packages.
type server struct {
	name  string
	start func(t *testing.T, addr netip.AddrPort)
	// mayNot is how it says that a known key has no right.
	mayNot providers.Class
}

func servers() []server {
	return []server{{"BIND", startBIND, providers.Permanent}, {"Knot", startKnot, providers.Denied}}
}

// begin starts a server and waits until it answers.
func (s server) begin(t *testing.T) Config {
	t.Helper()
	addr := freePort(t)
	s.start(t, addr)
	m := new(dns.Msg).SetQuestion(testZone+".", dns.TypeSOA)
	c := &dns.Client{Timeout: 200 * time.Millisecond}
	for start := time.Now(); time.Since(start) < 20*time.Second; {
		if in, _, err := c.ExchangeContext(t.Context(), m, addr.String()); err == nil && in.Authoritative {
			return Config{
				Server: addr.String(), Zone: testZone,
				KeyName: testKey, Algorithm: "hmac-sha256", Secret: testSecret,
			}
		}
		pause := time.NewTimer(10 * time.Millisecond) // asking is polling
		<-pause.C
	}
	t.Fatalf("%s does not answer", s.name)
	return Config{}
}

// freePort gives a port of loopback that is free over UDP and TCP.
func freePort(t *testing.T) netip.AddrPort {
	t.Helper()
	for range 100 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := netip.MustParseAddrPort(l.Addr().String())
		pc, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
		_ = l.Close() // only its number was wanted
		if err == nil {
			_ = pc.Close() // likewise
			return addr
		}
	}
	t.Fatal("no port is free over UDP and TCP")
	return netip.AddrPort{}
}

// launch runs a server in the foreground until the test ends.
func launch(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path = filepath.Join("/usr/sbin", name) // not in everybody's PATH
	}
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: .ci/packages installs it", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		done := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // says that it was ended
		done.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, out.String())
		}
	})
}

func file(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func startBIND(t *testing.T, addr netip.AddrPort) {
	t.Helper()
	dir := t.TempDir()
	file(t, filepath.Join(dir, "zone"), zoneText)
	launch(t, "named", "-g", "-n", "1", "-c", file(t, filepath.Join(dir, "named.conf"), fmt.Sprintf(`options {
  directory %[1]q;
  pid-file none;
  session-keyfile none;
  managed-keys-directory %[1]q;
  listen-on port %[3]d { %[2]s; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
  minimal-responses yes;
};
controls { };
key %[4]q { algorithm hmac-sha256; secret %[5]q; };
key "reader" { algorithm hmac-sha256; secret %[5]q; };
zone %[6]q { type primary; file "zone"; allow-update { key %[4]q; }; };
`, dir, addr.Addr(), addr.Port(), testKey, testSecret, testZone)))
}

func startKnot(t *testing.T, addr netip.AddrPort) {
	t.Helper()
	dir := t.TempDir()
	file(t, filepath.Join(dir, "zone"), zoneText)
	launch(t, "knotd", "-c", file(t, filepath.Join(dir, "knot.conf"), fmt.Sprintf(`server:
  rundir: %[1]q
  listen: %[2]s@%[3]d
database:
  storage: %[1]q
log:
  - target: stderr
    any: info
key:
  - id: %[4]s
    algorithm: hmac-sha256
    secret: %[5]s
  - id: reader
    algorithm: hmac-sha256
    secret: %[5]s
acl:
  - id: may
    key: %[4]s
    action: [update, transfer]
  - id: reads
    key: reader
    action: transfer
zone:
  - domain: %[6]s
    storage: %[1]q
    file: zone
    zonefile-sync: -1
    acl: [may, reads]
`, dir, addr.Addr(), addr.Port(), testKey, testSecret, testZone)))
}
