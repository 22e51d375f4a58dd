package app

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// ward is a world in which everything hangs from a moment on, whatever its context says.
type ward struct {
	hangs   atomic.Bool
	release chan struct{}
}

func (w *ward) meet() {
	if w.hangs.Load() {
		<-w.release
	}
}

func (w *ward) Probe(context.Context, netip.Addr) sites.Check {
	w.meet()
	return sites.Check{Outcome: sites.Up}
}

func (w *ward) Send(context.Context, *alert.Message, alert.Dialogue) error {
	w.meet()
	return errors.New("not taken")
}

// bare is a target of such a world.
type bare struct {
	*ward
	records []providers.Entry
}

func (b *bare) List(context.Context, []string) (providers.Listing, error) {
	b.meet()
	return providers.Listing{Entries: b.records}, nil
}

func (b *bare) Apply(_ context.Context, c providers.Change) error {
	b.meet()
	for _, r := range c.Add {
		b.records = append(b.records, providers.Entry{Record: r, Marked: true, ID: r.Addr.String()})
	}
	return nil
}

func (b *bare) Inspect(context.Context) (providers.Inspection, error) {
	b.meet()
	return providers.Inspection{}, nil
}

func (b *bare) Close() error { b.meet(); return nil }

// If this fails, a stop in which everything hangs at once takes longer than the five
// seconds that are promised, of which the names have two: the service manager kills the
// controller before its last state is stored.
func TestStopWhileEverythingHangs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dnsteer.yaml")
	text := `instance: test
state: {path: state}
dns:
  listen: ["127.0.0.1:0"]
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}]
alerts:
  webhooks: [{name: ops, url: "https://ops.example.com/"}]
  routes: [{to: [ops]}]
defaults: {probes: [{type: tcp, port: 443}]}
sites:
  - name: berlin
    resolver: 10.1.0.1
    clients: [10.1.0.0/16]
    targets: [builtin, router]
    nodes: [{name: a, addresses: [10.1.0.11]}, {name: b, addresses: [10.1.0.12]}]
services: [{hosts: [app.example.lan]}]
targets: [{name: router, type: routeros, address: "10.1.0.1:8729", username: dnsteer, password: secret}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &ward{release: make(chan struct{})}
		stand := &Stand{
			Probers: func(_ sites.Subject, configured []probes.Prober) (list []probes.Prober) {
				for range configured {
					list = append(list, w)
				}
				return list
			},
			Ask: func(context.Context, netip.AddrPort, string, bool) ([]netip.Addr, error) {
				w.meet()
				return nil, errors.New("no answer")
			},
			Target: func(to *publish.Target) {
				to.Servers[0].Connect = func() (providers.Provider, error) { return &bare{ward: w}, nil }
			},
			Sender: func(string) alert.Sender { return w },
			Commit: func(b store.Batch, commit func(store.Batch) error) error {
				w.meet()
				return commit(b)
			},
			WatchEvery: time.Hour,
		}
		start := time.Now()
		stand.Clock = func() sites.Instant {
			return sites.Instant{Boot: time.Since(start) + time.Hour, Wall: time.Now()}
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		ready := make(chan *App, 1)
		go func() {
			ended <- Run(ctx, stand.On(Options{ConfigPath: path, Log: slog.New(slog.DiscardHandler), Ready: func(a *App) { ready <- a }}))
		}()
		a := <-ready
		time.Sleep(time.Minute) // what was pushed is looked for
		w.hangs.Store(true)
		a.loop.post(func() { a.loop.happened(sites.Event{Kind: sites.StoreFailed, Text: "to be sent and stored"}) })
		time.Sleep(20 * time.Second)
		began := time.Now()
		stop()
		err := <-ended
		if took := time.Since(began) + besideWithin; took > 3*time.Second || err == nil {
			t.Errorf("the stop takes %v without the names, and gave %v", took, err)
		}
		close(w.release)
		time.Sleep(time.Minute)
	})
}
