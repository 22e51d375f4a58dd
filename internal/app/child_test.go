package app

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// childConfig names the configuration that this test's program is to run as a
// controller, in place of the tests.
const childConfig = "DNSTEER_TEST_CONFIG"

// child is a controller in a process of its own. It ends when it is killed, or
// with its standard input.
func child(path string) int {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	err := Run(ctx, Options{
		ConfigPath: path, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Ready: func(a *App) { fmt.Println("ready", a.names.addresses()[0]) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is such a child.
type process struct {
	cmd *exec.Cmd
	at  string
}

func (w *world) spawn() *process {
	w.t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childConfig+"="+w.opt.ConfigPath)
	p.cmd.Stderr = w.t.Output()
	if _, err := p.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("the process is not ready: %q, %v", line, err)
	}
	_, p.at, _ = strings.Cut(strings.TrimSpace(line), " ")
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// If this fails, a crash or a power cut forgets what was decided or ordered
// (reliability: nothing lost).
func TestKill(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	p := w.spawn()
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "process "+strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("a second process on the same folder: %v", err)
	}
	ask := api.NewClient(filepath.Join(w.dir, "state", api.SocketName))
	defer ask.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	word := func(site, node int) sites.Word {
		t.Helper()
		st, err := ask.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return st.Sites[site].Nodes[node].Word
	}
	until := func(site, node int, want sites.Word) {
		t.Helper()
		for tick := time.NewTicker(5 * time.Millisecond); word(site, node) != want; <-tick.C {
			if ctx.Err() != nil {
				t.Fatalf("it is not %s in time", want)
			}
		}
	}
	for _, s := range []int{0, 1} {
		until(s, 0, sites.WordUp)
		until(s, 1, sites.WordUp)
	}
	w.sites[1].nodes["a"].off()
	until(1, 0, sites.WordOut)
	for i := range 6 {
		verb, want := sites.Maintenance, sites.WordMaintenance
		if i%2 == 1 {
			verb, want = sites.MaintenanceEnd, sites.WordUp
		}
		reply, err := ask.Command(ctx, sites.Command{Verb: verb, Site: "berlin", Node: "a", Reason: "test"})
		if err != nil || reply.Refused {
			t.Fatal(reply, err)
		}
		p.kill()
		ask.Close()
		p = w.spawn()
		if i%2 == 0 {
			if got := word(0, 0); got != want {
				t.Fatalf("after %s and kill -9 berlin/a is %s", verb, got)
			}
		} else {
			until(0, 0, want) // as soon as it answers (N7)
		}
		if got := word(1, 0); got != sites.WordOut {
			t.Fatalf("hamburg/a was out before kill -9, and is %s after it", got)
		}
	}
	list, err := ask.Events(ctx, api.EventQuery{Ascending: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	outages, orders := 0, 0
	for i, e := range list {
		if e.ID != uint64(i+1) {
			t.Errorf("event %d stands at place %d", e.ID, i+1)
		}
		switch e.Kind {
		case sites.FailoverOutage:
			outages++
		case sites.FailoverMaintenance:
			orders++
		}
	}
	if outages != 1 || orders < 6 {
		t.Errorf("%d outages and %d orders among the events, want 1 and 6", outages, orders)
	}
}
