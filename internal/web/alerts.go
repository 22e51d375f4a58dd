package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/sites"
)

// message is an alert as it is shown: when, what, and what became of it on each
// channel.
type message struct {
	ID, Subject string
	Time        time.Time
	Phase       alert.Phase
	Tone        Tone
	To          []delivered
}

// delivered is what became of a message on one channel.
type delivered struct {
	Channel string
	Sign    sign
	// At is when it was taken or given up, or when it is tried again; Error is why
	// it was not taken.
	At    time.Time
	Error string
}

// maxOpen bounds the incidents that are listed; all of them are in the status of the alerts.
const maxOpen = 100

// alerts is the page of who is told of what.
func (h *Handler) alerts(v *visit) error { return h.alertsPage(v, nil) }

// testAlerts sends a test message and shows how that went.
func (h *Handler) testAlerts(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), targetTime)
	defer cancel()
	list, err := h.Alerter.TestAlerts(ctx, v.r.PathValue("channel"))
	if err != nil {
		return err
	}
	return h.alertsPage(v, list)
}

func (h *Handler) alertsPage(v *visit, tests []alert.TestReport) error {
	st, err := h.Alerter.Alerts(v.r.Context())
	if err != nil {
		return err
	}
	page := struct {
		Status   *alert.Status
		Open     []alert.Incident
		MoreOpen int // that are not listed
		Messages []message
		Tests    []alert.TestReport
	}{Status: st, Tests: tests}
	if st != nil {
		page.Messages = messages(st)
		page.Open = st.Open[:min(len(st.Open), maxOpen)]
		page.MoreOpen = len(st.Open) - len(page.Open)
	}
	v.title, v.menu = "Alerts", "alerts"
	return h.show(v, "alerts", page)
}

// messages puts together what the channels say of each message, the newest first.
func messages(st *alert.Status) []message {
	byID := make(map[string]*message)
	get := func(id, subject string, at time.Time, phase alert.Phase, severity sites.Severity) *message {
		m := byID[id]
		if m == nil {
			m = &message{ID: id, Subject: subject, Time: at, Phase: phase, Tone: Calm}
			if phase == alert.Firing {
				m.Tone = map[sites.Severity]Tone{sites.Critical: Gone, sites.Warning: Watch, sites.Info: Calm}[severity]
			}
			byID[id] = m
		}
		return m
	}
	for i := range st.Channels {
		c := &st.Channels[i]
		for j := range c.Queue {
			q := &c.Queue[j]
			d := delivered{Channel: c.Name, Sign: sign{"recovering", "waits", Watch}}
			if j == 0 {
				d.At, d.Error = c.Next, c.Error
			}
			m := get(q.ID, q.Subject, q.Time, q.Phase, q.Severity)
			m.To = append(m.To, d)
		}
		for j := range c.Past {
			p := &c.Past[j]
			d := delivered{Channel: c.Name, Sign: sign{"up", "delivered", Calm}, At: p.Left, Error: p.Error}
			if p.Error != "" {
				d.Sign = sign{"out", "given up", Gone}
			}
			m := get(p.ID, p.Subject, p.Time, p.Phase, p.Severity)
			m.To = append(m.To, d)
		}
	}
	list := make([]message, 0, len(byID))
	for _, m := range byID {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b message) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID)) })
	return list
}
