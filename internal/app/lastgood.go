package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// open opens the store, and gives the configuration to start with: cfg, or,
// where that is nil because of loadErr, the last good one.
func (a *App) open(ctx context.Context, cfg *config.Config, loadErr error) (*config.Config, store.Report, error) {
	if cfg != nil {
		a.statedir = cfg.StatePath
	} else if a.statedir = stateOf(a.opt.ConfigPath); a.statedir == "" {
		return nil, store.Report{}, errors.Join(loadErr, errNoneKept)
	}
	st, report, err := openStore(ctx, a.statedir, a.log)
	if err != nil {
		return nil, report, storeFault(err, loadErr)
	}
	a.store = st
	if !report.Alarming() { // what is alarming is an event, which has all of it
		for _, note := range report.Notes {
			a.log.Warn(note) //nolint:sloglint // the sentence is the message
		}
	}
	if cfg != nil {
		return cfg, report, nil
	}
	cfg, err = a.lastGood()
	switch _, unfit := errors.AsType[*config.FaultsError](err); {
	case err == nil:
		return cfg, report, nil
	case unfit || errors.Is(err, errNoneKept):
		return nil, report, errors.Join(loadErr, err, st.Close())
	default:
		return nil, report, errors.Join(storeFault(err, loadErr), st.Close())
	}
}

// storeFault is the error of a store that may be there again at the next attempt to
// start: it must not pass for one of the configuration, after which a service manager
// makes none.
func storeFault(err, loadErr error) error {
	if loadErr == nil {
		return err
	}
	return fmt.Errorf("%w\nthe last good configuration is needed from there, for this one is not valid: %v", err, loadErr) //nolint:errorlint // it is hidden
}

var errNoneKept = errors.New("there is no configuration of an earlier run to use in its place")

// lastGood gives the configuration that was last taken into use.
func (a *App) lastGood() (*config.Config, error) {
	kept, ok, err := a.store.Config()
	if err != nil {
		return nil, err
	}
	if !ok || len(kept.Files) != 1 {
		return nil, errNoneKept
	}
	return config.Restore(kept.Files[0].Data)
}

// stateOf finds the state folder of an earlier run whose configuration is no
// longer valid; "" where there is none. It makes no folder, and takes none that
// the configuration does not name as long as it names one.
func stateOf(path string) string {
	dirs := []string{config.StatePath(path)}
	if dirs[0] == "" {
		// The service manager's word, which may be several.
		dirs = append(filepath.SplitList(os.Getenv("STATE_DIRECTORY")), defaultState)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

// defaultState is where the state lies when nothing says otherwise.
const defaultState = "/var/lib/dnsteer"

// keepConfig has the configuration in place stored as the last good one. It waits for
// nothing.
func (a *App) keepConfig() {
	select {
	case a.keep <- struct{}{}:
	default:
	}
}

// keepRetry is how often a configuration is tried again that the store did not
// take.
const keepRetry = 30 * time.Second

// keepConfigs stores the configuration whenever that is asked for, until the store has
// taken it. It is the one that is in place at that moment, whoever has asked.
func (a *App) keepConfigs(ctx context.Context) {
	due := false
	tick := time.NewTicker(keepRetry)
	defer tick.Stop()
	for {
		select {
		case <-a.keep:
			due = true
		case <-tick.C:
		case <-ctx.Done():
			select {
			case <-a.keep:
				due = true
			default:
			}
		}
		if due {
			err := a.store.PutConfig(store.Config{When: time.Now(), Files: []store.ConfigFile{{Name: "bundle", Data: a.cfg.Load().Raw}}})
			if err != nil {
				a.log.Warn("keep the configuration for a start with a bad one", "error", err)
			}
			due = err != nil
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// recentEvents is how far back a start looks for what is still open.
const recentEvents = 5000

// settle tells how the configuration and the store fare against what the last
// run had told of them, so that nothing stays open for ever and nothing is said
// again (P5).
func (a *App) settle(found start) {
	cfg := a.cfg.Load()
	after := found.lastEvent - min(found.lastEvent, recentEvents)
	rejected := a.unresolved(after, found.lastEvent, sites.ConfigRejected, sites.ConfigReloaded)
	failed := a.unresolved(after, found.lastEvent, sites.StoreFailed, sites.StoreRecovered)
	expiring := a.expiring(after, found.lastEvent)
	a.loop.post(func() {
		k := a.keeper
		k.expiring = expiring
		a.judgeCertificate()
		if k.rejected == 0 {
			k.rejected = rejected.ID
		}
		a.settleConfig(cfg, found.loadErr, rejected)
		if k.failed == 0 && failed.ID != 0 {
			k.failed = failed.ID
			k.reopen()
		}
	})
	if found.loadErr == nil {
		a.keepConfig()
	}
}

// settleConfig tells how the start's configuration fares. A reload may have come before
// it, which has told of its own.
func (a *App) settleConfig(cfg *config.Config, loadErr error, rejected sites.Event) {
	_, _, fault := a.status.get()
	switch {
	case fault == "" && a.keeper.rejected != 0:
		a.loop.happened(sites.Event{Kind: sites.ConfigReloaded, Resolves: a.keeper.rejected, Text: "The configuration is valid again and in place."})
	case loadErr != nil && loadErr.Error() == fault && a.cfg.Load() == cfg:
		text := fmt.Sprintf("The configuration is not valid, so the last good one is used: %v", loadErr)
		if text != rejected.Text {
			a.loop.happened(sites.Event{Kind: sites.ConfigRejected, Resolves: a.keeper.rejected, Text: text})
		}
	}
}

// expiring gives the last event about the listener's own certificate that nothing
// has ended; the zero event if there is none.
func (a *App) expiring(after, last uint64) sites.Event {
	list, err := a.store.Events(store.Query{
		After: after, Before: last + 1, Kinds: []sites.Kind{sites.CertificateExpiring, sites.CertificateRenewed}, Limit: recentEvents,
	})
	if err != nil {
		a.log.Warn("look for what the last run has left open", "error", err)
	}
	for i := range list { // the newest first
		if e := &list[i]; e.Site == "" {
			if e.Kind == sites.CertificateExpiring {
				return *e
			}
			break
		}
	}
	return sites.Event{}
}

// unresolved gives the last event of a kind that none of the other kind has come
// after; the zero event if there is none.
func (a *App) unresolved(after, last uint64, kind, end sites.Kind) sites.Event {
	list, err := a.store.Events(store.Query{After: after, Before: last + 1, Kinds: []sites.Kind{kind, end}, Limit: 1})
	if err != nil {
		a.log.Warn("look for what the last run has left open", "error", err)
	}
	if i := slices.IndexFunc(list, func(e sites.Event) bool { return e.Kind == kind }); i >= 0 {
		return list[i]
	}
	return sites.Event{}
}
