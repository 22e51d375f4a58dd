package sites

import (
	"testing"
	"time"
)

// A window must be told once and ended once, whatever else is under way.
func TestC5Apart(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name:   "a window takes a node whose new address does not answer yet: said once, ended once (A7, C5)",
			cfg:    window("10 12 * * *", 20*time.Minute, 0),
			reload: []func(*Config){address(0, "10.1.0.99")},
			in: `5m down 10.1.0.99
				5m reload 0
				10m1s see berlin/a, berlin
				10m1s events
				30m1s events`,
			want: `berlin/a=maintenance
				berlin=own 10.1.0.12
				probe_never_up berlin/a
				failover_maintenance berlin/a
				failover_maintenance berlin/a`,
		}, {
			name: "a window that an operator has ended under a clock that cannot be right stays ended (C5, O6)",
			cfg:  window("10 12 * * *", 20*time.Minute, 0),
			in: `11m suspect
				11m restart 1s
				11m10s see berlin/a
				12m maintenance_end berlin/a
				12m see berlin/a
				13m trust
				14m see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up
				berlin/a=up`,
		},
	})
}
