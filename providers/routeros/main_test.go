package routeros

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long anything may take on a slow machine.
const soon = time.Minute

// router starts a simulated router, by default of the newest version.
func router(t *testing.T, o routersim.Options) *routersim.Router {
	t.Helper()
	r, err := routersim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// plain is how the simulated router is reached without TLS.
func plain(r *routersim.Router) Config {
	return Config{Address: r.Addr(), Username: "dnsteer", Password: "secret", TLS: providers.TLS{Mode: providers.Plain}, Mark: "test", OldLogin: true}
}

// pinned is how it is reached by its fingerprint.
func pinned(r *routersim.Router) Config {
	c := plain(r)
	c.Address, c.OldLogin = r.TLSAddr(), false
	c.TLS = providers.TLS{Mode: providers.Pinned, Fingerprint: r.Fingerprint()}
	return c
}

// open gives a provider that is closed with the test.
func open(t *testing.T, c Config) *Provider {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

func list(t *testing.T, p *Provider, names ...string) providers.Listing {
	t.Helper()
	l, err := p.List(within(t), names)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// push brings the router to hold records, in one round.
func push(t *testing.T, p *Provider, records ...providers.Record) {
	t.Helper()
	r := providers.Round{
		Provider: p, Deadline: soon,
		Input: providers.Input{Desired: records, Traits: Traits, Policy: providers.Policy{DeleteGuard: 100}},
	}
	if _, err := r.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
}

func record(name, addr string, ttl time.Duration) providers.Record {
	return providers.Record{Name: name, Addr: netip.MustParseAddr(addr), TTL: ttl}
}

func do(t *testing.T, r *routersim.Router, command string, args ...string) string {
	t.Helper()
	id, err := r.Do("/ip/dns/static/"+command, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", command, args, err)
	}
	return id
}

// rows gives the table in short: "name A address ttl comment".
func rows(r *routersim.Router) (list []string) {
	for _, rec := range r.Records() {
		f := rec.Fields
		s := strings.Join(slices.DeleteFunc([]string{f["name"] + f["regexp"], f["type"], f["address"] + f["cname"], f["ttl"], f["comment"]}, func(s string) bool { return s == "" }), " ")
		for _, flag := range []string{"disabled", "dynamic", "match-subdomain"} {
			if f[flag] == "true" {
				s += " " + flag
			}
		}
		list = append(list, s)
	}
	return list
}
