package app

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, a controller whose store was damaged and made anew does not start
// again with a configuration that is not valid: the last good one was lost with it.
func TestTheLastGoodConfigurationOutlivesTheStore(t *testing.T) {
	w := newWorld(t, "berlin")
	var lose atomic.Bool
	w.opt.disk = func(b store.Batch, commit func(store.Batch) error) error {
		if lose.Swap(false) {
			return &store.ReplacedError{Report: store.Report{Damage: "a page is not readable", Empty: true}}
		}
		return commit(b)
	}
	r := w.start()
	r.settled()
	kept := func() bool {
		c, ok, err := r.store.Config()
		return err == nil && ok && len(c.Files) == 1
	}
	r.until("the configuration is stored", kept)
	if err := r.store.PutConfig(store.Config{}); err != nil { // as an empty store has it
		t.Fatal(err)
	}
	lose.Store(true)
	if err := r.loop.do(t.Context(), func() { r.loop.happened(sites.Event{Kind: sites.ConfigReloaded, Text: "to be stored"}) }); err != nil {
		t.Fatal(err)
	}
	r.await("store_recovered")
	r.until("the configuration is stored again", kept)
}

// If this fails, a store that is made anew while a reload goes on keeps the configuration
// before it, which the next start with a bad one then uses.
func TestTheLastGoodConfigurationIsTheOneInPlace(t *testing.T) {
	st, _, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	a := &App{store: st, log: logTo(t), keep: make(chan struct{}, 1)}
	a.cfg.Store(&config.Config{Raw: []byte("before")})
	a.keepConfig() // the store's writer has asked, and then the reload comes
	a.cfg.Store(&config.Config{Raw: []byte("after")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.keepConfigs(ctx)
	if c, ok, err := st.Config(); err != nil || !ok || string(c.Files[0].Data) != "after" {
		t.Errorf("%q, %v", c.Files, err)
	}
}
