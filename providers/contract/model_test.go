package contract

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// row is a record of the model.
type row struct {
	id       int
	name     string
	addr     netip.Addr
	ttl      time.Duration
	disabled bool
	mark     string
}

func (r row) String() string {
	return fmt.Sprintf("%s %s %s %v %q", r.name, r.addr, r.ttl, r.disabled, r.mark)
}

// model is a target in memory: with marks it holds no two equal rows that are
// answered, without them it takes any and removes all that are equal.
type model struct {
	traits providers.Traits

	mu     sync.Mutex
	rows   []row
	ids    int
	writes int
	fault  Fault
	// shunned is a name that is not written to.
	shunned string
	left    int
	hit     chan struct{}
}

func (m *model) Connect(*testing.T) providers.Provider { return &session{m} }

func (m *model) Seed(_ *testing.T, records ...Foreign) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range records {
		m.insert(row{name: f.Name, addr: f.Addr, ttl: f.TTL, disabled: f.Disabled, mark: "somebody's"})
	}
}

func (m *model) insert(r row) {
	m.ids++
	r.id = m.ids
	m.rows = append(m.rows, r)
}

func (m *model) Dump(*testing.T) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		list = append(list, r.String())
	}
	return list
}

func (m *model) Edit(t *testing.T, e Edit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(e.Name, e.Addr)
	if i < 0 {
		t.Fatalf("there is no %s %s", e.Name, e.Addr)
	}
	switch e.Verb {
	case Delete:
		m.rows = slices.Delete(m.rows, i, i+1)
	case Disable:
		m.rows[i].disabled = true
	case Change:
		m.rows[i].addr = e.To
	}
}

func (m *model) find(name string, addr netip.Addr) int {
	return slices.IndexFunc(m.rows, func(r row) bool { return r.name == name && r.addr == addr && !r.disabled })
}

func (m *model) Ask(name string, v6 bool) (addrs []netip.Addr, ttl time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wild := "*" + name[1:]
	for i := range name {
		if name[i] == '.' {
			wild = "*" + name[i:]
			break
		}
	}
	for _, want := range []string{name, wild} {
		for _, r := range m.rows {
			if r.name == want && r.addr.Is6() == v6 && !r.disabled {
				addrs, ttl = append(addrs, r.addr), r.ttl
			}
		}
		if len(addrs) > 0 {
			break
		}
	}
	return addrs, ttl, true
}

func (m *model) Break(_ *testing.T, f Fault, n int) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault, m.left, m.hit = f, n, make(chan struct{})
	return m.hit
}

func (m *model) Shun(_ *testing.T, name string) { m.shunned = name }

func (m *model) Mend(*testing.T) { m.fault, m.shunned = "", "" }

func (m *model) Writes() int { return m.writes }

// write carries out one request that writes to an entry or writes a record (or
// both), with its fault.
func (m *model) write(ctx context.Context, from *providers.Entry, to *providers.Record, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.shunned != "" && (from != nil && from.Name == m.shunned || to != nil && to.Name == m.shunned) {
		return &providers.Error{Class: providers.Declined, Err: errors.New("no space left")}
	}
	fault := m.fault
	if fault == "" || m.left > 0 {
		m.left--
		return do()
	}
	m.fault = ""
	close(m.hit)
	switch fault {
	case LostReply:
		_ = do()
		return errors.New("connection reset")
	case Cut:
		return errors.New("connection refused")
	case Hang:
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return ctx.Err()
	case Refuse:
		return &providers.Error{Class: providers.Permanent, Err: errors.New("not enough permissions")}
	case Duplicate:
		if to != nil && (from == nil || from.Addr != to.Addr) {
			m.insert(row{name: to.Name, addr: to.Addr, mark: "somebody's"})
		}
	case Gone:
		if from == nil {
			break
		}
		if i := m.find(from.Name, from.Addr); i >= 0 {
			m.rows = slices.Delete(m.rows, i, i+1)
		}
	case Half:
	}
	return do()
}

// session is the model's provider.
type session struct{ m *model }

const mark = "ours"

func (s *session) List(_ context.Context, names []string) (l providers.Listing, err error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for _, r := range s.m.rows {
		marked := s.m.traits.Marks && r.mark == mark
		if !marked && !slices.Contains(names, r.name) {
			continue
		}
		l.Entries = append(l.Entries, providers.Entry{
			Record: providers.Record{Name: r.name, Addr: r.addr, TTL: r.ttl},
			ID:     fmt.Sprint(r.id), Marked: marked, Disabled: r.disabled, Text: r.String(),
		})
	}
	return l, nil
}

var errChanged = &providers.Error{Class: providers.Changed, Err: errors.New("it is there already, or not any more")}

func (s *session) Apply(ctx context.Context, c providers.Change) error {
	m := s.m
	for _, e := range c.Adopt {
		err := m.write(ctx, &e, nil, func() error { return m.byID(e.ID, func(r *row) { r.mark = mark }) })
		if err != nil {
			return err
		}
	}
	for _, w := range c.Swap {
		err := m.write(ctx, &w.From, &w.To, func() error {
			if m.traits.Marks && w.From.Addr != w.To.Addr && m.find(w.To.Name, w.To.Addr) >= 0 {
				return errChanged
			}
			return m.byID(w.From.ID, func(r *row) { r.addr, r.ttl, r.disabled = w.To.Addr, w.To.TTL, false })
		})
		if err != nil {
			return err
		}
	}
	for _, rec := range c.Add {
		err := m.write(ctx, nil, &rec, func() error {
			if m.traits.Marks && m.find(rec.Name, rec.Addr) >= 0 {
				return errChanged
			}
			m.insert(row{name: rec.Name, addr: rec.Addr, ttl: rec.TTL, mark: mark})
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, e := range c.Remove {
		err := m.write(ctx, &e, nil, func() error {
			m.rows = slices.DeleteFunc(m.rows, func(r row) bool {
				if m.traits.Marks {
					return fmt.Sprint(r.id) == e.ID
				}
				return r.name == e.Name && r.addr == e.Addr
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *model) byID(id string, f func(*row)) error {
	for i := range m.rows {
		if fmt.Sprint(m.rows[i].id) == id {
			f(&m.rows[i])
			return nil
		}
	}
	return errChanged
}

func (s *session) Inspect(context.Context) (providers.Inspection, error) {
	return providers.Inspection{}, nil
}

func (s *session) Close() error { return nil }

// The suite would fail a target that does all it should, or the plan would be
// one that no target can follow.
func TestSuiteAgainstTheModel(t *testing.T) {
	for name, traits := range map[string]providers.Traits{
		"marks": {Marks: true, TTL: true, Disable: true}, "a journal": {Disable: true}, "a journal and TTLs": {TTL: true},
	} {
		t.Run(name, func(t *testing.T) {
			faults := []Fault{LostReply, Cut, Hang, Refuse, Gone}
			if traits.Marks {
				faults = append(faults, Duplicate)
			}
			Run(t, Bench{
				Traits: traits, Faults: faults,
				New: func(*testing.T) Stand { return &model{traits: traits} },
			})
		})
	}
}
