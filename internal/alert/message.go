package alert

import (
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Version of the form that a message has in JSON. Fields may be added to it; one
// that is changed or removed raises it.
const Version = 1

// Phase says where a message stands in the course of what it tells of.
type Phase string

// The phases.
const (
	// Firing: something began, or happened.
	Firing Phase = "firing"
	// Update: something more is known of what was told.
	Update Phase = "update"
	// Reminder: it lasts.
	Reminder Phase = "reminder"
	// Resolved: it is over.
	Resolved Phase = "resolved"
	// Test: somebody tries the channel.
	Test Phase = "test"
)

// Message is what is told, the same on every channel.
type Message struct {
	Version int `json:"version"`
	// ID is the same each time the message is sent: who has it drops a double.
	ID string `json:"id"`
	// Thread is the ID of the first message of the same incident.
	Thread   string         `json:"thread"`
	Phase    Phase          `json:"phase"`
	Severity sites.Severity `json:"severity"`
	Drill    bool           `json:"drill"`
	Instance string         `json:"instance"`
	// Subject says it all in one line, without the instance.
	Subject string `json:"subject"`
	// Time is when what the message tells of happened; Since when the incident
	// began; Ended when it was over.
	Time  time.Time `json:"time"`
	Since time.Time `json:"since"`
	Ended time.Time `json:"ended,omitzero"`
	// Lasted is how long the incident has lasted at Time, in seconds.
	Lasted int64 `json:"lasted_seconds"`
	// Count is how many events the message stands for, also those that Events
	// leaves out.
	Count int `json:"count"`
	// What happened, on what evidence, what was done, what was left alone and
	// what comes next, as sentences; and commands that help.
	What      []string `json:"what"`
	Evidence  []string `json:"evidence,omitempty"`
	Done      []string `json:"done,omitempty"`
	LeftAlone []string `json:"left_alone,omitempty"`
	Next      []string `json:"next,omitempty"`
	Commands  []string `json:"commands,omitempty"`
	// Notes are about the alerts themselves: what was dropped, why it comes by
	// this channel.
	Notes  []string `json:"notes,omitempty"`
	Events []Event  `json:"events"`
}

// Event is an event as messages show it.
type Event struct {
	ID       uint64         `json:"id"`
	Time     time.Time      `json:"time"`
	Kind     sites.Kind     `json:"kind"`
	Severity sites.Severity `json:"severity"`
	Site     string         `json:"site,omitempty"`
	Node     string         `json:"node,omitempty"`
	Pool     string         `json:"pool,omitempty"`
	Target   string         `json:"target,omitempty"`
	Part     string         `json:"part,omitempty"`
	Text     string         `json:"text"`
	Resolves uint64         `json:"resolves,omitempty"`
	By       string         `json:"by,omitempty"`
	Reason   string         `json:"reason,omitempty"`
}

func shown(e *sites.Event) Event {
	return Event{
		ID: e.ID, Time: e.Time, Kind: e.Kind, Severity: e.Severity, Site: e.Site, Node: e.Node, Pool: e.Pool, Target: e.Target, Part: e.Part,
		Text: e.Text, Resolves: e.Resolves, By: e.By, Reason: e.Reason,
	}
}

// Title is the subject with the instance and the marks that a reader sorts by.
func (m *Message) Title() string {
	mark := ""
	if m.Drill {
		mark = "DRILL: "
	}
	switch {
	case m.Phase == Resolved:
		mark += "Resolved after " + length(m.Lasted) + ": "
	case m.Phase == Reminder:
		mark += "Still, for " + length(m.Lasted) + ": "
	case m.Phase == Update:
		mark += "Update: "
	case m.Severity == sites.Critical:
		mark += "CRITICAL: "
	}
	return oneLine("[" + m.Instance + "] " + mark + m.Subject)
}

// part is a heading with its sentences, each in one line.
type part struct {
	Heading string
	Lines   []string
}

// Parts gives the message's sentences under their headings.
func (m *Message) Parts() []part { //nolint:revive // templates alone use it, whatever its type is called
	var list []part
	add := func(heading string, lines []string) {
		if len(lines) == 0 {
			return
		}
		p := part{Heading: heading}
		for _, l := range lines {
			p.Lines = append(p.Lines, oneLine(l))
		}
		list = append(list, p)
	}
	add("", m.What)
	add("When", []string{m.When()})
	add("Evidence", m.Evidence)
	add("What was done", m.Done)
	add("What was left alone", m.LeftAlone)
	add("What comes next", m.Next)
	add("Commands that help", m.Commands)
	add("About this message", m.Notes)
	return list
}

// When says when it happened, and how long it has lasted.
func (m *Message) When() string {
	const form = "Monday, 2 January 2006, 15:04:05 MST"
	switch {
	case m.Phase == Resolved:
		return fmt.Sprintf("From %s until %s (%s).", m.Since.Format(form), m.Ended.Format(form), length(m.Lasted))
	case m.Phase == Reminder || m.Phase == Update:
		return fmt.Sprintf("Since %s, for %s at the time of this message.", m.Since.Format(form), length(m.Lasted))
	default:
		return "It happened on " + m.Since.Format(form) + "."
	}
}

// Text is the whole message as plain text, without its title.
func (m *Message) Text() string {
	var b strings.Builder
	for i, p := range m.Parts() {
		if i > 0 {
			b.WriteByte('\n')
		}
		indent := ""
		if p.Heading != "" {
			b.WriteString(p.Heading + ":\n")
			indent = "  "
		}
		for _, l := range p.Lines {
			b.WriteString(indent + l + "\n")
		}
	}
	return b.String()
}

// Brief is the message for small screens, below its title: its first sentences,
// when, and what helps.
func (m *Message) Brief() string {
	var lines []string
	for _, list := range [][]string{m.What, {m.When()}, m.Evidence, m.LeftAlone, m.Next, m.Notes} {
		for _, l := range list {
			if l = oneLine(l); l != m.Subject+"." { // the title says that
				lines = append(lines, l)
			}
		}
	}
	if len(m.Commands) > 0 {
		lines = append(lines, "See: "+m.Commands[0])
	}
	return strings.Join(lines, "\n")
}

// length writes a number of seconds for people.
func length(seconds int64) string {
	d := time.Duration(seconds) * time.Second
	days := int64(d / (24 * time.Hour))
	d -= time.Duration(days) * 24 * time.Hour
	h, m, s := int64(d/time.Hour), int64(d%time.Hour/time.Minute), int64(d%time.Minute/time.Second)
	var parts []string
	for _, p := range []struct {
		n    int64
		unit string
	}{{days, "d"}, {h, "h"}, {m, "m"}, {s, "s"}} {
		if p.n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d%s", p.n, p.unit))
		}
	}
	if parts == nil {
		return "0s"
	}
	return strings.Join(parts, " ")
}

// oneLine makes one line of a text, without what would steer a terminal, start
// another header or turn the direction of writing.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029':
			return ' '
		case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
}
