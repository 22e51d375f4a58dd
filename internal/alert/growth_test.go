package alert

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// If this fails, a power cut in a hall of thousands of nodes has the controller busy with
// its alerts for minutes when the power is back.
func TestEndsGrowWithTheirNumber(t *testing.T) {
	cost := func(nodes int) float64 {
		d := newDesk()
		off, out := make([]uint64, nodes), make([]uint64, nodes)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range out {
			off[i] = d.happen(fmt.Sprintf("node_offline berlin/n%d", i), 0)
			out[i] = d.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
		}
		d.pass(time.Minute)
		for i, id := range off {
			d.happen(fmt.Sprintf("node_online berlin/n%d", i), id)
		}
		d.pass(10 * time.Minute)
		for i, id := range out {
			d.happen(fmt.Sprintf("failover_failback berlin/n%d", i), id)
		}
		d.pass(10 * time.Minute)
		runtime.ReadMemStats(&after)
		if n := len(d.out); n != 2 {
			t.Errorf("%d messages of %d nodes", n, nodes)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if few, many := cost(100), cost(800); many > 12*few {
		t.Errorf("%.0f kB with 100 nodes, %.0f kB with 800", few/1000, many/1000)
	}
}
