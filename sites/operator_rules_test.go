package sites

import (
	"testing"
	"time"
)

// The operator who knows better than grace must be obeyed at once, and be told
// what could not be done.
func TestC1Failback(t *testing.T) {
	media := func(c *Config) {
		c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "media", Mode: ActivePassive, Nodes: []int{1, 0}})
	}
	runRule(t, []ruleTest{
		{
			name: "out and recovering nodes that answer come back now",
			in: `60s down berlin/a
				60s down berlin/b
				100s up berlin/a
				102s failback berlin say
				102s see berlin/a, berlin/b, berlin
				102s events`,
			want: `Put back: a. Left out, because they do not answer: b (--force puts them back all the same). berlin answers 10.1.0.11 now.
				berlin/a=up
				berlin/b=out
				berlin=own 10.1.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				failover_failback berlin/a
				pool_outage_resolved berlin`,
		}, {
			name: "with force they come back too, and have their whole threshold",
			in: `60s down berlin/a
				100s failback berlin force
				129s see berlin/a, berlin
				131s see berlin/a, berlin`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=out
				berlin=own 10.1.0.12`,
		}, {
			name: "the first in order that is up and answers becomes active, min_hold or not",
			cfg:  minHold(time.Hour),
			in: `60s down hamburg/a
				100s up hamburg/a
				7m see hamburg/a, hamburg
				7m failback hamburg say
				7m see hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.12
				No node of hamburg is out by an outage. hamburg answers 10.2.0.11 now.
				hamburg=own 10.2.0.11`,
		}, {
			name: "in paused pools too: commands go on",
			cfg:  media,
			in: `60s pause hamburg/default
				60s down hamburg/a
				100s see hamburg/a, hamburg, hamburg/media
				100s failback hamburg
				100s see hamburg`,
			want: `hamburg/a=out
				hamburg=own 10.2.0.11
				hamburg/media=own 10.2.0.12
				hamburg=own 10.2.0.12`,
		}, {
			name: "and in a paused pool the node that was active before",
			cfg:  media,
			in: `60s down hamburg/a
				100s pause hamburg/default
				100s up hamburg/a
				8m see hamburg/a, hamburg
				8m failback hamburg
				8m see hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "nodes in maintenance stay there",
			in: `60s maintenance berlin/a
				60s failback berlin say
				60s see berlin/a`,
			want: `No node of berlin is out by an outage.
				berlin/a=maintenance`,
		}, {
			name: "a site that there is not",
			in:   `60s failback bonn`,
			want: `refused: There is no site "bonn". The sites are berlin, hamburg.`,
		},
	})
}

// Hands off means hands off: while paused nothing moves by itself, and when it
// ends nothing that happened meanwhile is forgotten.
func TestC3Pause(t *testing.T) {
	media := func(c *Config) {
		c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0, 1}})
	}
	runRule(t, []ruleTest{
		{
			name: "a node whose pools are all paused stays failing, and is told to be offline all the same",
			in: `60s pause berlin
				60s see site berlin
				60s down berlin/a
				10m see berlin/a, berlin
				10m events`,
			want: `site berlin=paused
				berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				paused berlin
				node_offline berlin/a
				move_held berlin`,
		}, {
			name: "resume: clocks that ran count, and the round is asked for at once",
			in: `60s pause berlin
				60s down berlin/a
				10m resume berlin
				10m see berlin/a, berlin
				10m events`,
			want: `berlin/a=out
				berlin=own 10.1.0.12
				paused berlin
				node_offline berlin/a
				move_held berlin
				resumed berlin
				move_held_ended berlin
				failover_outage berlin/a`,
		}, {
			name: "recovering it stays so, and is back with the resume",
			in: `60s down berlin/a
				100s up berlin/a
				110s pause berlin
				10m see berlin/a
				10m resume berlin
				10m see berlin/a, berlin`,
			want: `berlin/a=recovering
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "one of its pools: the node moves, the paused pool's answer does not follow",
			cfg:  media,
			in: `60s pause berlin/media
				60s down berlin/a
				100s see berlin/a, berlin, berlin/media
				100s up berlin/a
				10m see berlin/a, berlin/media
				10m resume berlin/media
				10m see berlin/media`,
			want: `berlin/a=out
				berlin=own 10.1.0.12
				berlin/media=own 10.1.0.11, 10.1.0.12
				berlin/a=up
				berlin/media=own 10.1.0.11, 10.1.0.12
				berlin/media=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "active-passive: the active node stays, though it is out by another pool",
			cfg: func(c *Config) {
				c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "media", Mode: ActivePassive, Nodes: []int{0, 1}})
			},
			in: `60s pause hamburg/media
				60s down hamburg/a
				100s see hamburg, hamburg/media
				100s resume hamburg/media
				100s see hamburg/media`,
			want: `hamburg=own 10.2.0.12
				hamburg/media=own 10.2.0.11
				hamburg/media=own 10.2.0.12`,
		}, {
			name: "commands go on",
			in: `60s pause berlin
				60s maintenance berlin/a
				60s see berlin
				61s maintenance_end berlin/a
				61s see berlin
				62s disable berlin/b
				62s see berlin`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11`,
		}, {
			name: "windows go on",
			cfg:  window("2 12 * * *", time.Minute, 0),
			in: `60s pause berlin
				2m5s see berlin
				3m5s see berlin`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "no emergency site steps in or out",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				80s pause berlin
				5m see berlin
				5m resume berlin
				5m see berlin
				5m pause berlin
				5m up berlin/a
				20m see berlin/a, berlin
				20m resume berlin
				20m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11
				berlin/a=recovering
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11`,
		}, {
			name: "nor does one step in for a last resort",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin
				60s down hamburg/a
				60s down hamburg/b
				61s up berlin resolver 10.1.0.1
				61s up berlin
				61s down berlin/a
				61s down berlin/b
				3m see berlin
				3m pause berlin
				3m up hamburg/a
				10m see hamburg, berlin`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				berlin=last_resort 10.1.0.11, 10.1.0.12`,
		}, {
			name: "everything, by naming no site",
			in: `60s pause
				60s see site berlin, site hamburg
				61s resume
				61s see site berlin, site hamburg
				61s events`,
			want: `site berlin=paused
				site hamburg=paused
				site berlin=up
				site hamburg=up
				paused berlin
				paused hamburg
				resumed berlin
				resumed hamburg`,
		}, {
			name: "a pool that there is not, and pausing twice",
			in: `60s pause berlin/x
				60s pause berlin say for=10m
				60s pause berlin say
				20m see site berlin
				20m pause berlin say for=10m
				29m see site berlin
				31m see site berlin
				31m pause berlin
				32m resume berlin say
				32m resume berlin say`,
			want: `refused: Site berlin has no pool "x".
				berlin/default is paused.
				berlin/default was paused already, and is now paused until it is resumed (test).
				site berlin=paused
				berlin/default was paused already, and is now paused until 12:30:00 UTC (test).
				site berlin=paused
				site berlin=up
				berlin/default goes on.
				berlin is not paused.`,
		},
	})
}

// Who did it and why must be found with the events a year later.
func TestC8WhoAndWhy(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s maintenance berlin/a
		61s maintenance_end berlin/a
		62s disable berlin/a
		63s enable berlin/a
		64s pause berlin
		65s resume berlin
		66s down berlin/a
		70s down berlin/b
		200s up berlin/a
		202s failback berlin`)
	said := map[Kind]int{}
	for _, e := range d.all {
		switch e.Kind {
		case FailoverMaintenance, NodeDisabled, NodeEnabled, Paused, Resumed, FailoverFailback:
			if e.By != "ann" || e.Reason != "test" {
				t.Errorf("%s by %q because of %q, want ann, test", e.Kind, e.By, e.Reason)
			}
			said[e.Kind]++
		}
	}
	if len(said) != 6 {
		t.Errorf("events of commands: %v, want six kinds", said)
	}
}
