package sites

import (
	"testing"
	"time"
)

// Whoever is served well elsewhere must not be sent back to nodes that do not answer,
// whatever has put them back before (N12, P3).
func TestN12Return(t *testing.T) {
	guarded := func(c *Config) {
		for i := range c.Sites {
			c.Sites[i].Pools[0].Guard = Guard{BytesPerSecond: 1000, Quiet: 30 * time.Second, AtMost: 10 * time.Minute}
		}
	}
	runRule(t, []ruleTest{
		{
			name: "a return that the guard has put off is not made to a site that cannot be seen",
			cfg:  several(guarded, emergencies("berlin>hamburg")),
			in: `60s maintenance berlin
				2m maintenance_end berlin
				2m see berlin
				3m down berlin
				13m see berlin, site berlin
				13m up berlin
				24m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=emergency:hamburg 10.2.0.11
				site berlin=down
				berlin=own 10.1.0.11, 10.1.0.12`,
		},
		{
			name: "nor in a pause",
			cfg:  several(guarded, emergencies("berlin>hamburg")),
			in: `60s maintenance berlin
				2m maintenance_end berlin
				3m pause berlin
				3m down berlin
				13m see berlin
				13m up berlin
				24m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11, 10.1.0.12`,
		},
		{
			name: "nor to one of which nothing is known, in active_passive",
			cfg:  several(guarded, emergencies("hamburg>berlin")),
			in: `60s maintenance hamburg
				2m maintenance_end hamburg
				3m unknown hamburg
				13m see hamburg
				13m up hamburg
				24m see hamburg`,
			want: `hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11`,
		},
		{
			name: "but it is by force",
			cfg:  emergencies("hamburg>berlin"),
			in: `60s down hamburg/a
				60s down hamburg/b
				2m see hamburg
				2m failback hamburg force
				2m1s see hamburg`,
			want: `hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11`,
		},
		{
			name:   "nor to one that has been added and not been asked yet, in active_active",
			cfg:    emergencies("berlin>hamburg"),
			reload: []func(*Config){more(0, "c")},
			in: `60s down berlin/a
				60s down berlin/b
				60s down berlin/c
				2m reload 0
				2m see berlin
				130s see berlin
				130s up berlin/c
				140s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.13`,
		},
		{
			name:   "in active_passive",
			cfg:    emergencies("hamburg>berlin"),
			reload: []func(*Config){more(1, "c")},
			in: `60s down hamburg/a
				60s down hamburg/b
				60s down hamburg/c
				2m reload 0
				2m see hamburg
				130s up hamburg/c
				140s see hamburg`,
			want: `hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.13`,
		},
		{
			name:   "but where nobody serves, it is answered",
			reload: []func(*Config){more(0, "c")},
			in: `60s down berlin/a
				60s down berlin/b
				60s down berlin/c
				2m reload 0
				2m see berlin
				130s see berlin`,
			want: `berlin=own 10.1.0.13
				berlin=last_resort 10.1.0.11, 10.1.0.12, 10.1.0.13`,
		},
	})
}
