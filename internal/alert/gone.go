package alert

import (
	"maps"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

// closeBoxes gives up the outboxes of channels that are gone. What waits in them
// is dropped, and that is told.
func (e *Engine) closeBoxes(cfg *Config) {
	e.mu.Lock()
	var orphans []*outbox
	for name, o := range e.boxes {
		if !cfg.has(name) {
			orphans = append(orphans, o)
			delete(e.boxes, name)
			delete(e.past, name)
			e.left[pastKey+name] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.failed)) {
		if !cfg.has(name) {
			e.forget(name, e.failed[name])
			delete(e.failed, name)
			e.left[failedKey+name] = nil
		}
	}
	e.mu.Unlock()
	for _, o := range orphans {
		o.mu.Lock()
		name, items := o.channel.Name, o.items
		o.items = nil
		o.mu.Unlock()
		if stop := e.stops[name]; stop != nil {
			stop()
			delete(e.stops, name)
		}
		e.mu.Lock()
		e.leave(name, items, "is no longer configured")
		e.mu.Unlock()
		for _, d := range items {
			e.book.Heard(d.Message.Thread, d.Fallback) // soon; who is left of an incident is asked before
		}
		if len(items) > 0 {
			e.tellDropped(name, items, "the channel is no longer configured")
		}
	}
}

// forget tells that nothing fails any more of a channel that is gone: nothing else
// would ever end what was told of it, by the event id.
func (e *Engine) forget(name string, id uint64) {
	if id != 0 {
		e.world.Raise(sites.Event{Kind: sites.AlertRecovered, Part: name, Resolves: id, Text: "The alert channel " + name + " is no longer configured."})
	}
}
