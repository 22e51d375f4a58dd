package app

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// pushedTo is a target that a test can look at past the controller.
type pushedTo struct {
	// servers that answer DNS.
	servers []netip.AddrPort
	// foreign lists what is somebody else's, writes counts what was written.
	foreign func() []string
	writes  func() int
	// lose deletes a record of ours, as a hand does.
	lose func(host, addr string)
}

// answers gives what each server answers, if all agree.
func (p *pushedTo) answers(t *testing.T, host string) string {
	t.Helper()
	var all []string
	for _, s := range p.servers {
		got, err := askAddresses(t.Context(), s, host, false)
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, a := range got {
			list = append(list, a.String())
		}
		slices.Sort(list)
		all = append(all, strings.Join(list, " "))
	}
	if all = slices.Compact(all); len(all) != 1 {
		return fmt.Sprintf("%q", all)
	}
	return all[0]
}

// current says whether all servers of the target hold what they should.
func (r *running) current() bool {
	list, err := r.Targets(context.Background())
	return err == nil && len(list) > 0 && !slices.ContainsFunc(list, func(v api.TargetView) bool {
		return v.State != api.TargetCurrent || v.Compared.IsZero()
	})
}

// follow has a node fail and come back, the controller start anew, and a hand
// delete a record.
func follow(t *testing.T, w *world, to *pushedTo) {
	t.Helper()
	const app = "app.example.lan"
	p, before := w.sites[0], to.foreign()
	r := w.start()
	is := func(what, want string) {
		t.Helper()
		r.until(what, func() bool { return to.answers(t, app) == want && r.current() })
		if now := to.foreign(); !slices.Equal(now, before) {
			t.Errorf("%s: somebody's records are\n%s\nbefore\n%s", what, strings.Join(now, "\n"), strings.Join(before, "\n"))
		}
	}
	is("the target has the answer", p.all(11, 12))
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	is("it follows", p.all(12))
	p.nodes["a"].on(t)
	is("it follows back", p.all(11, 12))
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	written := to.writes()
	r = w.start()
	r.settled()
	is("it is compared after a restart", p.all(11, 12))
	if n := to.writes() - written; n != 0 {
		t.Errorf("a restart writes %d times", n)
	}
	to.lose(app, p.host(11).String())
	r.pushing.publisher.Compare("berlin")
	r.await("drift")
	is("what a hand has deleted is put right", p.all(11, 12))
	for _, kind := range r.kinds() {
		if strings.HasPrefix(kind, "publish_failed") || strings.HasPrefix(kind, "resolver_down") {
			t.Errorf("told: %s", kind)
		}
	}
}

// Clients of two AdGuard Homes would get old answers or answers that differ, or
// somebody's own rewrites would change.
func TestTwoAdGuardsFollow(t *testing.T) {
	w := newWorld(t, "berlin")
	to := &pushedTo{}
	var servers []*adguardsim.Server
	var urls []string
	for range 2 {
		s, err := adguardsim.Start(adguardsim.Options{Username: "dnsteer", Password: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		err = s.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
			return append(
				list, adguardsim.Rewrite{Domain: "printer.example.lan", Answer: "198.51.100.7", Enabled: true},
				adguardsim.Rewrite{Domain: "nas.example.lan", Answer: "198.51.100.8"},
				adguardsim.Rewrite{Domain: "alias.example.lan", Answer: "printer.example.lan", Enabled: true},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		servers, urls = append(servers, s), append(urls, s.URL())
		to.servers = append(to.servers, s.DNS())
	}
	to.foreign = func() (list []string) {
		for _, s := range servers {
			for _, r := range s.Rewrites() {
				if r.Domain != "app.example.lan" {
					list = append(list, fmt.Sprintf("%q %q %v", r.Domain, r.Answer, r.Enabled))
				}
			}
		}
		return list
	}
	to.writes = func() int { return servers[0].Writes() + servers[1].Writes() }
	to.lose = func(host, addr string) {
		err := servers[1].Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
			return slices.DeleteFunc(list, func(r adguardsim.Rewrite) bool { return r.Domain == host && r.Answer == addr })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.pushedConfig(fmt.Sprintf("%q", servers[0].DNS()),
		fmt.Sprintf("{name: guards, type: adguard, servers: [%q, %q], username: dnsteer, password: secret}", urls[0], urls[1])))
	follow(t, w, to)
}

// pushedConfig is the usual configuration, with the first site's resolver and a
// target of it.
func (w *world) pushedConfig(resolver, target string) string {
	p := w.sites[0]
	_, rest, _ := strings.Cut(target, "name: ")
	name, _, _ := strings.Cut(rest, ",")
	return w.config(
		fmt.Sprintf("resolver: %q\n    clients: [%s/24]\n", netip.AddrPortFrom(p.host(1), w.dns), p.net),
		fmt.Sprintf("resolver: %s\n    clients: [%s/24]\n    targets: [builtin, %s]\n", resolver, p.net, name),
	) + "targets:\n  - " + target + "\n"
}

// The key and the zone of the test's BIND.
const (
	updateKey    = "dnsteer.example.lan"
	updateSecret = "Zm9yIHRlc3RzIGFsb25lLCBub3QgZm9yIGFueSB1c2U="
	updateZone   = "$TTL 300\n@ SOA ns1 admin 1 3600 600 86400 60\n@ NS ns1\nns1 A 127.0.0.1\nprinter A 198.51.100.7\nnas 77 A 198.51.100.8\nalias CNAME printer\n*.any A 198.51.100.9\n"
)

// bind runs BIND until the test ends, and gives where it answers.
func bind(t testing.TB) netip.AddrPort {
	t.Helper()
	at := daemontest.Addr(t)
	dir := t.TempDir()
	conf := fmt.Sprintf(`options { directory %[1]q; pid-file none; session-keyfile none; managed-keys-directory %[1]q;
  listen-on port %[2]d { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no; allow-transfer { any; }; };
controls { };
key %[3]q { algorithm hmac-sha256; secret %[4]q; };
zone "example.lan" { type primary; file "zone"; update-policy { grant %[3]s zonesub A AAAA TXT; }; };
`, dir, at.Port(), updateKey, updateSecret)
	for name, text := range map[string]string{"zone": updateZone, "named.conf": conf} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	daemontest.Start(t, "named", "-g", "-n", "1", "-c", filepath.Join(dir, "named.conf"))
	r := &running{t: t}
	r.until("BIND answers", func() bool {
		got, err := askAddresses(t.Context(), at, "ns1.example.lan", false)
		return err == nil && len(got) == 1
	})
	return at
}

// transfer gives what is in the test's zone.
func transfer(t testing.TB, at netip.AddrPort) (list []dns.RR) {
	t.Helper()
	in, err := new(dns.Transfer).In(new(dns.Msg).SetAxfr("example.lan."), at.String())
	if err != nil {
		t.Fatal(err)
	}
	for e := range in {
		if e.Error != nil {
			t.Fatal(e.Error)
		}
		list = append(list, e.RR...)
	}
	return list
}

// updated is the target that a BIND is.
func updated(at netip.AddrPort) string {
	return fmt.Sprintf("{name: bind, type: rfc2136, server: %q, zone: example.lan, tsig: {name: %s, secret: %q}}", at, updateKey, updateSecret)
}

// Clients of a zone that takes updates would get old answers, or the records that
// somebody else has in it would change.
func TestAZoneFollows(t *testing.T) {
	w := newWorld(t, "berlin")
	at := bind(t)
	to := &pushedTo{servers: []netip.AddrPort{at}}
	to.foreign = func() (list []string) {
		for _, rr := range transfer(t, at) {
			if name := rr.Header().Name; rr.Header().Rrtype != dns.TypeSOA && name != "app.example.lan." {
				list = append(list, rr.String())
			}
		}
		return list
	}
	to.writes = func() int { // every update makes a new serial
		soa, ok := transfer(t, at)[0].(*dns.SOA)
		if !ok {
			t.Fatal("no SOA")
		}
		return int(soa.Serial)
	}
	to.lose = func(host, addr string) {
		rr, err := dns.NewRR(host + ". A " + addr)
		if err != nil {
			t.Fatal(err)
		}
		m := new(dns.Msg).SetUpdate("example.lan.")
		m.Remove([]dns.RR{rr})
		m.SetTsig(updateKey+".", dns.HmacSHA256, 300, time.Now().Unix())
		c := dns.Client{TsigSecret: map[string]string{updateKey + ".": updateSecret}}
		if in, _, err := c.Exchange(m, at.String()); err != nil || in.Rcode != dns.RcodeSuccess {
			t.Fatal(in, err)
		}
	}
	w.write(w.pushedConfig(fmt.Sprintf("{address: %q, ask: ns1.example.lan, expect: [127.0.0.1]}", at), updated(at)))
	follow(t, w, to)
}
