package sites

import (
	"testing"
	"time"
)

// A command that would leave a site without a node must be refused, and say
// what can be done about it.
func TestC4Refusals(t *testing.T) {
	const why = `refused: Refused: site berlin would have no node left that serves, no recovering node answers, and no emergency site can step in. Give the site an emergency_site, wait until another node answers, or use --force.`
	const chain = `refused: Refused: site berlin would have no node left that serves, no recovering node answers, and its emergency site hamburg cannot step in (hamburg/a does not answer, hamburg/b is disabled). Wait until another node answers, put back one that is in maintenance or disabled, or use --force.`
	runRule(t, []ruleTest{
		{
			name: "the last serving node",
			in: `60s down berlin/a
				100s maintenance berlin/b
				100s disable berlin/b
				100s see berlin/b`,
			want: why + "\n" + why + `
				berlin/b=up`,
		}, {
			name: "the whole site",
			in:   `60s maintenance berlin`,
			want: why,
		}, {
			name: "unless force",
			in: `60s down berlin/a
				100s maintenance berlin/b force
				100s see berlin/b, berlin`,
			want: `berlin/b=maintenance
				berlin=last_resort 10.1.0.11`,
		}, {
			name: "the reply says what is answered then",
			in: `60s maintenance berlin force say
				61s maintenance_end berlin
				61s maintenance berlin/a say
				62s disable berlin/b force say
				63s enable berlin/b say
				64s maintenance_end berlin/a say
				65s maintenance hamburg/b say
				66s maintenance hamburg/a force say`,
			want: `berlin/a is in maintenance by ann (test). berlin/b is in maintenance by ann (test). berlin still answers 10.1.0.11, 10.1.0.12, as a last resort: nothing can serve it.
				berlin/a is in maintenance by ann (test). berlin answers 10.1.0.12 now.
				berlin/b is disabled by ann (test): it is not probed and not answered. berlin still answers 10.1.0.12, as a last resort: nothing can serve it.
				berlin/b: it comes back as soon as it answers.
				berlin/a: it is back in DNS. berlin answers 10.1.0.11, 10.1.0.12 now.
				hamburg/b is in maintenance by ann (test). hamburg still answers 10.2.0.11.
				hamburg/a is in maintenance by ann (test). hamburg still answers 10.2.0.11, as a last resort: nothing can serve it.`,
		}, {
			name: "the reply names the site that steps in",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s maintenance berlin say
				61s maintenance hamburg/b say
				62s maintenance hamburg force say
				63s maintenance_end berlin say`,
			want: `berlin/a is in maintenance by ann (test). berlin/b is in maintenance by ann (test). berlin answers 10.2.0.11 now: hamburg steps in, for no node of its own serves.
				hamburg/b is in maintenance by ann (test). hamburg still answers 10.2.0.11.
				hamburg/a is in maintenance by ann (test). hamburg/b is in maintenance by ann (test). hamburg still answers 10.2.0.11, as a last resort: nothing can serve it. berlin still answers 10.2.0.11, as a last resort: nothing can serve it.
				berlin/a: it is back in DNS. berlin/b: it is back in DNS. berlin answers 10.1.0.11, 10.1.0.12 now.`,
		}, {
			name: "a failing node serves still",
			in: `60s down berlin/a
				70s maintenance berlin/b
				70s see berlin/b, berlin`,
			want: `berlin/b=maintenance
				berlin=own 10.1.0.11`,
		}, {
			name: "a recovering node that answers steps in",
			in: `60s down berlin/a
				100s up berlin/a
				110s maintenance berlin/b
				110s see berlin/a, berlin`,
			want: `berlin/a=up
				berlin=own 10.1.0.11`,
		}, {
			name: "one that does not answer does not",
			in: `60s down berlin/a
				100s up berlin/a
				110s unknown berlin/a
				112s maintenance berlin/b`,
			want: why,
		}, {
			name: "one with a family that is out does, with the other",
			cfg: func(c *Config) {
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
				c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
			},
			in: `60s down berlin/a
				100s up berlin/a
				100s down fd00:1::11
				110s maintenance berlin/b
				110s see berlin/a, berlin`,
			want: `berlin/a=out
				berlin=own 10.1.0.11`,
		}, {
			name: "an emergency site steps in",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s maintenance berlin
				60s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "one that this site serves, with a recovering node of its own, does: that comes back at once",
			cfg:  emergencies("berlin>hamburg hamburg>berlin"),
			in: `60s down hamburg/a
				60s down hamburg/b
				2m up hamburg/a
				3m see hamburg/a, hamburg
				3m maintenance berlin
				3m see hamburg/a, hamburg, berlin`,
			want: `hamburg/a=recovering
				hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg/a=up
				hamburg=own 10.2.0.11
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "but not while it is paused",
			cfg:  emergencies("berlin>hamburg hamburg>berlin"),
			in: `60s down hamburg/a
				60s disable hamburg/b
				2m up hamburg/a
				3m pause hamburg
				3m maintenance berlin`,
			want: `refused: Refused: site berlin would have no node left that serves, no recovering node answers, and its emergency site hamburg cannot step in (hamburg/a has not yet come back, hamburg/b is disabled). Wait until another node answers, put back one that is in maintenance or disabled, or use --force.`,
		}, {
			name: "one that has nothing itself does not",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down hamburg/a
				60s disable hamburg/b
				100s maintenance berlin
				100s down berlin/b
				200s maintenance berlin/a`,
			want: chain + "\n" + chain,
		}, {
			name: "a drill too, and a node in one steps in for nobody",
			in: `60s drill berlin/a for=1h
				2m see berlin/a
				2m disable berlin/b
				2m drill berlin/b for=5m
				2m see berlin/b`,
			want: `berlin/a=out
				` + why + "\n" + why + `
				berlin/b=up`,
		}, {
			name: "in any pool of the site",
			cfg: func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0}})
			},
			in:   `60s maintenance berlin/a`,
			want: `refused: Refused: pool media berlin would have no node left that serves, no recovering node answers, and no emergency site can step in. Give the site an emergency_site, wait until another node answers, or use --force.`,
		}, {
			name: "a window in that case is skipped, once, with an event",
			cfg:  window("2 12 * * *", time.Minute),
			in: `2m10s see berlin/a, berlin
				5m events`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				window_skipped berlin`,
		}, {
			name: "where nothing serves already it takes nothing away",
			in: `60s down berlin/a
				60s down berlin/b
				100s maintenance berlin/b
				100s see berlin/b, berlin`,
			want: `berlin/b=maintenance
				berlin=last_resort 10.1.0.11`,
		},
	})
}

// What is ordered for a time must end by itself, also when nobody was there to
// see it end.
func TestC7For(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "maintenance, disabling and pause end by themselves",
			in: `60s maintenance berlin/a for=10m
				60s disable hamburg/b for=10m
				60s pause hamburg for=10m
				60s explain berlin/a
				10m59s see berlin/a, hamburg/b, site hamburg
				11m1s see berlin/a, hamburg/b, site hamburg`,
			want: `berlin/a is in maintenance by ann until 12:11:00 UTC (test); it answers. ` + "`dnsteer maintenance berlin/a --end`" + ` ends that.
				berlin/a=maintenance
				hamburg/b=disabled
				site hamburg=paused
				berlin/a=up
				hamburg/b=up
				site hamburg=up`,
		}, {
			name: "so do a switch and a drill",
			in: `60s switch hamburg b for=10m
				60s drill berlin/a for=10m
				10m59s see berlin/a, hamburg, site hamburg
				11m1s see berlin/a, hamburg, site hamburg`,
			want: `berlin/a=out
				hamburg=own 10.2.0.12
				site hamburg=paused
				berlin/a=up
				hamburg=own 10.2.0.11
				site hamburg=up`,
		}, {
			name: "across a restart",
			in: `60s maintenance berlin/a for=10m
				60s disable hamburg/b for=10m
				60s pause berlin for=10m
				60s switch hamburg a for=10m
				5m restart 1m
				10m59s see berlin/a, hamburg/b, site hamburg, site berlin
				11m5s see berlin/a, hamburg/b, site hamburg, site berlin`,
			want: `berlin/a=maintenance
				hamburg/b=disabled
				site hamburg=paused
				site berlin=paused
				berlin/a=up
				hamburg/b=up
				site hamburg=up
				site berlin=up`,
		}, {
			name: "while the controller was off",
			in: `60s maintenance berlin/a for=10m
				60s pause hamburg for=10m
				5m restart 1h
				1h5m10s see berlin/a, site hamburg`,
			want: `berlin/a=up
				site hamburg=up`,
		}, {
			name: "without --for they do not",
			in: `60s maintenance berlin/a
				5m restart 48h
				48h6m see berlin/a`,
			want: `berlin/a=maintenance`,
		}, {
			name: "an operator's maintenance that ends in a window leaves the node there",
			cfg:  window("5 12 * * *", time.Hour, 0),
			in: `60s maintenance berlin/a for=10m
				12m see berlin/a
				12m events
				66m see berlin/a`,
			want: `berlin/a=maintenance
				failover_maintenance berlin/a
				failover_maintenance berlin/a
				failover_maintenance berlin/a
				berlin/a=up`,
		},
	})
}
