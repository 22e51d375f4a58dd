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
		begun := make([]uint64, nodes)
		for i := range begun {
			begun[i] = d.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
		}
		d.pass(time.Minute)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i, id := range begun {
			d.happen(fmt.Sprintf("failover_failback berlin/n%d", i), id)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if few, many := cost(200), cost(1600); many > 12*few {
		t.Errorf("%.0f kB with 200 nodes, %.0f kB with 1600", few/1000, many/1000)
	}
}
