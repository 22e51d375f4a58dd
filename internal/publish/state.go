package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// kept is what of a member survives a restart.
type kept struct {
	// Owned is the journal of what we wrote, where the target has no marks.
	Owned []kRecord `json:"owned,omitempty"`
	// Last is what it was last seen to hold as it should; Seen says whether it
	// ever was.
	Last []kRecord `json:"last,omitempty"`
	Seen bool      `json:"seen,omitempty"`
	// Flight are RRsets that were written to since: they may hold anything of
	// ours.
	Flight []string `json:"flight,omitempty"`
	// Conflicts are RRsets of which others were told to have records.
	Conflicts []string `json:"conflicts,omitempty"`
	// Disabled by an operator.
	Disabled *Order `json:"disabled,omitempty"`
	// Open are problems that were told and have not ended, with their events'
	// IDs (0 while that is not known) and texts.
	Open map[slot]open `json:"open,omitempty"`
	// Drifts counts RRsets that were put right.
	Drifts int `json:"drifts,omitempty"`
}

// clone gives one that shares nothing that is changed in place.
func (k *kept) clone() kept {
	c := *k
	c.Open = maps.Clone(k.Open)
	return c
}

// Order is an operator's word.
type Order struct {
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
}

// slot is a problem that can be open once.
type slot string

// The problems.
const (
	slotFailed   slot = "failed"
	slotDrift    slot = "drift"
	slotConflict slot = "conflict"
	slotVisible  slot = "visible"
	slotInstance slot = "instance"
)

// slots lists them.
func slots() []slot { return []slot{slotFailed, slotConflict, slotDrift, slotVisible, slotInstance} }

// kinds are those of the events that tell of a problem, and of its end.
func (s slot) kinds() (begins, ends sites.Kind) {
	switch s {
	case slotFailed:
		return sites.PublishFailed, sites.PublishRecovered
	case slotVisible:
		return sites.PublishNotVisible, sites.PublishVisible
	case slotInstance:
		return sites.InstanceConflict, sites.InstanceConflictEnded
	case slotDrift, slotConflict:
	}
	return sites.Drift, sites.DriftRepaired
}

type open struct {
	ID       uint64         `json:"id,omitempty"`
	Text     string         `json:"text,omitempty"`
	Severity sites.Severity `json:"severity,omitempty"`
}

// kRecord is a record as it is stored.
type kRecord struct {
	Name string     `json:"n"`
	Addr netip.Addr `json:"a"`
	TTL  int        `json:"t,omitempty"` // seconds
}

func toKept(list []providers.Record) []kRecord {
	out := make([]kRecord, len(list))
	for i, r := range list {
		out[i] = kRecord{r.Name, r.Addr, int(r.TTL / time.Second)}
	}
	return out
}

func fromKept(list []kRecord) []providers.Record {
	out := make([]providers.Record, len(list))
	for i, r := range list {
		out[i] = providers.Record{Name: r.Name, Addr: r.Addr, TTL: time.Duration(r.TTL) * time.Second}
	}
	return out
}

// restore takes what an earlier run has stored.
func (m *member) restore(data []byte) {
	if data == nil {
		return
	}
	if err := json.Unmarshal(data, &m.kept); err != nil {
		m.p.deps.Log.Error("what is known of a target cannot be read and is left out", "target", m.title(), "error", err)
		m.kept = kept{}
	}
	// A kill may come between the storing of what is told and that of its event:
	// then it was told to nobody.
	maps.DeleteFunc(m.kept.Open, func(_ slot, o open) bool { return o.ID == 0 || o.ID > m.p.deps.Last })
}

// encode gives what is to be stored. The caller holds mu.
func (m *member) encode() []byte {
	data, err := json.Marshal(&m.kept)
	if err != nil {
		m.p.deps.Log.Error("what is known of a target cannot be stored", "target", m.title(), "error", err)
	}
	return data
}

// store has it stored soon. The caller holds mu: what is newer is stored later.
func (m *member) store() { m.p.deps.Store.Set(m.key, m.encode()) }

// save has it stored soon, if f has changed it.
func (m *member) save(f func(k *kept)) {
	m = m.present()
	defer m.mu.Unlock()
	before := string(m.encode())
	f(&m.kept)
	if data := m.encode(); string(data) != before {
		m.p.deps.Store.Set(m.key, data)
	}
}

// saveNow stores it and returns when it lasts.
func (m *member) saveNow(ctx context.Context, f func(k *kept)) error {
	m.mu.Lock()
	f(&m.kept)
	m.store()
	m.mu.Unlock()
	return m.p.deps.Store.Flush(ctx)
}

// ready stores what is about to be written, with everything that led to it
// (S1). A store that fails is no reason to leave clients at a node that is gone:
// the journal alone must last, which claim sees to where ownership does not stand
// at the target.
func (m *member) ready(ctx context.Context, changes []providers.Change) error {
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	err := m.saveNow(ctx, func(k *kept) {
		set := map[string]bool{}
		for _, s := range k.Flight {
			set[s] = true
		}
		for i := range changes {
			set[changes[i].Key.String()] = true
		}
		k.Flight = slices.Sorted(maps.Keys(set))
	})
	if err != nil {
		m.p.deps.Log.Warn("what is pushed could not be stored first; a restart could push what was stored before", "target", m.title(), "error", err)
	}
	return nil
}

// claim makes the journal last.
func (m *member) claim(ctx context.Context, owned []providers.Record) error {
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	return m.saveNow(ctx, func(k *kept) { k.Owned = toKept(owned) })
}

// verified takes what was read to be as it should be. What the target has refused
// to change stays as it was last seen, and may be under way.
func (k *kept) verified(out *providers.Outcome) {
	open := func(key providers.Key) bool {
		return slices.ContainsFunc(out.Last.Changes, func(c providers.Change) bool { return c.Key == key })
	}
	list := slices.DeleteFunc(fromKept(k.Last), func(r providers.Record) bool { return !open(r.Key()) })
	k.Flight = nil
	for i := range out.Last.Changes {
		k.Flight = append(k.Flight, out.Last.Changes[i].Key.String())
	}
	slices.Sort(k.Flight)
	for _, r := range out.Verified {
		if !open(r.Key()) {
			list = append(list, r)
		}
	}
	k.Last, k.Seen = toKept(list), true
}

// last gives what drift is held against: not what may be under way.
func (k *kept) last() []providers.Record {
	if !k.Seen {
		return nil
	}
	list := fromKept(k.Last)
	return slices.DeleteFunc(list, func(r providers.Record) bool { return slices.Contains(k.Flight, r.Key().String()) })
}

// unsure lists the RRsets that may be under way.
func (k *kept) unsure() (list []providers.Key) {
	for _, s := range k.Flight {
		name, kind, _ := strings.Cut(s, " ")
		key := providers.Key{Name: name}
		if kind == "AAAA" {
			key.Family = sites.IPv6
		}
		list = append(list, key)
	}
	return list
}

// problem tells of something that is wrong, once for the same severity and, if
// again is set, text.
func (m *member) problem(what slot, severity sites.Severity, text string, again bool) {
	m.p.deps.Tell(func() (sites.Event, bool) {
		m := m.present()
		defer m.mu.Unlock()
		was, told := m.kept.Open[what]
		left := m.stopped() && m.p.life.Err() == nil
		if left || told && was.Severity == severity && (!again || was.Text == text) {
			return sites.Event{}, false
		}
		if m.kept.Open == nil {
			m.kept.Open = map[slot]open{}
		}
		m.kept.Open[what] = open{Text: text, Severity: severity}
		m.store()
		begins, _ := what.kinds()
		return sites.Event{Kind: begins, Severity: severity, Site: m.site, Target: m.title(), Text: text, Resolves: was.ID}, true
	})
}

// solved tells that a problem has ended, if it was told.
func (m *member) solved(what slot, text string) {
	_, ends := what.kinds()
	m.p.deps.Tell(func() (sites.Event, bool) {
		m := m.present()
		defer m.mu.Unlock()
		was, told := m.kept.Open[what]
		if !told {
			return sites.Event{}, false
		}
		delete(m.kept.Open, what)
		m.store()
		return sites.Event{Kind: ends, Site: m.site, Target: m.title(), Text: text, Resolves: was.ID}, true
	})
}

// note learns the ID of an event of this member.
func (m *member) note(e *sites.Event) {
	old := m.before()
	m.save(func(k *kept) {
		for what, o := range k.Open {
			if begins, _ := what.kinds(); begins == e.Kind && o.Text == e.Text {
				o.ID = e.ID
				k.Open[what] = o
			}
		}
	})
	if old != nil { // what that one stores stands for both until it has ended
		old.note(e)
	}
}

// title names the member for people.
func (m *member) title() string {
	if m.alone.Load() {
		return m.name
	}
	return fmt.Sprintf("%s %s", m.name, m.server.Name)
}
