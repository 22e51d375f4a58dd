package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// Alerter tells people of events.
type Alerter interface {
	// Alerts tells how the channels fare and what waits; nil where none is
	// configured.
	Alerts(ctx context.Context) (*alert.Status, error)
	// TestAlerts sends a test message by a channel, or by each for an empty name.
	// An unknown channel is a [NotFoundError].
	TestAlerts(ctx context.Context, channel string) ([]alert.TestReport, error)
}

// AlertTests is how the test messages fared.
type AlertTests struct {
	Tests []alert.TestReport `json:"tests"`
}

func (h *Handler) alerts(w http.ResponseWriter, r *http.Request) error {
	s, err := h.Alerter.Alerts(r.Context())
	if err != nil {
		return err
	}
	if s == nil {
		s = &alert.Status{Channels: []alert.ChannelStatus{}, Open: []alert.Incident{}}
	}
	writeJSON(w, s)
	return nil
}

func (h *Handler) testAlerts(w http.ResponseWriter, r *http.Request) error {
	v, err := parameters(r.URL, "channel")
	if err != nil {
		return err
	}
	if err := Unhurried(w); err != nil {
		return err
	}
	list, err := h.Alerter.TestAlerts(r.Context(), v.Get("channel"))
	if err != nil {
		return err
	}
	writeJSON(w, AlertTests{listed(list)})
	return nil
}

// Alerts tells how the alert channels fare, and what waits.
func (c *Client) Alerts(ctx context.Context) (s alert.Status, err error) {
	return s, c.get(ctx, "/api/v1/alerts", &s)
}

// TestAlerts sends a test message by a channel, or by each for an empty name.
func (c *Client) TestAlerts(ctx context.Context, channel string) ([]alert.TestReport, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var t AlertTests
	err := c.ask(ctx, http.MethodPost, "/api/v1/alerts/test?channel="+url.QueryEscape(channel), nil, &t)
	return t.Tests, err
}
