package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Status is what is known of the alerts.
type Status struct {
	Channels []ChannelStatus `json:"channels"`
	// Open are the incidents that were told and last; Waiting counts what waits
	// to be told.
	Open    []Incident    `json:"open"`
	Waiting int           `json:"waiting"`
	DeadMan *DeadManState `json:"dead_man,omitempty"`
}

// ChannelStatus is about one channel.
type ChannelStatus struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Queued int    `json:"queued"`
	// Oldest is when the first message that waits happened.
	Oldest time.Time `json:"oldest,omitzero"`
	// LastSent is when a message was last taken, since the start.
	LastSent time.Time `json:"last_sent,omitzero"`
	// Failing is since when it takes none, for the reason Error.
	Failing time.Time `json:"failing,omitzero"`
	Error   string    `json:"error,omitempty"`
	// Next is when it is tried again.
	Next time.Time `json:"next,omitzero"`
	// Dropped counts messages that will never arrive, since the start.
	Dropped int `json:"dropped,omitempty"`
	// Taken and Refused count the attempts since the start, for the metrics.
	Taken   int      `json:"-"`
	Refused int      `json:"-"`
	Queue   []Queued `json:"queue"`
	// Past are the last messages that wait no more, the newest first.
	Past []Delivered `json:"past"`
}

// Queued is a message that waits.
type Queued struct {
	ID       string         `json:"id"`
	Time     time.Time      `json:"time"`
	Phase    Phase          `json:"phase"`
	Severity sites.Severity `json:"severity"`
	Subject  string         `json:"subject"`
}

// Incident was told and lasts.
type Incident struct {
	Thread   string    `json:"thread"`
	Since    time.Time `json:"since"`
	LastSent time.Time `json:"last_sent"`
	Sent     int       `json:"sent"`
	To       []string  `json:"to"`
	Subject  string    `json:"subject"`
}

// DeadManState is about the calls of the dead man's switch.
type DeadManState struct {
	Last  time.Time `json:"last,omitzero"`
	Error string    `json:"error,omitempty"`
}

// maxListed bounds the messages that are listed of a queue.
const maxListed = 100

// Status gives what is known now; nil where nothing is configured.
func (e *Engine) Status() *Status {
	cfg := e.config()
	if !cfg.active() && cfg.DeadMan == nil {
		return nil
	}
	s := &Status{Channels: []ChannelStatus{}, Open: []Incident{}}
	for _, o := range e.all() {
		s.Channels = append(s.Channels, o.status())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range s.Channels {
		s.Channels[i].Past = append([]Delivered{}, e.past[s.Channels[i].Name]...)
	}
	s.Open, s.Waiting = append(s.Open, e.open...), e.waiting
	if cfg.DeadMan != nil {
		s.DeadMan = &DeadManState{Last: e.beat.last}
		if e.beat.err != nil {
			s.DeadMan.Error = e.beat.err.Error()
		}
	}
	return s
}

func (o *outbox) status() ChannelStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := ChannelStatus{
		Name: o.channel.Name, Type: o.channel.Type, Queued: len(o.items), LastSent: o.sent,
		Failing: o.failing, Dropped: o.dropped, Taken: o.taken, Refused: o.missed, Queue: []Queued{},
	}
	switch {
	case !o.failing.IsZero():
		c.Error = o.err.Error()
	case o.partial != nil:
		c.Error = o.partial.Error()
	}
	if o.err != nil {
		c.Next = o.next
	}
	for i, d := range o.items {
		if i == 0 {
			c.Oldest = d.Message.Time
		}
		if i < maxListed {
			c.Queue = append(c.Queue, Queued{d.Message.ID, d.Message.Time, d.Message.Phase, d.Message.Severity, d.Message.Title()})
		}
	}
	return c
}

// publish copies what people may ask for from the book, where that has changed.
func (e *Engine) publish() {
	if e.shown == e.book.Changes() {
		return
	}
	e.shown = e.book.Changes()
	var open []Incident
	for _, c := range e.book.Cases {
		open = append(open, Incident{c.Thread, c.since(), c.LastSent, c.Sent, c.To, c.Subject})
	}
	e.mu.Lock()
	e.open, e.waiting = open, len(e.book.Waiting)
	e.mu.Unlock()
}

// TestReport says how a message of a test fared on one channel.
type TestReport struct {
	Channel string `json:"channel"`
	Type    string `json:"type"`
	OK      bool   `json:"ok"`
	// Dialogue is what was said between the controller and the server, without
	// secrets.
	Dialogue []string `json:"dialogue"`
	Error    string   `json:"error,omitempty"`
}

// UnknownChannelError names a channel that is not configured.
type UnknownChannelError struct {
	Name  string
	Known []string
}

func (e *UnknownChannelError) Error() string {
	if len(e.Known) == 0 {
		return "no alert channel is configured: see the key \"alerts\""
	}
	return fmt.Sprintf("there is no alert channel %q, expected one of %v", e.Name, e.Known)
}

// Test sends a message by one channel, or by each for an empty name, beside
// their queues.
func (e *Engine) Test(ctx context.Context, channel string) ([]TestReport, error) {
	cfg := e.config()
	var names []string
	var list []TestReport
	for _, c := range cfg.Channels {
		names = append(names, c.Name)
		if channel == "" || channel == c.Name {
			list = append(list, Try(ctx, c, cfg.Instance))
		}
	}
	if len(list) == 0 {
		return nil, &UnknownChannelError{channel, names}
	}
	return list, nil
}

// Try sends a test message by a channel.
func Try(ctx context.Context, c Channel, instance string) TestReport {
	now := time.Now()
	m := Sample(Test, now)
	m.Instance = instance
	r := TestReport{Channel: c.Name, Type: c.Type, Dialogue: []string{}}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := guarded(ctx, c.Sender, &m, func(line string) { r.Dialogue = append(r.Dialogue, line) })
	r.OK = err == nil
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// Sample gives a message of a phase about events that never were: templates are
// rendered with it before they are used, and channels are tried with it.
func Sample(p Phase, now time.Time) Message {
	e := sites.Event{
		ID: 1, Time: now, Kind: sites.FailoverOutage, Severity: sites.Warning, Site: "berlin", Node: "a",
		Text: "berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.",
	}
	t := told{Event: e, Explain: []string{"berlin/a is out of DNS; it does not answer (connection refused). It comes back into DNS when it has answered for 5m."}}
	switch p {
	case Resolved:
		t.Event.Time = now.Add(-10 * time.Minute)
		t.End = sites.Event{ID: 2, Time: now, Kind: sites.FailoverFailback, Severity: sites.Info, Site: "berlin", Node: "a", Resolves: 1, Text: "berlin/a is back in DNS: it has answered for 5m (grace 5m)."}
	case Reminder, Update:
		t.Event.Time = now.Add(-4 * time.Hour)
	case Test:
		t = told{Event: sites.Event{ID: 0, Time: now, Kind: "test", Severity: sites.Info, Text: "This is a test of dnsteer's alerts. Nothing has happened."}}
	case Firing:
	}
	m := compose([]told{t}, p)
	m.Time, m.Since, m.Ended = now, t.Event.Time, t.End.Time
	m.Lasted = int64(m.Time.Sub(m.Since) / time.Second)
	m.Instance = "hq"
	m.ID = fmt.Sprintf("test-%x", now.UnixNano())
	m.Thread = m.ID
	if p == Test {
		m.Commands = []string{"dnsteer alert list"}
	}
	return m
}

// Samples gives one message of each phase, and one of many events in a drill.
func Samples(now time.Time) (list []Message) {
	for _, p := range []Phase{Firing, Update, Reminder, Resolved, Test} {
		list = append(list, Sample(p, now))
	}
	var many []told
	for _, k := range sites.Kinds() {
		many = append(many, told{Event: sites.Event{
			ID: uint64(len(many) + 1), Time: now, Kind: k, Severity: k.Severity(), Site: "berlin", Node: "a",
			Text: "Something happened.", Drill: true, By: "operator", Reason: "a reason",
		}})
	}
	m := compose(slices.Clip(many), Firing)
	m.Time, m.Since, m.ID, m.Thread, m.Instance = now, now, "test", "test", "hq"
	return append(list, m)
}
