package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// Try connects to the receiver, and verifies its certificate where there is one.
// It sends no request: whether the receiver takes messages, it does not know.
func (h *Hook) Try(ctx context.Context, log alert.Dialogue) error {
	u, err := url.Parse(h.opt.URL.Reveal())
	if err != nil {
		return errors.New("the URL is not valid")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	log.Say("* connect to %s", addr)
	conn, err := h.opt.Dial.Open(ctx, "tcp", addr)
	if err != nil {
		return h.plain(err)
	}
	if u.Scheme == "https" {
		t := tls.Client(conn, &tls.Config{RootCAs: h.opt.Roots, ServerName: u.Hostname(), MinVersion: tls.VersionTLS12})
		if err := t.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return h.plain(err)
		}
	}
	_ = conn.Close() // nothing was sent
	return nil
}
