package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// maxMessage bounds what the phone reads of one message.
const maxMessage = 1 << 20

// phone stands for the one in somebody's pocket: it takes the alerts by a webhook
// and shows them.
type phone struct {
	screen *screen
	server *http.Server
	addr   net.Addr
}

// open waits for messages on a free port of loopback.
func (p *phone) open() error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the demo's phone: %w", err)
	}
	p.addr = l.Addr()
	p.server = &http.Server{Handler: http.HandlerFunc(p.take), ReadTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(l) }() // ends with close
	return nil
}

func (p *phone) close() {
	if p.server != nil {
		_ = p.server.Close() // whoever sends is told by it
	}
}

// config is where the alerts go.
func (p *phone) config() string {
	return fmt.Sprintf("alerts:\n  group: 2s\n  webhooks: [{name: phone, url: \"http://%s/\"}]\n", p.addr)
}

// take shows a message as a phone would: what it is about, and how it goes on.
func (p *phone) take(w http.ResponseWriter, r *http.Request) {
	var m alert.Message
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMessage)).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.screen.printf("%s", shown(&m))
}

func shown(m *alert.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "   [phone] %s\n", m.Title())
	for _, list := range [][]string{m.LeftAlone, m.Next} {
		for _, text := range list {
			fmt.Fprintf(&b, "           %s\n", text)
		}
	}
	return b.String()
}
