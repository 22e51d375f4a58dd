package publish

import (
	"cmp"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// State is how a server of a target fares, in one word.
type State string

// The states.
const (
	Current  State = "current"
	Pending  State = "pending"
	Differs  State = "differs" // it was read to be other than it should, and is left so for now
	Failing  State = "failing"
	Denied   State = "denied"
	Disabled State = "disabled"
	DryRun   State = "dry_run"
	Waiting  State = "waiting"
	OnHold   State = "held" // its site cannot be seen, and nothing is sent (E8)
)

// View is what is known of a server of a target.
type View struct {
	Name, Server, Kind, Site, Title string
	State                           State
	Error                           error
	// Since when it fails, Retry when it is tried again, Compared when it was
	// last read whole, Changed when it was last written, Repair when what somebody
	// has changed is put right; zero where nothing waits for that.
	Since, Retry, Compared, Changed, Repair time.Time
	// Writes since the start; Drifts are RRsets that were put right, ever.
	Writes uint64
	Drifts int
	// Visible is how long the last push took until the site's resolver gave it;
	// 0 while that is not known.
	Visible    time.Duration
	Inspection providers.Inspection
	Ordered    *Order
	Plan       providers.Plan
	Shadows    []providers.Shadow
	Sets       []ViewSet
	// Foreign are records there that are not ours, at most maxForeign of them, and
	// Strangers how many there are: they are never touched.
	Foreign   []providers.Entry
	Strangers int
	// Pending counts RRsets that are to be changed, by the last reading.
	Pending int
	// Problems that were told and have not ended. Wrong: it fails, and what its
	// clients get is no longer right.
	Problems []string
	Wrong    bool
}

// ViewSet is one RRset at a target.
type ViewSet struct {
	providers.Key
	TTL             time.Duration
	Desired, Actual []string
	Visible         *bool
	// Error is why the target would not change it; nil where it did not refuse.
	Error error
}

// Views gives what is known of all servers, in the configuration's order.
func (p *Publisher) Views() []View {
	list := []View{}
	for _, m := range p.find("") {
		list = append(list, m.view())
	}
	return list
}

func (m *member) view() View {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := &m.st
	v := View{
		Name: m.name, Server: m.server.Name, Kind: m.kind, Site: m.site, Title: m.title(), State: m.state(), Error: st.err, Repair: m.repairAgain(st.plan.Held),
		Compared: st.compared, Changed: st.changed, Writes: st.writes, Drifts: m.kept.Drifts,
		Inspection: st.looked, Ordered: m.kept.Disabled, Plan: st.plan, Shadows: st.listing.Shadows, Sets: m.sets(),
	}
	for i := range v.Sets {
		if m.known && !slices.Equal(v.Sets[i].Desired, v.Sets[i].Actual) {
			v.Pending++
		}
	}
	if v.State == Current && (v.Pending > 0 || len(st.plan.Held) > 0) {
		v.State = Differs
	}
	v.Foreign, v.Strangers = m.foreign()
	if st.err != nil {
		v.Since = st.since
	}
	if v.State == Denied && st.err == nil { // one before it, with the same credentials, has found out
		v.Error = m.circuit.Refused()
	}
	if (v.State == Failing || v.State == Denied) && !m.circuit.Spent() {
		v.Retry = later(st.retry, m.circuit.Next())
	}
	m.eye.mu.Lock()
	v.Visible = m.eye.took
	m.eye.mu.Unlock()
	v.Wrong = m.kept.Open[slotFailed].Severity == sites.Critical
	for _, what := range slots() {
		if o, ok := m.kept.Open[what]; ok {
			v.Problems = append(v.Problems, o.Text)
		}
	}
	return v
}

// state is the member's word. The caller holds mu.
func (m *member) state() State {
	switch {
	case m.kept.Disabled != nil:
		return Disabled
	case !m.known:
		return Waiting
	case m.halted():
		return OnHold
	case m.st.err != nil && m.st.class == providers.Denied, m.st.err == nil && m.circuit.Refused() != nil:
		return Denied
	case m.st.err != nil:
		return Failing
	case m.target.DryRun:
		return DryRun
	case m.version != m.st.done:
		return Pending
	default:
		return Current
	}
}

// maxForeign bounds what is listed of other people's records: a router may hold
// thousands.
const maxForeign = 200

// foreign lists what others wrote at the target, by name, and says how many there
// are. The caller holds mu.
func (m *member) foreign() (list []providers.Entry, count int) {
	owned := m.owned()
	for _, e := range m.st.listing.Entries {
		if !e.Marked && !owned[providers.Record{Name: e.Name, Addr: e.Addr}] {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b providers.Entry) int {
		return cmp.Or(a.Key().Compare(b.Key()), a.Addr.Compare(b.Addr))
	})
	return list[:min(len(list), maxForeign)], len(list)
}

// owned are the records that are ours by the journal. The caller holds mu.
func (m *member) owned() map[providers.Record]bool {
	owned := make(map[providers.Record]bool, len(m.kept.Owned))
	for _, r := range m.kept.Owned {
		owned[providers.Record{Name: r.Name, Addr: r.Addr}] = true
	}
	return owned
}

// sets lists the RRsets that are desired or there. The caller holds mu.
func (m *member) sets() []ViewSet {
	by := map[providers.Key]*ViewSet{}
	at := func(k providers.Key) *ViewSet {
		if by[k] == nil {
			by[k] = &ViewSet{Key: k, Visible: m.eye.state(k)}
		}
		return by[k]
	}
	for _, r := range m.desired.Records {
		s := at(r.Key())
		s.Desired, s.TTL = append(s.Desired, r.Addr.String()), r.TTL
	}
	owned := map[providers.Key]bool{}
	for _, r := range m.kept.Owned {
		owned[providers.Record{Name: r.Name, Addr: r.Addr}.Key()] = true
	}
	for _, e := range m.st.listing.Entries {
		if e.Disabled || by[e.Key()] == nil && !e.Marked && !owned[e.Key()] {
			continue
		}
		s := at(e.Key())
		s.Actual = append(s.Actual, e.Addr.String())
	}
	for _, f := range m.st.refused {
		at(f.Key).Error = f.Err
	}
	list := make([]ViewSet, 0, len(by))
	for _, s := range by {
		slices.Sort(s.Desired)
		slices.Sort(s.Actual)
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b ViewSet) int { return a.Key.Compare(b.Key) })
	return list
}
