//go:build unix

package dnsserver

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// apexOf is what every zone of these tests has.
const apexOf = "$TTL 300\n@ IN SOA ns host 1 3600 600 86400 60\n@ IN NS ns\nns IN A 10.0.0.53\n"

// oddZones are zones of what servers have got wrong, by name. They are handed to
// others as files.
func oddZones() map[string]string {
	zones := map[string]string{
		// Wildcards at all depths, names between that own nothing, names below a
		// wildcard, and labels that only look like one (RFC 4592).
		"wild.test": `
*            IN A     10.0.0.1
*.a          IN A     10.0.0.2
*.b.a        IN TXT   "no address"
x.b.a        IN A     10.0.0.3
*.c.d.e      IN MX    10 mail.*
deep.*.g     IN A     10.0.0.4
*.*.h        IN A     10.0.0.5
i.*          IN A     10.0.0.6
*k           IN A     10.0.0.7
k*           IN A     10.0.0.8
*.k*         IN A     10.0.0.9
**           IN A     10.0.0.10
*.l          IN CNAME m.l
m.l          IN A     10.0.0.11
*.n          IN CNAME x.n
*.o          IN CNAME *.a
*.p          IN CNAME y.elsewhere.test.
q            IN CNAME *.a
`,
		// The same without a wildcard at the apex: what is not there is missing.
		"ents.test": `
a.b.c.d      IN A     10.0.0.1
*.e.f        IN A     10.0.0.2
g.*.e.f      IN A     10.0.0.3
h            IN TXT   "beside"
i.h          IN A     10.0.0.4
`,
		// Labels * inside the name of the zone are no wildcards.
		"in.*.star.test": `
a            IN A     10.0.0.1
*            IN A     10.0.0.2
*.b          IN A     10.0.0.3
`,
		"chains.test": `
a            IN CNAME b
b            IN CNAME c.d
d            IN DNAME e
c.e          IN CNAME x.w
*.w          IN CNAME f
f            IN A     10.0.0.1
f            IN AAAA  fd00::1
g            IN DNAME h
h            IN DNAME e
loop1        IN CNAME loop2
loop2        IN CNAME loop1
self         IN CNAME self
out          IN CNAME www.elsewhere.test.
outd         IN DNAME elsewhere.test.
gone         IN CNAME nothing
empty        IN CNAME ent
below.ent    IN A     10.0.0.2
intocut      IN CNAME host.sub
sub          IN NS    ns.sub
ns.sub       IN A     10.0.0.54
two          IN DNAME two.two.two
up.up        IN DNAME up
z.up         IN A     10.0.0.4
back         IN DNAME forth
toup         IN CNAME z.up.up.up
x.forth      IN CNAME y.back
y.forth      IN A     10.0.0.3
`,
		"cuts.test": `
a            IN NS    ns.a
ns.a         IN A     10.0.1.1
ns.a         IN AAAA  fd00:1::1
b            IN NS    ns.b
b            IN NS    ns.elsewhere.test.
b            IN NS    ns.a
b            IN DS    4711 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns.b         IN A     10.0.1.2
c.ent        IN NS    ns
*.d          IN A     10.0.1.3
e.d          IN NS    ns.e.d
ns.e.d       IN A     10.0.1.4
f            IN NS    ns.elsewhere.test.
*.g          IN NS    ns.elsewhere.test.
h            IN NS    ns.i
i            IN NS    ns.h
ns.i         IN A     10.0.1.5
ns.h         IN A     10.0.1.6
`,
		// Octets that text escapes, letter case, long names.
		"octets.test": `
a\.b         IN A     10.0.0.1
a.b          IN A     10.0.0.2
sp\032ace    IN A     10.0.0.3
\000         IN A     10.0.0.4
\255\254     IN A     10.0.0.5
q\"uote      IN A     10.0.0.6
back\\slash  IN A     10.0.0.7
at\@         IN A     10.0.0.8
\065bc       IN A     10.0.0.9
MiXed        IN A     10.0.0.10
low          IN CNAME MIXED
*.Up         IN MX    5 MiXed
\*.esc       IN A     10.0.0.11
semi\;colon  IN TXT   "a;b" "c\"d" "\001\255" ""
` + strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + ".long IN A 10.0.0.12\n",
		"types.test": `
many         IN A     10.0.0.1
many         IN A     10.0.0.2
many         IN AAAA  fd00::1
many         IN MX    10 ns
many         IN MX    10 many.elsewhere.test.
many         IN TXT   "x"
many         IN CAA   0 issue "ca.test"
many         IN LOC   52 31 0.000 N 13 24 0.000 E 34.00m 1.00m 10000.00m 10.00m
many         IN RP    admin ns
many         IN SSHFP 4 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
many         IN NAPTR 10 20 "S" "SIP+D2U" "" _sip._udp
many         IN URI   10 1 "https://types.test/"
many         IN HINFO "a" "b"
many         IN TYPE65280 \# 4 01020304
_sip._udp    IN SRV   10 20 5060 many
_443._tcp    IN TLSA  3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
svc          IN HTTPS 1 . alpn=h2,h3 ipv4hint=10.0.0.1
svc          IN SVCB  2 many port=853
alias        IN HTTPS 0 svc
1.0.0        IN PTR   many
`,
	}
	for name, text := range zones {
		zones[name] = apexOf + text
	}
	return zones
}

// drawnZones are small zones that nobody would write, the same ones every time.
func drawnZones(t *testing.T, count int) map[string]string {
	t.Helper()
	out := map[string]string{}
	one := rapid.Custom(drawZone)
	for i := range count {
		name := fmt.Sprintf("p%d.test", i)
		out[name] = strings.ReplaceAll(one.Example(i), "p.test.", name+".")
	}
	return out
}

// fileServers runs NSD and Knot with zones as files, and gives their addresses. What
// one of them does not take it does not serve.
func fileServers(t *testing.T, zones map[string]string) (nsd, knot netip.AddrPort) {
	t.Helper()
	dir := t.TempDir()
	nsd, knot = daemontest.Addr(t), daemontest.Addr(t)
	nsdConf := fmt.Sprintf("server:\n  ip-address: %[2]s@%[3]d\n  username: \"\"\n  chroot: \"\"\n  zonesdir: %[1]q\n  xfrdir: %[1]q\n"+
		"  xfrdfile: \"%[1]s/xfrd.state\"\n  zonelistfile: \"%[1]s/zone.list\"\n  pidfile: \"%[1]s/nsd.pid\"\n  database: \"\"\n  tcp-query-count: 0\n"+
		"remote-control:\n  control-enable: no\n", dir, nsd.Addr(), nsd.Port())
	knotConf := fmt.Sprintf("server:\n  rundir: %[1]q\n  listen: %[2]s@%[3]d\n  tcp-idle-timeout: 600\n  tcp-io-timeout: 60000\ndatabase:\n  storage: %[1]q\nlog:\n  - target: stderr\n    any: error\n"+
		"template:\n  - id: default\n    storage: %[1]q\n    zonefile-sync: -1\n    zonefile-load: whole\n    journal-content: none\n    semantic-checks: off\nzone:\n", dir, knot.Addr(), knot.Port())
	for i, name := range slices.Sorted(maps.Keys(zones)) {
		file := fmt.Sprintf("zone%d", i)
		daemontest.File(t, filepath.Join(dir, file), "$ORIGIN "+name+".\n"+zones[name])
		nsdConf += fmt.Sprintf("zone:\n  name: %q\n  zonefile: %s\n", name, file)
		knotConf += fmt.Sprintf("  - domain: %q\n    file: %s\n", name, file)
	}
	daemontest.Start(t, "nsd", "-d", "-c", daemontest.File(t, filepath.Join(dir, "nsd.conf"), nsdConf))
	daemontest.Start(t, "knotd", "-c", daemontest.File(t, filepath.Join(dir, "knot.conf"), knotConf))
	return nsd, knot
}

// parseZones reads zones, and takes those out that cannot be served, such as one with
// a CNAME beside other records: they are drawn ones.
func parseZones(t *testing.T, zones map[string]string) *Config {
	t.Helper()
	cfg, written := &Config{}, oddZones()
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		z := Zone{Name: name}
		p := dns.NewZoneParser(strings.NewReader(zones[name]), name+".", "")
		for rr, ok := p.Next(); ok; rr, ok = p.Next() {
			z.Records = append(z.Records, rr)
		}
		_, err := New(&Config{Zones: []Zone{z}}, Options{})
		switch err := errors.Join(p.Err(), err); {
		case err == nil:
			cfg.Zones = append(cfg.Zones, z)
		case written[name] != "":
			t.Fatalf("%s: %v", name, err)
		default:
			delete(zones, name)
		}
	}
	return cfg
}

// If this fails, a zone is answered here as by neither NSD nor Knot: wildcards,
// names without records, chains, delegations or octets are understood in another way.
func TestZonesBesideOthers(t *testing.T) {
	zones := oddZones()
	maps.Copy(zones, drawnZones(t, 100))
	cfg := parseZones(t, zones)
	s := newServer(t, cfg)
	nsd, knot := fileServers(t, zones)
	for _, addr := range []netip.AddrPort{nsd, knot} {
		give(t, addr.String(), addr, "ns.wild.test.", time.Minute, "ns.wild.test. 300 A 10.0.0.53")
	}
	atNSD, atKnot := dialTCP(t, nsd), dialTCP(t, knot)
	asked, alone := 0, 0
	for _, z := range cfg.Zones {
		name := z.Name
		soa := dns.Question{Name: name + ".", Qtype: dns.TypeSOA, Qclass: dns.ClassINET}
		var others []*tcpServer
		for _, o := range []*tcpServer{atNSD, atKnot} {
			if o.ask(t, soa).Authoritative {
				others = append(others, o)
			}
		}
		if len(others) == 0 {
			alone++
			continue
		}
		view := gist
		if written := oddZones()[name] != ""; written || !strings.Contains(zones[name], "*") { // others take glue from wildcards too
			view = withGlue
		}
		for _, q := range besideQuestions(name+".", z.Records) {
			asked++
			us := view(askOnce(t, s, q))
			all := "here " + us
			if !slices.ContainsFunc(others, func(o *tcpServer) bool {
				them := view(o.ask(t, q))
				all += "\n" + o.addr.String() + " " + them
				return them == us
			}) {
				t.Errorf("%s %s\n%s\nzone\n%s", q.Name, dns.Type(q.Qtype), all, zones[name])
			}
		}
	}
	if alone > len(zones)/10 {
		t.Errorf("neither NSD nor Knot serves %d of %d zones", alone, len(zones))
	}
	t.Logf("%d questions about %d zones, %d of which neither of the others takes", asked, len(zones), alone)
}

// askOnce asks here, and fails where the answer holds a record twice.
func askOnce(t *testing.T, s *Server, q dns.Question) *dns.Msg {
	t.Helper()
	msg, err := (&dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id()}, Question: []dns.Question{q}}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	m := exchange(t, s, "127.0.0.1", msg, true)
	for i, rr := range m.Answer {
		if holds(m.Answer[:i], rr) {
			t.Errorf("%s %s: %s is there twice", q.Name, dns.Type(q.Qtype), rr)
		}
	}
	return m
}
