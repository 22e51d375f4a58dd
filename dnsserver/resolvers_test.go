//go:build unix

package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// resolvedZone is short-lived throughout, so that caches are never long behind.
const resolvedZone = `
$ORIGIN example.lan.
$TTL 1
@        1 IN SOA ns1 admin 7 3600 600 86400 1
@          IN NS  ns1
ns1        IN A   127.0.0.1
text       IN TXT "fixed"
toapp      IN CNAME app
moved      IN DNAME apps
a.b.ent    IN A   10.0.0.3
*.wild     IN MX  5 text
sub        IN NS  ns.elsewhere.test.
`

// startFronts starts the resolvers in front of a server, each with and without
// validation.
func startFronts(t *testing.T, primary netip.AddrPort, anchors []*dns.DS) []*front {
	t.Helper()
	fronts := []*front{
		{"Unbound", daemontest.Addr(t), false},
		{"Unbound, validating,", daemontest.Addr(t), true},
		{"BIND", daemontest.Addr(t), false},
		{"BIND, validating,", daemontest.Addr(t), true},
	}
	startUnbound(t, fronts[0].addr, primary, nil)
	startUnbound(t, fronts[1].addr, primary, anchors)
	startResolvingBIND(t, fronts[2].addr, primary, nil)
	startResolvingBIND(t, fronts[3].addr, primary, anchors)
	return fronts
}

// startUnbound runs Unbound, which asks a server on loopback for a zone. With a
// trust anchor it validates.
func startUnbound(t *testing.T, addr, primary netip.AddrPort, anchors []*dns.DS) {
	t.Helper()
	modules, trust := "iterator", ""
	for _, ds := range anchors {
		modules = "validator iterator"
		trust += fmt.Sprintf("  trust-anchor: \"%s\"\n", strings.ReplaceAll(ds.String(), "\t", " "))
	}
	dir := t.TempDir()
	daemontest.Start(t, "unbound", "-d", "-p", "-c", daemontest.File(t, filepath.Join(dir, "unbound.conf"), fmt.Sprintf(`server:
  interface: %[1]s
  port: %[2]d
  username: ""
  chroot: ""
  directory: %[3]q
  use-syslog: no
  logfile: ""
  num-threads: 1
  do-not-query-localhost: no
  aggressive-nsec: yes
  module-config: %[4]q
  val-log-level: 2
%[5]sremote-control:
  control-enable: no
forward-zone:
  name: "example.lan"
  forward-addr: 127.0.0.1@%[6]d
`, addr.Addr(), addr.Port(), dir, modules, trust, primary.Port())))
}

// startResolvingBIND runs BIND as a resolver, likewise.
func startResolvingBIND(t *testing.T, addr, primary netip.AddrPort, anchors []*dns.DS) {
	t.Helper()
	validation, trust := "no", ""
	for _, ds := range anchors {
		validation = "yes"
		trust += fmt.Sprintf("  example.lan. static-ds %d %d %d %q;\n", ds.KeyTag, ds.Algorithm, ds.DigestType, ds.Digest)
	}
	if trust != "" {
		trust = "trust-anchors {\n" + trust + "};\n"
	}
	dir := t.TempDir()
	daemontest.Start(t, "named", "-g", "-n", "1", "-c", daemontest.File(t, filepath.Join(dir, "named.conf"), fmt.Sprintf(`options {
  directory %[1]q;
  pid-file none;
  session-keyfile none;
  managed-keys-directory %[1]q;
  listen-on port %[3]d { %[2]s; };
  listen-on-v6 { none; };
  recursion yes;
  allow-query { any; };
  empty-zones-enable no;
  dnssec-validation %[4]s;
};
controls { };
%[5]szone "example.lan" {
  type forward;
  forward only;
  forwarders { 127.0.0.1 port %[6]d; };
};
`, dir, addr.Addr(), addr.Port(), validation, trust, primary.Port())))
}

// front is a resolver in front of the server.
type front struct {
	who    string
	addr   netip.AddrPort
	proves bool
}

// asked is a question to a resolver, with the values that it may give: one, or that
// of before a move and that of after it. None is for a denial.
type asked struct {
	name  string
	qtype uint16
	want  []string
}

// ask asks a resolver. Its answer must be proved where the resolver validates.
func (f *front) ask(ctx context.Context, q asked) (value string, err error) {
	m := new(dns.Msg)
	m.SetQuestion(q.name, q.qtype)
	m.AuthenticatedData = true
	c := &dns.Client{Timeout: 5 * time.Second}
	in, _, err := c.ExchangeContext(ctx, m, f.addr.String())
	for late := net.Error(nil); errors.As(err, &late) && late.Timeout() && ctx.Err() == nil; {
		in, _, err = c.ExchangeContext(ctx, m, f.addr.String()) // a busy machine, as a client would
	}
	if err != nil {
		return "", err
	}
	var values []string
	for _, rr := range in.Answer {
		if rr.Header().Rrtype == q.qtype {
			values = append(values, strings.Join(strings.Fields(rr.String())[4:], " "))
		}
	}
	slices.Sort(values)
	value = strings.Join(values, ", ")
	switch {
	case in.Rcode != dns.RcodeSuccess && (in.Rcode != dns.RcodeNameError || len(q.want) > 0):
		return value, fmt.Errorf("%s gives\n%v", f.who, in)
	case f.proves && !in.AuthenticatedData:
		return value, fmt.Errorf("%s gives, without proof,\n%v", f.who, in)
	case len(q.want) == 0 && value != "", len(q.want) > 0 && !slices.Contains(q.want, value):
		return value, fmt.Errorf("%s gives, in place of %q,\n%v", f.who, q.want, in)
	}
	return value, nil
}

// steadyQuestions are those whose answers do not move.
var steadyQuestions = []asked{
	{"text.example.lan.", dns.TypeTXT, []string{`"fixed"`}},
	{"q.wild.example.lan.", dns.TypeMX, []string{"5 text.example.lan."}},
	{"q.wild.example.lan.", dns.TypeTXT, nil},
	{"b.ent.example.lan.", dns.TypeA, nil},
	{"nothing.example.lan.", dns.TypeA, nil},
	{"nothing.example.lan.", dns.TypeMX, nil},
	{"x.nothing.example.lan.", dns.TypeA, nil},
	{"text.example.lan.", dns.TypeA, nil},
	{"app.example.lan.", dns.TypeMX, nil},
	{"sub.example.lan.", dns.TypeDS, nil},
}

// watch asks a resolver for everything again and again, until all new addresses are
// there, and then once more. An old one may come as long as the new one has not.
func (f *front) watch(ctx context.Context, before, now [2]string) error {
	var moving []asked
	for _, name := range []string{"app.example.lan.", "x.apps.example.lan.", "toapp.example.lan.", "y.moved.example.lan."} {
		moving = append(moving, asked{name, dns.TypeA, []string{before[0], now[0]}}, asked{name, dns.TypeAAAA, []string{before[1], now[1]}})
	}
	for last := false; ; {
		old := 0
		for _, q := range steadyQuestions {
			if _, err := f.ask(ctx, q); err != nil {
				return err
			}
		}
		for i := range moving {
			q := &moving[i]
			value, err := f.ask(ctx, *q)
			if err != nil {
				return err
			}
			if value == q.want[len(q.want)-1] {
				q.want = []string{value}
			} else {
				old++
			}
		}
		if last {
			return nil
		}
		last = old == 0
		if ctx.Err() != nil {
			return fmt.Errorf("%s keeps %d old addresses", f.who, old)
		}
	}
}

// If this fails, those who ask through Unbound or BIND are told something wrong, or
// nothing, while a name fails over, or what is signed is taken for a forgery.
func TestResolversInFront(t *testing.T) {
	const limit = 2 * time.Minute // for a start, and for a move, on a busy machine
	at := []ServiceSite{{Site: "berlin", TTL: time.Second, TTLUnsettled: time.Second}}
	keys := []SigningKey{signingKey(t, "example.lan", dns.ECDSAP256SHA256)}
	cfg := &Config{
		Listen:      []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")},
		Zones:       []Zone{{Name: "example.lan", Records: records(t, resolvedZone), DNSSEC: &Signing{Keys: keys}}},
		DefaultSite: "berlin",
		Services:    []Service{{Hosts: []string{"app.example.lan", "*.apps.example.lan"}, Pool: "default", Sites: at}},
	}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	moves := []sites.Answer{answer("10.1.0.11", "fd00:1::11"), answer("10.1.0.12", "fd00:1::12"), answer("10.1.0.13"), answer("10.1.0.11", "fd00:1::11")}
	s.SetAnswer("berlin", "default", moves[0])
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	primary, anchors := s.Addrs()[0], []*dns.DS{keys[0].DS()}
	fronts := startFronts(t, primary, anchors)
	for _, f := range fronts {
		f.ready(t, limit)
	}
	for i := range moves {
		before, now := values(moves[max(i, 1)-1]), values(moves[i]) // the first time nothing moves
		start := time.Now()
		s.SetAnswer("berlin", "default", moves[i])
		until, done := context.WithTimeout(t.Context(), limit)
		var all sync.WaitGroup
		for _, f := range fronts {
			all.Go(func() {
				if err := f.watch(until, before, now); err != nil {
					t.Errorf("move %d: %v", i, err)
				}
			})
		}
		all.Wait()
		done()
		t.Logf("move %d: everywhere after %s", i, time.Since(start).Round(time.Millisecond))
	}
}

// values gives what a pool's answer is in records, one of each family or none.
func values(a sites.Answer) (out [2]string) {
	for _, ip := range a.IPv4 {
		out[0] = ip.String()
	}
	for _, ip := range a.IPv6 {
		out[1] = ip.String()
	}
	return out
}

// ready waits until a resolver answers.
func (f *front) ready(t *testing.T, limit time.Duration) {
	t.Helper()
	var err error
	for start := time.Now(); time.Since(start) < limit; {
		if _, err = f.ask(t.Context(), asked{"text.example.lan.", dns.TypeTXT, []string{`"fixed"`}}); err == nil {
			return
		}
		pause := time.NewTimer(10 * time.Millisecond) // asking is polling
		<-pause.C
	}
	t.Fatalf("%s is not ready: %v", f.who, err)
}
