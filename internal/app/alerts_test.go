package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// postbox is a mail server and a webhook receiver that keep what they get.
type postbox struct {
	mu    sync.Mutex
	mails []*mail.Message
	calls []alert.Message
	port  int
	hook  *httptest.Server
	conns int
}

// newPostbox starts one; a mute one greets no client.
func newPostbox(t *testing.T, mute bool) *postbox {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	p := &postbox{port: ln.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns++
			p.mu.Unlock()
			go p.serve(conn, mute)
		}
	}()
	p.hook = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m alert.Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, m)
	}))
	t.Cleanup(p.hook.Close)
	return p
}

func (p *postbox) serve(conn net.Conn, mute bool) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for mute && in.Scan() {
	}
	_, _ = fmt.Fprint(conn, "220 mail.example.com\r\n")
	for in.Scan() {
		answer := "250 ok"
		switch step, _, _ := strings.Cut(in.Text(), " "); step {
		case "DATA":
			_, _ = fmt.Fprint(conn, "354 go on\r\n")
			var text strings.Builder
			for in.Scan() && in.Text() != "." {
				text.WriteString(in.Text() + "\r\n")
			}
			if m, err := mail.ReadMessage(strings.NewReader(text.String())); err == nil {
				p.mu.Lock()
				p.mails = append(p.mails, m)
				p.mu.Unlock()
			}
		case "QUIT":
			answer = "221 bye"
		}
		_, _ = fmt.Fprintf(conn, "%s\r\n", answer)
	}
}

// got counts the mails and the calls of a phase whose subject has a text.
func (p *postbox) got(text string, phase alert.Phase) (mails, calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.mails {
		resolved := strings.Contains(m.Header.Get("Subject"), "Resolved after")
		if strings.Contains(m.Header.Get("Subject"), text) && resolved == (phase == alert.Resolved) {
			mails++
		}
	}
	for i := range p.calls {
		if strings.Contains(p.calls[i].Subject, text) && p.calls[i].Phase == phase {
			calls++
		}
	}
	return mails, calls
}

// alerted is the usual configuration with alerts into a postbox.
func (w *world) alerted(p *postbox) string {
	return w.config() + fmt.Sprintf(`alerts:
  smtp: {host: 127.0.0.1, port: %d, encryption: none, from: dnsteer@example.com, to: ops@example.com}
  webhooks: [{name: ops, url: %q}]
  group: 100ms
  wait: 100ms
`, p.port, p.hook.URL)
}

// The whole way from a node that dies to people: nobody would be told that a node
// is out of DNS, or that it is back, or the end would open a thread of its own, or
// a restart would tell all of it again.
func TestAlertsArrive(t *testing.T) {
	w := newWorld(t, "berlin")
	box := newPostbox(t, false)
	w.write(w.alerted(box))
	r := w.start()
	r.settled()
	node := w.sites[0].nodes["a"]
	node.off()
	r.await("failover_outage berlin/a")
	const out = "Taken out of DNS: berlin/a"
	both := func(phase alert.Phase) func() bool {
		return func() bool { m, c := box.got(out, phase); return m == 1 && c == 1 }
	}
	// What has arrived is sent again after a stop before the reply was read.
	taken := func() bool {
		st, err := r.Alerts(t.Context())
		return err == nil && !slices.ContainsFunc(st.Channels, func(c alert.ChannelStatus) bool { return c.Queued > 0 })
	}
	r.until("the outage is told by both", both(alert.Firing))
	r.until("both know", taken)
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.until("the node is known to be down", func() bool {
		st, err := r.Status(t.Context())
		return err == nil && len(st.Alerts.Failing) == 0 && r.asks(w.sites[0], "app.example.lan") == w.sites[0].all(12)
	})
	node.on(t)
	r.await("failover_failback berlin/a")
	r.until("its end is told by both", both(alert.Resolved))
	r.until("both know", taken)
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	if !both(alert.Firing)() || !both(alert.Resolved)() {
		t.Error("the restart has told something again")
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	first, last := box.mails[0], box.mails[len(box.mails)-1]
	if id := first.Header.Get("Message-Id"); id == "" || last.Header.Get("In-Reply-To") != id {
		t.Errorf("the end answers %q, the beginning is %q", last.Header.Get("In-Reply-To"), id)
	}
	if a, b := box.calls[0], box.calls[len(box.calls)-1]; a.Thread != b.Thread || a.ID == b.ID {
		t.Errorf("calls: %+v, %+v", a, b)
	}
}

// A mail server that hangs would hold up a decision, other channels or the stop.
func TestAMuteMailServerHoldsNothingUp(t *testing.T) {
	w := newWorld(t, "berlin")
	box := newPostbox(t, true)
	w.write(w.alerted(box))
	r := w.start()
	r.settled()
	p := w.sites[0]
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	r.until("the webhook is called", func() bool { _, c := box.got("berlin/a", alert.Firing); return c == 1 })
	r.until("the mail server is tried", func() bool { box.mu.Lock(); defer box.mu.Unlock(); return box.conns > 0 })
	p.nodes["a"].on(t)
	r.await("failover_failback berlin/a")
	if got := r.asks(p, "app.example.lan"); got != p.all(11, 12) {
		t.Errorf("the server answers %s", got)
	}
	if err := r.stopped(); err != nil { // in what time: TestStopWhileEverythingHangs
		t.Error(err)
	}
}
