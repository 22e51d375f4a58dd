// Package alert tells people of events, by mail, webhooks and chat services,
// and carries out actions on events.
//
// It follows the stored events beside the decision loop and never slows it. What
// is to be told is kept in the store before it is sent, and stays there until
// the receiver has taken it: at least once, in order on each channel, across
// restarts. A message that may arrive twice bears the same ID both times. What a
// channel does not take delays no other channel.
//
// The book ([Book]) decides what is told, and when; it is pure. The outboxes
// send, and the [Engine] holds both together.
package alert

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Config of the alerts and actions. It is never changed once it is in use.
type Config struct {
	// Instance is the controller's name.
	Instance string
	Channels []Channel
	Routes   []Route
	// Group is how long what belongs together is collected for one message.
	Group time.Duration
	// FallbackAfter is how long a channel may fail before its messages take
	// their fallback too; GiveUp is how long a message is tried.
	FallbackAfter, GiveUp time.Duration
	DeadMan               *DeadMan
	Actions               []Action
}

// Channel is a way to people.
type Channel struct {
	Name string
	// Type is "smtp", "webhook" or "chat".
	Type   string
	Sender Sender
	// Timeout bounds one attempt.
	Timeout time.Duration
}

// Sender sends a message by one channel. It returns within ctx. Each step that a
// person should see is said to log, without secrets. Errors hold no secrets;
// those that say more are a [RefusedError].
type Sender interface {
	Send(ctx context.Context, m *Message, log Dialogue) error
}

// Dialogue takes what is said between a sender and its server, line by line.
type Dialogue func(line string)

// Say says a line; to nobody if there is none.
func (d Dialogue) Say(format string, args ...any) {
	if d != nil {
		d(fmt.Sprintf(format, args...))
	}
}

// RefusedError says more about why a message was not taken.
type RefusedError struct {
	Err error
	// Message: it is this message that is refused, not the channel that fails.
	Message bool
	// After is how long the receiver asks to be left alone; 0 if it does not.
	After time.Duration
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// Partial is an error of some receivers of a message that others have taken:
// it counts as sent, and is told in the log.
type Partial struct{ Err error }

func (e *Partial) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Partial) Unwrap() error { return e.Err }

// refused gives what an error says about a refusal.
func refused(err error) RefusedError {
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return *e
	}
	return RefusedError{Err: err}
}

// Route says which events go to which channels.
type Route struct {
	// Name tells routes apart, across reloads.
	Name string
	Match
	// To and Fallback name channels.
	To, Fallback []string
	// Wait is how long what often ends by itself is waited for; Remind how often
	// is told that something lasts, 0 for never.
	Wait, Remind time.Duration
}

// Match chooses events. Empty lists choose all.
type Match struct {
	// Least is the least severity.
	Least sites.Severity
	// Kinds are patterns as [path.Match] takes them; Sites are names; Nodes are
	// written SITE/NODE.
	Kinds, Sites, Nodes []string
	// NoDrills leaves out what is part of a drill.
	NoDrills bool
}

// Chooses says whether an event is chosen.
func (m *Match) Chooses(e *sites.Event) bool {
	return rank(e.Severity) >= rank(m.Least) &&
		(len(m.Kinds) == 0 || slices.ContainsFunc(m.Kinds, func(p string) bool { return matches(p, e.Kind) })) &&
		(len(m.Sites) == 0 || slices.Contains(m.Sites, e.Site)) &&
		(len(m.Nodes) == 0 || slices.Contains(m.Nodes, e.Site+"/"+e.Node)) &&
		(!m.NoDrills || !e.Drill)
}

func matches(pattern string, k sites.Kind) bool {
	ok, err := path.Match(pattern, string(k))
	return ok && err == nil
}

// rank orders severities.
func rank(s sites.Severity) int {
	switch s {
	case sites.Critical:
		return 2
	case sites.Warning:
		return 1
	default:
		return 0
	}
}

// Secret is something that nobody must see. It prints as <secret>.
type Secret string

// Format writes "<secret>" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

// MarshalText keeps it out of JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte("<secret>"), nil }

// Reveal gives what it is.
func (s Secret) Reveal() string { return string(s) }
