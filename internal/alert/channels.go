package alert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// The keys under which an engine stores.
const (
	bookKey   = "book"
	queueKey  = "queue/"  // queue/CHANNEL/SEQUENCE
	failedKey = "failed/" // failed/CHANNEL
)

// tellDrops is how often dropping is told of a channel.
const tellDrops = time.Hour

func deliveryKey(channel string, seq uint64) string {
	return fmt.Sprintf("%s%s/%016x", queueKey, channel, seq)
}

// restore takes over what is stored. What cannot be read is named in the log.
func (e *Engine) restore(stored map[string][]byte) {
	fail := func(key string, err error) {
		e.world.Log.Error("a stored alert cannot be read", "key", key, "error", err)
	}
	last := e.book.Last
	if data, ok := stored[bookKey]; ok {
		if err := e.book.Load(data, time.Now()); err != nil {
			fail(bookKey, err)
		}
		// An event may be told of before it is stored, and a kill between the two
		// has the next run give its ID anew.
		e.book.Rewind(last)
	}
	e.actions.restore(stored, fail)
	for key, value := range stored {
		switch rest, ok := strings.CutPrefix(key, failedKey); {
		case ok:
			var id uint64
			if err := json.Unmarshal(value, &id); err != nil {
				fail(key, err)
			}
			if id <= last { // see above
				e.failed[rest] = id
			}
		case strings.HasPrefix(key, pastKey):
			e.recall(key, value, fail)
		case strings.HasPrefix(key, queueKey):
			d := &delivery{}
			name, _, _ := strings.Cut(strings.TrimPrefix(key, queueKey), "/")
			if err := json.Unmarshal(value, d); err != nil {
				fail(key, err)
				e.left[key] = nil
				continue
			}
			o := e.boxes[name]
			if o == nil {
				o = e.newBox(Channel{Name: name})
			}
			d.kept = true
			o.items, o.last = append(o.items, d), max(o.last, d.Seq)
		}
	}
	for _, o := range e.boxes {
		slices.SortFunc(o.items, func(a, b *delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	}
}

func (e *Engine) newBox(c Channel) *outbox {
	o := newOutbox(c, e.world.Log)
	o.gone, o.changed = e.gone, e.changed
	e.boxes[c.Name] = o
	return o
}

// changed is told that a channel begins to fail, or works again: then the others may too,
// for it was our own line, or the name server, that failed them all.
func (e *Engine) changed(works bool) {
	if works {
		e.hurry()
	}
	e.rouse()
}

func (e *Engine) hurry() {
	for _, o := range e.all() {
		o.hurry()
	}
}

// gone is told that a delivery has left its outbox.
func (e *Engine) gone(channel string, d *delivery, why error) {
	e.mu.Lock()
	if why == nil {
		e.left[deliveryKey(channel, d.Seq)] = nil
		e.remember(channel, []*delivery{d}, "")
	} else {
		e.leave(channel, []*delivery{d}, "has not taken it: "+why.Error())
	}
	e.mu.Unlock()
	if why != nil {
		e.tellDropped(channel, []*delivery{d}, why.Error())
	}
	e.rouse()
}

// tellDropped says, now and then, that messages were dropped.
func (e *Engine) tellDropped(channel string, list []*delivery, why string) {
	for _, d := range list {
		e.world.Log.Error("a message was dropped", "channel", channel, "id", d.Message.ID, "subject", d.Message.Subject, "why", why)
	}
	now := time.Now()
	e.mu.Lock()
	if e.boxes[channel] != nil { // else it is configured no more
		e.remember(channel, list, why)
	}
	quiet := now.Sub(e.droppedAt[channel]) < tellDrops
	if !quiet {
		e.droppedAt[channel] = now
	}
	e.mu.Unlock()
	if quiet {
		return
	}
	e.world.Raise(sites.Event{Kind: sites.AlertDropped, Part: channel, Text: fmt.Sprintf(
		"%s for the alert channel %s will not arrive there: %s. The first is %q of %s; the log names all.",
		messages(len(list)), channel, why, list[0].Message.Subject, list[0].Message.Time.Format(time.RFC3339))})
}

// begin starts what the first configuration asks for.
func (e *Engine) begin(ctx context.Context) {
	e.mu.Lock()
	e.fresh = true
	e.mu.Unlock()
	e.reconfigure(ctx)
}

// Reload takes another configuration into use.
func (e *Engine) Reload(cfg *Config) {
	e.mu.Lock()
	e.cfg, e.fresh = cfg, true
	e.mu.Unlock()
	e.rouse()
}

// reconfigure takes a configuration into use that has come.
func (e *Engine) reconfigure(ctx context.Context) {
	e.mu.Lock()
	cfg, changed := e.cfg, e.fresh
	e.fresh = false
	e.mu.Unlock()
	if !changed {
		return
	}
	e.active = cfg.active()
	e.actions.use(cfg)
	e.openBoxes(ctx, cfg)
	e.closeBoxes(cfg)
	e.book.Reload(cfg.Routes, cfg.Group, e.world.Exists, e.look())
	e.book.Adopt(cfg.has, e.look())
	e.keepAlive(ctx, cfg.DeadMan)
}

// openBoxes gives each channel its outbox.
func (e *Engine) openBoxes(ctx context.Context, cfg *Config) {
	for _, c := range cfg.Channels {
		e.mu.Lock()
		o := e.boxes[c.Name]
		if o == nil {
			o = e.newBox(c)
		}
		e.mu.Unlock()
		o.use(c)
		if e.stops[c.Name] == nil {
			own, stop := context.WithCancel(ctx)
			e.stops[c.Name] = stop
			e.running.Go(func() { o.run(own) })
		}
	}
}

// queue puts a message into the outboxes of its channels.
func (e *Engine) queue(out *Outgoing, keep map[string][]byte, now time.Time) {
	m := &out.Message
	m.Instance = e.config().Instance
	to := e.choose(out)
	if m.ID == m.Thread && !slices.Equal(to, out.To) {
		e.book.Narrow(m.Thread, to)
	}
	fallback := slices.DeleteFunc(slices.Clone(out.Fallback), func(name string) bool { return slices.Contains(out.Also, name) })
	for _, name := range to {
		e.put(name, m, fallback, keep, now)
	}
	for _, name := range out.Also {
		if !slices.Contains(to, name) {
			e.put(name, m, nil, keep, now)
		}
	}
}

func (e *Engine) config() *Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg
}

// choose gives the channels for a message. That a channel fails is told by those
// that do not, and so is the rest of that incident.
func (e *Engine) choose(out *Outgoing) []string {
	m := &out.Message
	if m.ID != m.Thread || len(m.Events) == 0 || m.Events[0].Kind != sites.AlertFailed {
		return out.To
	}
	well := func(list []string) (good []string) {
		for _, name := range list {
			if o := e.box(name); o != nil {
				if since, _ := o.troubled(); since.IsZero() {
					good = append(good, name)
				}
			}
		}
		return good
	}
	if good := well(out.To); len(good) > 0 {
		return good
	}
	if good := well(out.Fallback); len(good) > 0 {
		return good
	}
	return out.To
}

func (e *Engine) put(name string, m *Message, fallback []string, keep map[string][]byte, now time.Time) {
	o := e.box(name)
	if o == nil {
		return // a channel that was removed since the incident began
	}
	added, dropped := o.add(m, fallback, now)
	keepDelivery(keep, name, added)
	if dropped != nil {
		e.mu.Lock()
		e.leave(name, []*delivery{dropped}, fmt.Sprintf("has %d messages that wait already", maxQueued))
		e.mu.Unlock()
		e.tellDropped(name, []*delivery{dropped}, fmt.Sprintf("%d messages wait for it already", maxQueued))
	}
}

func keepDelivery(keep map[string][]byte, name string, d *delivery) {
	if data, err := json.Marshal(d); err == nil { // texts, numbers and times: it does not fail
		keep[deliveryKey(name, d.Seq)] = data
	}
}

// judgeChannel raises the events about a channel that fails for long, and works
// again.
func (e *Engine) judgeChannel(name string, since time.Time, err error, limit time.Time, keep map[string][]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, told := e.failed[name]
	switch {
	case !since.IsZero() && !since.After(limit) && !told:
		e.failed[name] = 0
		e.world.Raise(sites.Event{Kind: sites.AlertFailed, Part: name, Text: fmt.Sprintf(
			"Alerts by %s have not got through since %s: %v. They wait and are tried again.", name, since.Format(time.RFC3339), err)})
	case told && id != 0 && since.IsZero() && e.boxes[name].worked():
		delete(e.failed, name)
		keep[failedKey+name] = nil
		e.world.Raise(sites.Event{Kind: sites.AlertRecovered, Part: name, Resolves: id, Text: "Alerts by " + name + " get through again."})
	}
}
