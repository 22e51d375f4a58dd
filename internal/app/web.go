package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/httpd"
	"github.com/dnsteer/dnsteer/internal/store"
)

// Values of the store that are the API's.
const (
	sessionValues store.Kind = "sessions"
	replyValues   store.Kind = "idempotency"
)

// webServer is the listener of the API, the metrics and the pages.
type webServer struct {
	*httpd.Server
	mu     sync.Mutex
	failed error // why it is not served as configured
}

func (w *webServer) fail(err error) {
	w.mu.Lock()
	w.failed = err
	w.mu.Unlock()
}

func (w *webServer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// prepareAPI makes the handlers with what the last run has stored for them.
func (a *App) prepareAPI(values map[store.Kind]map[string][]byte) error {
	gate := auth.NewGate(auth.Options{Now: time.Now, Stored: values[sessionValues], Keep: a.keepValues(sessionValues)})
	a.api = api.NewHandler(api.Deps{
		Reader: a, Operator: a, Historian: a, Health: a, Log: a.log, Gate: gate,
		Replies: values[replyValues], KeepReplies: a.keepValues(replyValues), Heartbeats: a.beats, Publisher: a, Alerter: a, Supporter: a,
	})
	pages, err := a.pages()
	if err != nil {
		return fmt.Errorf("prepare the dashboard: %w", err)
	}
	a.web.Server = httpd.New(httpd.Options{API: a.api, Gate: gate, Metrics: a.metrics.Handler(), Pages: pages, Log: a.log})
	return nil
}

// measured is what the metrics are read from ([metrics.Source]).
type measured struct{ *App }

// Status gives the status as people have it, with the targets.
func (m measured) Status(ctx context.Context) (api.Status, error) { return m.api.Whole().Status(ctx) }

// DNS gives the counts of the DNS server ([metrics.Source]).
func (a *App) DNS() (stats dnsserver.Stats, ok bool) {
	if s := a.names.get(); s != nil {
		return s.Stats(), true
	}
	return stats, false
}

// keepValues gives what has values of a kind stored, without waiting.
func (a *App) keepValues(kind store.Kind) func(map[string][]byte) {
	return func(values map[string][]byte) {
		a.keeper.values.set(kind, values)
	}
}

// openWeb serves the addresses of the configuration. One that cannot be had is no
// reason to leave names unanswered: it is tried again and again.
func (a *App) openWeb() {
	err := a.listenWeb()
	if err == nil {
		return
	}
	a.log.Error("the API is served by the socket alone until its address can be had", "error", err)
	a.beside.Go(func() {
		every := controlRetry
		if a.opt.watchEvery != 0 {
			every = a.opt.watchEvery
		}
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-a.life.Done():
				return
			case <-tick.C:
			}
			if a.web.failure() == nil || a.listenWeb() == nil {
				return
			}
		}
	})
}

// listenWeb puts the listener of the configuration in place.
func (a *App) listenWeb() error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	change, err := a.web.Prepare(a.cfg.Load().HTTP)
	if err == nil {
		change.Commit()
	}
	a.web.fail(err)
	return err
}

// relisten is another configuration of the listener, ready to be put in place.
type relisten struct {
	change *httpd.Change // nil where waits says why there is none yet
	waits  error
}

// prepareWeb readies the listener of a configuration. Addresses that the one in place
// waits for are waited for still: they keep nothing else back that has changed.
func (a *App) prepareWeb(cfg *config.Config) (relisten, error) {
	change, err := a.web.Prepare(cfg.HTTP)
	if was := a.cfg.Load().HTTP; err != nil && a.web.failure() != nil && was != nil && slices.Equal(was.Listen, cfg.HTTP.Listen) {
		return relisten{waits: err}, nil
	}
	return relisten{change: change}, err
}

func (r relisten) discard() {
	if r.change != nil {
		r.change.Discard()
	}
}

// use puts it in place.
func (w *webServer) use(r relisten) {
	if r.change != nil {
		r.change.Commit()
	}
	w.fail(r.waits)
}

// webStatus tells of the listener; nil where none is configured.
func (a *App) webStatus(cfg *config.Config) *api.HTTPStatus {
	h := cfg.HTTP
	if h == nil {
		return nil
	}
	st := &api.HTTPStatus{Listen: []string{}, CertificateEnds: h.Expires}
	scheme := "http://"
	if h.TLS != nil {
		scheme = "https://"
	}
	for _, addr := range a.web.Addrs() {
		st.Listen = append(st.Listen, scheme+addr.String()+h.BasePath+"/")
	}
	slices.Sort(st.Listen)
	if err := a.web.failure(); err != nil {
		st.Error = err.Error()
	}
	return st
}

// closeRequests ends the requests, those by the socket and those over the
// network.
func (a *App) closeRequests(ctx context.Context) error {
	var all sync.WaitGroup
	var overSocket, overNetwork error
	all.Go(func() { overSocket = a.control.end(ctx) })
	all.Go(func() { overNetwork = a.web.Shutdown(ctx) })
	all.Wait()
	return errors.Join(overSocket, overNetwork)
}
