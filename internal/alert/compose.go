package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// Bounds of what one message shows.
const (
	maxShown    = 30 // events
	maxSubjects = 3  // names in a subject
	maxAdvised  = 5  // subjects with commands and outlooks
)

// told is an event that a message tells of.
type told struct {
	Event sites.Event `json:"event"`
	// Explain is what the machine said of its subject at that time.
	Explain []string `json:"explain,omitempty"`
	// End resolved it; zero while it lasts.
	End sites.Event `json:"end,omitzero"`
}

func (t *told) ended() bool { return t.End.ID != 0 }

// compose makes a message of what it tells of; at least one event. The IDs, the
// phase and the times are the caller's.
func compose(list []told, phase Phase) Message {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b told) int { return weight(&b.Event) - weight(&a.Event) })
	m := Message{Version: Version, Phase: phase, Count: len(list), Drill: true}
	moved := make(map[string]bool)
	for i := range list {
		e := &list[i].Event
		m.Drill = m.Drill && e.Drill
		if rank(e.Severity) > rank(m.Severity) || m.Severity == "" {
			m.Severity = e.Severity
		}
		if e.Kind == sites.FailoverOutage {
			moved[e.Subject()] = true
		}
	}
	m.Subject = subject(list)
	c := composer{m: &m, moved: moved, said: make(map[string]bool)}
	for i := range list {
		c.add(&list[i])
	}
	if more := len(list) - maxShown; more > 0 {
		c.say(&m.What, fmt.Sprintf("And %d more.", more))
	}
	return m
}

// composer fills a message, and says nothing twice.
type composer struct {
	m       *Message
	moved   map[string]bool // nodes that were taken out of DNS
	said    map[string]bool
	advised []string // subjects
}

func (c *composer) say(list *[]string, text string) {
	if text != "" && !c.said[text] {
		c.said[text] = true
		*list = append(*list, text)
	}
}

func (c *composer) add(t *told) {
	m, e := c.m, &t.Event
	if len(m.Events) < maxShown {
		m.Events = append(m.Events, shown(e))
		if t.ended() {
			m.Events = append(m.Events, shown(&t.End))
		}
		c.sentences(t)
	}
	name := e.Subject()
	if !slices.Contains(c.advised, name) {
		if len(c.advised) >= maxAdvised {
			return
		}
		c.advised = append(c.advised, name)
		if name != "" {
			c.say(&m.Commands, "dnsteer explain "+name)
		}
	}
	for _, x := range t.Explain {
		if m.Phase != Resolved {
			c.say(&m.Next, x)
		}
	}
	if m.Phase != Resolved {
		c.say(&m.Commands, helps(e))
	}
}

// sentences says what happened, what was done and what was not.
func (c *composer) sentences(t *told) {
	m, e := c.m, &t.Event
	if m.Phase == Resolved && t.ended() {
		c.say(&m.What, t.End.Text)
		c.say(&m.Evidence, "It had begun so: "+e.Text)
		return
	}
	switch head := headline(e); {
	case e.Kind == sites.NodeOffline && c.moved[e.Subject()]:
		c.say(&m.Evidence, e.Text) // the other event of the node says what was done
		return
	case head == "" || head+"." == e.Text:
		c.say(&m.What, e.Text)
	default:
		c.say(&m.What, head+".")
		c.say(&m.Evidence, e.Text)
	}
	if e.By != "" || e.Reason != "" {
		c.say(&m.Evidence, strings.TrimSuffix("By "+e.By+": "+e.Reason, ": ")+".")
	}
	if t.ended() {
		c.say(&m.What, "That is over: "+t.End.Text)
		return
	}
	done, alone := course(e)
	c.say(&m.Done, done)
	c.say(&m.LeftAlone, alone)
}

// subject says in one line what a list of events is about, heaviest first.
func subject(list []told) string {
	first := &list[0].Event
	var names []string
	named := make(map[string]bool)
	others := 0
	for i := range list {
		switch e := &list[i].Event; {
		case named[about(e)]:
		case e.Kind == first.Kind:
			names, named[about(e)] = append(names, about(e)), true
		case e.Kind != sites.NodeOffline:
			others++
		}
	}
	text := headline(first)
	if len(names) > maxSubjects {
		slices.SortFunc(names, byNumber) // they came in the order of the probes
	}
	if len(names) > 1 {
		text = headlineOf(first.Kind, several(names))
	}
	if text == "" {
		text, _, _ = strings.Cut(first.Text, ". ")
		text = strings.TrimSuffix(text, ".")
		if len(names) > 1 {
			text += fmt.Sprintf(", and %d more", len(names)-1)
		}
	}
	if others > 0 && len(names) <= 1 {
		text += fmt.Sprintf(" (and %d more)", others)
	}
	return clip(oneLine(text), 160)
}

// byNumber compares names as people do: node9 comes before node10.
func byNumber(a, b string) int {
	digits := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
	for x, y := a, b; x != "" && y != ""; {
		if m, n := digits(x), digits(y); m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// several names some of many.
func several(names []string) string {
	if more := len(names) - maxSubjects; more > 0 {
		return fmt.Sprintf("%d nodes (%s and %d more)", len(names), strings.Join(names[:maxSubjects], ", "), more)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
