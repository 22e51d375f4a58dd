package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/benchproc"
	"github.com/dnsteer/dnsteer/sites"
)

// figures are what one size costs.
type figures struct {
	size
	answer, order           time.Duration // from the start, with stored state
	reload, held            time.Duration
	publishHalf, publish99  time.Duration // from an order to the answer
	turn                    costs         // of the rules
	cpuUp, cpuNews, cpuDown float64       // processor time for a second: all up, going down, all down
	probesUp                float64       // in a second
	late99, latest          time.Duration
	overdue                 int
	memory, mostMemory      int64
	page, status            time.Duration
	pageOctets, statusOctet int64
	// Processor time, which another load of the machine does not lengthen.
	startCPU, reloadCPU, pageCPU time.Duration
}

// measure starts the program at a size and measures all of it.
func measure(ctx context.Context, path string, s size) (f figures, err error) {
	f.size = s
	w, err := newWorld(ctx, s)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if f.turn, err = turns(w.config()); err != nil {
		return f, err
	}
	p, err := w.starts(ctx, path, &f)
	if err != nil {
		return f, err
	}
	defer func() {
		if p.cmd.ProcessState == nil {
			err = errors.Join(err, p.stop(true))
		}
	}()
	for _, step := range []func(context.Context, *program, *figures) error{w.probing, w.orders, w.reloads, w.looks, w.failing} {
		if err := step(ctx, p, &f); err != nil {
			return f, err
		}
	}
	return f, p.stop(false)
}

func (w *world) client() *api.Client {
	return api.NewClient(filepath.Join(w.dir, "state", api.SocketName))
}

// starts fills the store by a first run, and then starts the program three times,
// the last of which goes on.
func (w *world) starts(ctx context.Context, path string, f *figures) (*program, error) {
	ask, err := w.asker()
	if err != nil {
		return nil, err
	}
	defer ask.conn.Close()
	var answers, orders, work []time.Duration
	for n := 0; ; n++ {
		p, err := w.start(ctx, path)
		if err != nil {
			return nil, err
		}
		// Node 1 of site 0 is in pool 0 and pool 1; each run moves it out or back.
		out := n%2 == 0
		err = ask.until(ctx, host(0, 0, 0), node(0), true)
		answered := time.Since(p.began)
		used, failed := p.cpu()
		if err = errors.Join(err, failed); err == nil {
			err = w.order(ctx, out)
		}
		if err == nil {
			err = ask.until(ctx, host(0, 0, 0), node(1), !out)
		}
		ordered := time.Since(p.began)
		if err == nil && n == 3 {
			f.answer, f.order, f.startCPU = quantile(answers, 0.5), quantile(orders, 0.5), quantile(work, 0.5)
			return p, nil
		}
		if err = errors.Join(err, p.stop(false)); err != nil {
			return nil, err
		}
		if n > 0 {
			answers, orders, work = append(answers, answered), append(orders, ordered), append(work, used)
		}
	}
}

// order takes the second node of the first site out, or back, as soon as the
// program takes orders.
func (w *world) order(ctx context.Context, out bool) error {
	c := w.client()
	defer c.Close()
	verb := sites.Maintenance
	if !out {
		verb = sites.MaintenanceEnd
	}
	for limit := time.Now().Add(patience); ; {
		reply, err := c.Command(ctx, sites.Command{Verb: verb, Site: "s0", Node: "n1", Force: true})
		switch {
		case err == nil && reply.Refused:
			return errors.New(reply.Text)
		case err == nil:
			return nil
		case time.Now().After(limit):
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// probing watches how late nodes are probed, and what that costs.
func (w *world) probing(ctx context.Context, p *program, f *figures) error {
	if err := sleep(ctx, w.interval()+time.Second); err != nil { // every node has had its first
		return err
	}
	w.lateness.restart()
	before, seen := time.Now(), w.accepted.Load()
	used, err := p.cpu()
	if err != nil {
		return err
	}
	if err := sleep(ctx, 2*w.interval()+time.Second); err != nil {
		return err
	}
	after, err := p.cpu()
	if err != nil {
		return err
	}
	took := time.Since(before)
	f.cpuUp, f.probesUp = (after-used).Seconds()/took.Seconds(), float64(w.accepted.Load()-seen)/took.Seconds()
	f.late99, f.latest, f.overdue = w.lateness.worst(time.Now())
	f.memory, f.mostMemory, err = benchproc.Resident(p.cmd.Process.Pid)
	return err
}

// orders is from an operator's command, over the socket, to the answer that a
// client gets.
func (w *world) orders(ctx context.Context, _ *program, f *figures) error {
	ask, err := w.asker()
	if err != nil {
		return err
	}
	defer ask.conn.Close()
	c := w.client()
	defer c.Close()
	per := w.size.nodes / w.sites
	var took []time.Duration
	for n := range min(200, w.size.nodes/2) {
		site, j := n%w.sites, (n/w.sites*2)%per
		sent := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := c.Command(ctx, sites.Command{Verb: sites.Maintenance, Site: fmt.Sprintf("s%d", site), Node: fmt.Sprintf("n%d", j), Force: true})
			sent <- err
		}()
		err := ask.until(ctx, host(site, j, 0), node(site*per+j), false)
		took = append(took, time.Since(began))
		if err = errors.Join(err, <-sent); err != nil {
			return err
		}
	}
	f.publishHalf, f.publish99 = quantile(took, 0.5), quantile(took, 0.99)
	return nil
}

// reloads changes one line, and measures how long that takes and how long the loop
// of decisions does nothing else.
func (w *world) reloads(ctx context.Context, p *program, f *figures) error {
	c := w.client()
	defer c.Close()
	path := filepath.Join(w.config(), "all.yaml")
	var took, work []time.Duration
	for i := range 3 {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		next := strings.Replace(string(text), fmt.Sprintf("threshold: %dm", 60+i), fmt.Sprintf("threshold: %dm", 61+i), 1)
		if err := os.WriteFile(path, []byte(next), 0o600); err != nil {
			return err
		}
		watching, stop := context.WithCancel(ctx)
		held := make(chan time.Duration)
		go func() { held <- w.longest(watching) }()
		began := time.Now()
		used, err1 := p.cpu()
		_, err = c.Reload(ctx)
		took = append(took, time.Since(began))
		after, err2 := p.cpu()
		work = append(work, after-used)
		err = errors.Join(err, err1, err2)
		stop()
		f.held = max(f.held, <-held)
		if err != nil {
			return err
		}
	}
	f.reload, f.reloadCPU = quantile(took, 0.5), quantile(work, 0.5)
	return nil
}

// longest asks for a sign of life of the loop until ctx ends, and gives how long
// it had to wait for one.
func (w *world) longest(ctx context.Context) (most time.Duration) {
	c := w.client()
	defer c.Close()
	for ctx.Err() == nil {
		began := time.Now()
		if err := c.Healthy(context.WithoutCancel(ctx)); err == nil {
			most = max(most, time.Since(began))
		}
		time.Sleep(time.Millisecond)
	}
	return most
}

// looks fetches the overview and the status as a browser and a program do.
func (w *world) looks(ctx context.Context, p *program, f *figures) (err error) {
	before, err := p.cpu()
	if err != nil {
		return err
	}
	if f.page, f.pageOctets, err = w.fetch(ctx, "/"); err != nil {
		return err
	}
	after, err := p.cpu()
	if err != nil {
		return err
	}
	f.pageCPU = (after - before) / fetches
	f.status, f.statusOctet, err = w.fetch(ctx, "/api/v1/status")
	return err
}

// fetches is how often a page is fetched; the median counts.
const fetches = 3

// fetch gives how long that takes.
func (w *world) fetch(ctx context.Context, path string) (d time.Duration, octets int64, err error) {
	var took []time.Duration
	for range fetches {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", w.httpPort, path), http.NoBody)
		if err != nil {
			return 0, 0, err
		}
		began := time.Now()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, 0, err
		}
		octets, err = io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return 0, 0, err
		}
		if res.StatusCode != http.StatusOK {
			return 0, 0, fmt.Errorf("GET %s: %s", path, res.Status)
		}
		took = append(took, time.Since(began))
	}
	return quantile(took, 0.5), octets, nil
}

// failing has every node refuse, and measures what probing costs while that is news,
// and afterwards: all are failing and none is due to go yet, so that this is the same
// work as before.
func (w *world) failing(ctx context.Context, p *program, f *figures) (err error) {
	if err := w.down(); err != nil {
		return err
	}
	if f.cpuNews, err = p.share(ctx, 3*w.interval()); err != nil {
		return err
	}
	// Every node has failed three times: what comes now is no news.
	if err := sleep(ctx, w.interval()+3*time.Second); err != nil {
		return err
	}
	f.cpuDown, err = p.share(ctx, w.interval())
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
