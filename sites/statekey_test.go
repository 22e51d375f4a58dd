package sites

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// keyer gives states keys: two with the same key differ in nothing that can
// change what follows, but for the moment at which they are. Times are those
// before now; of what lies further back than all settings look, the order alone
// counts. It walks over every field but those that are named here.
type keyer struct {
	seed    maphash.Seed
	horizon time.Duration
	plans   map[reflect.Type][]field

	now    Instant
	buf    []byte
	times  []moment
	counts []moment
}

// moment is a time or a count that is written when all are known.
type moment struct {
	at    int
	value int64
}

type class uint8

const (
	plain class = iota
	instant
	wall
	count  // of results: the order counts
	number // of an event: is there one?
	row    // a small count
	into
)

type field struct {
	index int
	class class
}

// apart are the fields that are no state of their own: what is configured, what
// points back, what is worked out from the rest or only shown.
var apart = map[string]bool{
	"Machine.cfg": true, "Machine.byName": true, "Machine.subjects": true, "Machine.fx": true, "Machine.nodeEvents": true,
	"Machine.poolEvents": true, "Machine.dirtySites": true, "Machine.calendar": true, "Machine.failures": true, "Machine.leaving": true, "record.lack": true,
	"Machine.now": true, "Machine.steps": true, "Machine.began": true, "Machine.lookedAt": true, "Machine.shortest": true,
	"SavedGlobal.LastEvent": true, "SavedGlobal.Starts": true, "SavedGlobal.LoopSaid": true,
	"site.cfg": true, "site.chain": true, "site.dependents": true, "site.ttls": true, "site.horizons": true, "site.slot": true, "site.isDirty": true,
	"SavedSite.Nodes": true, "SavedSite.Pools": true, "node.cfg": true, "node.was": true, "node.site": true, "node.heir": true, "node.former": true, "node.in": true, "node.load": true,
	"SavedNode.Lines": true, "SavedNode.Addresses": true, "SavedNode.Outages": true, "line.node": true, "record.subject": true,
	"pool.cfg": true, "pool.site": true, "pool.nodes": true, "pool.spare": true, "pool.hint": true, "pool.found": true,
	"Hold.By": true, "Hold.Reason": true, "Check.Text": true, "Check.Duration": true, "Check.Figures": true, "checkClock.figures": true,
	// They say whether it was this Step, and the next is another.
	"pool.touched": true, "node.drilled": true, "wait.freed": true,
	// The site is looked at no later than this; when exactly is worked out.
	"site.next": true,
}

// lengths are the durations that are no moments.
var lengths = map[string]bool{"line.frozen": true, "Hold.Lasts": true, "record.interval": true, "record.timeout": true}

func newKeyer(horizon time.Duration) *keyer {
	return &keyer{seed: maphash.MakeSeed(), horizon: horizon, plans: map[reflect.Type][]field{}}
}

// key gives the key of a machine, together with what the caller adds.
func (k *keyer) key(m *Machine, more []int64, times []time.Duration) uint64 {
	k.now = m.now
	k.buf, k.times, k.counts = k.buf[:0], k.times[:0], k.counts[:0]
	k.put(b2i(m.began == m.lookedAt))
	k.walk(reflect.ValueOf(m).Elem())
	for _, v := range more {
		k.put(v)
	}
	for _, t := range times {
		k.moment(t)
	}
	k.rank(k.times, func(v int64) (int64, bool) { return v, v <= int64(k.horizon) })
	k.rank(k.counts, nil)
	return maphash.Bytes(k.seed, k.buf)
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (k *keyer) put(v int64) { k.buf = binary.LittleEndian.AppendUint64(k.buf, uint64(v)) }

// moment writes a time by the clock that durations are measured by.
func (k *keyer) moment(t time.Duration) {
	if t == 0 {
		k.put(-1 << 62)
		return
	}
	k.times = append(k.times, moment{len(k.buf), int64(k.now.Boot - t)})
	k.put(0)
}

// rank writes what is exact as it is, and of the rest the order.
func (k *keyer) rank(list []moment, exact func(int64) (int64, bool)) {
	var rest []int64
	for _, x := range list {
		if exact == nil {
			rest = append(rest, x.value)
		} else if _, ok := exact(x.value); !ok {
			rest = append(rest, x.value)
		}
	}
	slices.Sort(rest)
	rest = slices.Compact(rest)
	for _, x := range list {
		v := x.value
		if i, found := slices.BinarySearch(rest, x.value); found {
			v = 1<<61 + int64(i)
		}
		binary.LittleEndian.PutUint64(k.buf[x.at:], uint64(v))
	}
}

// plan says once for each type how its fields are taken.
func (k *keyer) plan(t reflect.Type) []field {
	if p, ok := k.plans[t]; ok {
		return p
	}
	var p []field
	for i := range t.NumField() {
		f := t.Field(i)
		name := t.Name() + "." + f.Name
		if apart[name] {
			continue
		}
		p = append(p, field{i, classOf(name, f)})
	}
	k.plans[t] = p
	return p
}

func classOf(name string, f reflect.StructField) class {
	switch {
	case f.Type == reflect.TypeFor[time.Duration]() && !lengths[name]:
		return instant
	case f.Type == reflect.TypeFor[time.Time]():
		return wall
	case f.Name == "learnt" || f.Name == "upLearnt":
		return count
	case f.Type.Kind() == reflect.Uint64:
		return number
	case f.Name == "row":
		return row
	case f.Type.Kind() == reflect.Struct, f.Type.Kind() == reflect.Slice, f.Type.Kind() == reflect.Array,
		f.Type.Kind() == reflect.Pointer, f.Type.Kind() == reflect.Map:
		return into
	default:
		return plain
	}
}

func (k *keyer) walk(v reflect.Value) {
	for _, f := range k.plan(v.Type()) {
		x := v.Field(f.index)
		switch f.class {
		case instant:
			k.moment(time.Duration(x.Int()))
		case wall:
			// The caller's clocks go side by side.
			if t := *(*time.Time)(unsafe.Pointer(x.UnsafeAddr())); t.IsZero() {
				k.moment(0)
			} else {
				k.moment(k.now.Boot - k.now.Wall.Sub(t))
			}
		case count:
			k.counts = append(k.counts, moment{len(k.buf), int64(x.Uint())})
			k.put(0)
		case number:
			k.put(b2i(x.Uint() != 0))
		case row:
			k.put(min(x.Int(), 6))
		default:
			k.value(x)
		}
	}
}

func (k *keyer) value(x reflect.Value) {
	switch x.Kind() {
	case reflect.Struct:
		k.walk(x)
	case reflect.Pointer:
		k.put(b2i(!x.IsNil()))
		if !x.IsNil() {
			k.value(x.Elem())
		}
	case reflect.Slice, reflect.Array:
		k.put(int64(x.Len()))
		for i := range x.Len() {
			k.value(x.Index(i))
		}
	case reflect.Map: // of probes by their keys: there is one
		for _, probe := range *(*map[string]SavedProbe)(unsafe.Pointer(x.UnsafeAddr())) {
			k.walk(reflect.ValueOf(&probe).Elem())
		}
	case reflect.String:
		k.buf = append(k.buf, x.String()...)
		k.buf = append(k.buf, 0)
	case reflect.Bool:
		k.put(b2i(x.Bool()))
	case reflect.Int, reflect.Int64, reflect.Int8:
		k.put(x.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		k.put(int64(x.Uint()))
	case reflect.Uint64: // events' numbers, one for each family
		k.put(b2i(x.Uint() != 0))
	default:
		panic("a field of the kind " + x.Kind().String() + " has no key")
	}
}
