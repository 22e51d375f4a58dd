package history

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// many gives a history of many nodes, and their subjects.
func many(n int) (*History, []sites.Subject) {
	h := New()
	list := make([]Tracked, n)
	subjects := make([]sites.Subject, n)
	for i := range list {
		subjects[i] = sites.Subject{
			Site: fmt.Sprintf("site%d", i/10), Node: fmt.Sprintf("node%d", i%10),
			Addr: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}),
		}
		list[i] = Tracked{subjects[i], []string{"tcp"}}
	}
	h.Track(list)
	return h, subjects
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The history of a large installation would take the memory of the machine.
func TestMemory(t *testing.T) {
	const nodes = 500
	before := heap()
	h, subjects := many(nodes)
	for minute := range 25 * 60 {
		at := noon.Add(time.Duration(minute) * time.Minute)
		for i := range subjects {
			c := up(time.Duration(i) * time.Microsecond)
			if i%20 == 0 { // one of twenty fails all the time, in new words each time
				c = down(fmt.Sprintf("no answer within 2s, for the %d-th time of all", minute))
			}
			h.Add(&sites.Result{Subject: subjects[i], Checks: []sites.Check{c}}, at)
		}
	}
	each := (heap() - before) / nodes
	t.Logf("%d octets a node: %d MB for 10,000 nodes", each, each*10000>>20)
	if each > 8<<10 {
		t.Errorf("%d octets a node", each)
	}
	runtime.KeepAlive(h)
}

func BenchmarkAdd(b *testing.B) {
	h, subjects := many(10000)
	res := sites.Result{Checks: []sites.Check{up(3 * time.Millisecond)}}
	b.ReportAllocs()
	at := noon
	for i := 0; b.Loop(); i++ {
		if i%len(subjects) == 0 {
			at = at.Add(10 * time.Second)
		}
		res.Subject = subjects[i%len(subjects)]
		h.Add(&res, at)
	}
}

func BenchmarkNodeDay(b *testing.B) {
	h, subjects := many(10)
	at := noon
	for ; at.Before(noon.Add(24 * time.Hour)); at = at.Add(time.Minute) {
		h.Add(&sites.Result{Subject: subjects[3], Checks: []sites.Check{up(3 * time.Millisecond)}}, at)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Node("site0", "node3", noon, at)
	}
}
