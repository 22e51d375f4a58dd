package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// The pace of what is told of one incident or of one kind of thing.
const (
	// spacing lies between two messages that begin something of one class on one
	// route, critical ones aside: a storm is told once a minute.
	spacing = time.Minute
	// partly lies between two messages about parts of an incident that are over, or have
	// news that are no worse.
	partly = 5 * time.Minute
	// uncovered is the least that is waited when what stood for an incident has
	// ended and the incident has not.
	uncovered = time.Minute
	// longestPlan is the longest that anything is put off, but for reminders.
	longestPlan = 2 * time.Hour
)

// Book knows what has happened and what was told of it. It has no clock, no
// goroutine and does no I/O: what it is given and when decides alone.
type Book struct {
	routes []Route
	group  time.Duration
	// planned is when an operator or a window last took a node of a site away or
	// gave it back: a switch at that moment is no surprise.
	planned map[string]time.Time
	// changes counts what has changed, looked is that count when it was last asked what
	// is due, and next what it said then of when to ask again.
	changes, looked uint64
	next            time.Time
	saved
}

// saved is what of a book survives a restart.
type saved struct {
	// Last is the last event that was taken in.
	Last uint64 `json:"last"`
	// Open are the incidents by the ID that an event would name that ends it.
	Open    map[uint64]*told `json:"open"`
	Waiting []*waiting       `json:"waiting,omitempty"`
	Cases   []*incident      `json:"cases,omitempty"`
	// Begun is when something of a class was last told, by route and class.
	Begun map[string]time.Time `json:"begun,omitempty"`
}

// waiting is something that may have to be told.
type waiting struct {
	told
	Route string `json:"route"`
	// To are the route's channels that no earlier route has served.
	To []string  `json:"to"`
	At time.Time `json:"at"`
}

// incident is what was told and is not over yet: one thread.
type incident struct {
	Thread   string   `json:"thread"`
	Sent     int      `json:"sent"`
	Route    string   `json:"route"`
	Class    string   `json:"class"`
	To       []string `json:"to"`
	Fallback []string `json:"fallback,omitempty"`
	// Heard are channels that were told of it in the place of others.
	Heard    []string  `json:"heard,omitempty"`
	Subject  string    `json:"subject"`
	Members  []*member `json:"members"`
	LastSent time.Time `json:"last_sent"`
	// Due is when there is something to be said of it; zero for nothing.
	Due time.Time `json:"due,omitzero"`
	// Remind is how often it is said that it lasts; 0 for never.
	Remind time.Duration `json:"remind,omitempty"`
}

// member is one thing of an incident.
type member struct {
	told
	EndTold bool `json:"end_told,omitempty"`
	// News: it goes on in another way than was told; Worse: and that is worse.
	News  bool `json:"news,omitempty"`
	Worse bool `json:"worse,omitempty"`
}

// over says whether nothing more is to come of a member.
func (m *member) over() bool { return m.ended() || !lasting(m.Event.Kind) }

// Outgoing is a message on its way to channels. Also are those that stood in when
// another of its thread was told, for which this is the end.
type Outgoing struct {
	To, Fallback, Also []string
	Message            Message
}

// NewBook makes a book that has taken in all events up to last.
func NewBook(routes []Route, group time.Duration, last uint64) *Book {
	return &Book{
		routes: routes, group: group, planned: make(map[string]time.Time), changes: 1,
		saved: saved{Last: last, Open: make(map[uint64]*told), Begun: make(map[string]time.Time)},
	}
}

// Load takes over what [Book.Encode] gave. What is planned for a time that the
// book plans nothing for, because the clock was wrong then, is due now.
func (b *Book) Load(data []byte, now time.Time) error {
	s := saved{Open: make(map[uint64]*told), Begun: make(map[string]time.Time)}
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read what is known of alerts: %w", err)
	}
	s.Waiting = slices.DeleteFunc(s.Waiting, func(w *waiting) bool { return w == nil })
	s.Cases = slices.DeleteFunc(s.Cases, func(c *incident) bool { return c == nil || slices.Contains(c.Members, nil) })
	for id, t := range s.Open {
		if t == nil {
			delete(s.Open, id)
		}
	}
	limit := now.Add(longestPlan)
	for _, w := range s.Waiting {
		if w.At.After(limit) {
			w.At = now
		}
	}
	for _, c := range s.Cases {
		if c.Due.After(limit) {
			c.Due = now
		}
		if c.LastSent.After(now) {
			c.LastSent = now
		}
	}
	for key, at := range s.Begun {
		if at.After(now) {
			delete(s.Begun, key)
		}
	}
	b.saved = s
	b.changes++
	return nil
}

// Changes counts what has changed: while it stays the same, so does all that a book holds,
// and what it encodes.
func (b *Book) Changes() uint64 { return b.changes }

// Rewind has a book take in the events after last, where it knew of more.
func (b *Book) Rewind(last uint64) {
	if last < b.Last {
		b.Last = last
		b.changes++
	}
}

// Encode gives what survives a restart.
func (b *Book) Encode() ([]byte, error) { return json.Marshal(b.saved) }

// Take enters an event, with what the machine says of its subject. An event that
// was taken in before changes nothing. now, as everywhere in a book, is the wall clock
// ([Book.Shift]).
func (b *Book) Take(e sites.Event, explain []string, now time.Time) {
	if e.ID <= b.Last {
		return
	}
	b.Last = e.ID
	b.changes++
	e.Time = e.Time.Round(0) // what a monotonic clock says is not shifted
	switch e.Kind {
	case sites.FailoverMaintenance, sites.NodeDisabled, sites.NodeEnabled, sites.Paused, sites.Resumed:
		b.planned[e.Site] = e.Time
	case sites.FailoverSwitch:
		if at, ok := b.planned[e.Site]; ok && at.Equal(e.Time) {
			e.Severity = sites.Info
		}
	default:
	}
	t := told{Event: e, Explain: explain}
	earlier, over := b.Open[e.Resolves], isEnd(&e)
	switch {
	case over && earlier == nil:
		// What it ends was never known here: no end without its beginning.
	case over:
		delete(b.Open, e.Resolves)
		b.end(earlier, e, now)
	case earlier != nil && rank(e.Severity) > rank(earlier.Event.Severity):
		// It has become worse: others may want to know, and at once.
		delete(b.Open, e.Resolves)
		b.Open[e.ID] = &t
		b.worsen(earlier, &t, now)
	case earlier != nil:
		delete(b.Open, e.Resolves)
		b.goesOn(earlier, &t, now)
		b.Open[e.ID] = earlier
	default:
		if lasting(e.Kind) {
			b.Open[e.ID] = &t
		}
		b.assign(t, now)
	}
}

// Reload takes other routes into use. What waits for a route that is gone, or for a
// channel that is no longer one of its route, waits for others that take it; what is
// told of is told of to its end by those channels that are left. Incidents of what is
// no longer configured end.
func (b *Book) Reload(routes []Route, group time.Duration, exists func(site, node string) bool, now time.Time) {
	b.routes, b.group = routes, group
	b.changes++
	b.reroute(now)
	for _, id := range sortedKeys(b.Open) {
		t := b.Open[id]
		if e := &t.Event; e.Site != "" && !exists(e.Site, e.Node) {
			delete(b.Open, id)
			b.end(t, sites.Event{
				ID: b.Last, Time: now, Kind: sites.ConfigReloaded, Severity: sites.Info, Site: e.Site, Node: e.Node,
				Text: e.Subject() + " is no longer configured.",
			}, now)
		}
	}
}

// Narrow has an incident go on on those of its channels alone that were told of
// its beginning.
func (b *Book) Narrow(thread string, to []string) {
	b.changes++
	for _, c := range b.Cases {
		if c.id(1) == thread {
			c.To = to
		}
	}
}

// Heard notes that channels were told of an incident in the place of others: they are
// told its end too, whoever works by then.
func (b *Book) Heard(thread string, by []string) {
	b.changes++
	for _, c := range b.Cases {
		if c.id(1) != thread {
			continue
		}
		for _, name := range by {
			if !slices.Contains(c.To, name) && !slices.Contains(c.Heard, name) {
				c.Heard = append(c.Heard, name)
			}
		}
	}
}

// Shift moves all times that are planned, when the wall clock was set.
func (b *Book) Shift(d time.Duration) {
	b.changes++
	for _, w := range b.Waiting {
		w.At = w.At.Add(d)
	}
	for _, c := range b.Cases {
		c.LastSent = c.LastSent.Add(d)
		if !c.Due.IsZero() {
			c.Due = c.Due.Add(d)
		}
	}
	for k, at := range b.Begun {
		b.Begun[k] = at.Add(d)
	}
}

func (b *Book) route(name string) *Route {
	for i := range b.routes {
		if b.routes[i].Name == name {
			return &b.routes[i]
		}
	}
	return nil
}

func (b *Book) wait(w *waiting) time.Duration {
	if r := b.route(w.Route); r != nil && hasty(&w.Event) {
		return r.Wait
	}
	return 0
}

func sortedKeys(m map[uint64]*told) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
