package rfc2136

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
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
*.star CNAME hand
moved DNAME elsewhere.lan.
cut NS ns.cut
ns.cut A 10.9.9.6
`

// server is a kind of server from Debian's packages.
type server struct {
	name  string
	start func(t testing.TB, addr netip.AddrPort)
	// mayNot is how it says that a known key has no right.
	mayNot providers.Class
}

func servers() []server {
	return []server{{"BIND", startBIND, providers.Permanent}, {"Knot", startKnot, providers.Denied}}
}

// begin starts a server and waits until it answers.
func (s server) begin(t testing.TB) Config {
	t.Helper()
	addr := daemontest.Addr(t)
	s.start(t, addr)
	m := new(dns.Msg).SetQuestion(testZone+".", dns.TypeSOA)
	c := &dns.Client{Timeout: 200 * time.Millisecond}
	daemontest.Until(t, s.name+" answers", func() bool {
		in, _, err := c.ExchangeContext(t.Context(), m, addr.String())
		return err == nil && in.Authoritative
	})
	return Config{
		Server: addr.String(), Zone: testZone,
		KeyName: testKey, Algorithm: "hmac-sha256", Secret: testSecret,
	}
}

func startBIND(t testing.TB, addr netip.AddrPort) {
	t.Helper()
	dir := t.TempDir()
	daemontest.File(t, filepath.Join(dir, "zone"), zoneText)
	daemontest.Start(t, "named", "-g", "-n", "1", "-c", daemontest.File(t, filepath.Join(dir, "named.conf"), fmt.Sprintf(`options {
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

func startKnot(t testing.TB, addr netip.AddrPort) {
	t.Helper()
	dir := t.TempDir()
	daemontest.File(t, filepath.Join(dir, "zone"), zoneText)
	daemontest.Start(t, "knotd", "-c", daemontest.File(t, filepath.Join(dir, "knot.conf"), fmt.Sprintf(`server:
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
