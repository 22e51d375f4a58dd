package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// beating is a configuration in which berlin/a reports by itself, with a token
// from a file. Its reports last for longer than a busy machine takes for a step.
func (w *world) beating(token string) string {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "a.token"), []byte(token+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	a := fmt.Sprintf("{name: a, addresses: [%s]", w.sites[0].host(11))
	return w.config(a, a+", threshold: 2s, probes: [{type: heartbeat, every: 1s, stale_after: 8s, token_file: a.token}]")
}

// report reports for berlin/a over the control socket, and gives the status.
func (r *running) report(token, body string) int {
	r.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.socket())
	}}}
	req, err := http.NewRequest(http.MethodPost, "http://dnsteer/api/v1/heartbeat/berlin/a", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func (r *running) node() (n sites.NodeView) {
	r.t.Helper()
	st, err := r.Status(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return st.Sites[0].Nodes[0]
}

// From the report to DNS: a node that reports is answered with its figures, one
// that falls silent is taken out, a reload loses no report and takes a new token
// at once, and a restart moves nothing.
func TestHeartbeats(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.beating("the-first-token-of-a"))
	r := w.start()
	if status := r.report("not-the-token-of-a", ""); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	stop := make(chan struct{})
	token := make(chan string, 1)
	token <- "the-first-token-of-a"
	done := make(chan struct{})
	go func() {
		defer close(done)
		now := <-token
		for {
			if status := r.report(now, `{"sessions": 3, "load": 0.5}`); status != http.StatusNoContent {
				t.Errorf("a report: %d", status)
			}
			select {
			case <-stop:
				return
			case now = <-token:
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	r.until("a is up with its figures", func() bool {
		n := r.node()
		return n.Word == sites.WordUp && n.Figures.String() == "3 sessions, load 0.50"
	})
	out, err := r.Explain(context.Background(), "berlin/a")
	if err != nil || !strings.Contains(out.Sentences[0], "Its work: 3 sessions, load 0.50.") {
		t.Errorf("explain: %v, %v", out, err)
	}
	if report, err := r.Probe(context.Background(), "berlin", "a"); err != nil || report.Lines[0].Checks[0].Outcome != "up" {
		t.Errorf("probe: %+v, %v", report, err)
	}
	close(stop)
	<-done
	w.write(w.beating("the-second-token-of-a"))
	if _, err := r.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r.report("the-first-token-of-a", "") != http.StatusUnauthorized || r.report("the-second-token-of-a", "") != http.StatusNoContent {
		t.Error("the new token is not the one that counts")
	}
	if n := r.node(); n.Word != sites.WordUp {
		t.Errorf("after the reload it is %s", n.Word)
	}
	e := r.await("failover_outage berlin/a")
	if !strings.Contains(e.Text, "the last report came") {
		t.Errorf("the outage: %s", e.Text)
	}
	r.report("the-second-token-of-a", `{"healthy": false}`)
	r.until("it says so itself", func() bool { return r.node().Lines[0].Checks[0].Cause == "unhealthy" })
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.until("nothing is known after the start", func() bool {
		c := r.node().Lines[0].Checks
		return len(c) == 1 && c[0].Outcome == "unknown" && c[0].Cause == "awaited"
	})
	if n := r.node(); n.Word != sites.WordOut {
		t.Errorf("after the restart it is %s", n.Word)
	}
}

// After a sleep of the controller what nodes have said before is too old to be
// held against them: it must listen anew before it asks anything.
func TestHeartbeatsAfterSleep(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.beating("the-first-token-of-a"))
	r := w.start()
	r.report("the-first-token-of-a", "")
	r.until("a is up", func() bool { return r.node().Word == sites.WordUp })
	told := make(chan bool, 1)
	err := r.loop.do(context.Background(), func() {
		blind := r.loop.blind
		r.loop.blind = func() {
			blind()
			told <- true
		}
		now := r.instant()
		r.loop.follow(now, engine.Turn{Effects: sites.Effects{Blind: true}})
		r.loop.blind = blind
	})
	if err != nil {
		t.Fatal(err)
	}
	<-told
	r.until("nothing is known", func() bool { return r.node().Lines[0].Checks[0].Cause == "awaited" })
}
