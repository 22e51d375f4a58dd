package sites

import (
	"testing"
	"time"
)

// A pause must hide no outage, and no recovering node be counted on that it keeps out.
func TestC3Apart(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "a move that a pause holds back after a drill is told as what it is",
			in: `60s pause hamburg
				60s drill hamburg/a for=5m
				2m down hamburg/a
				6m events
				7m texts`,
			want: `paused hamburg
				drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				move_held hamburg (drill)
				The drill of hamburg/a has ended (its time is over).
				No move of hamburg is held back any more: the drill is over.
				hamburg/a has not answered for 3m59s (connection refused); the resolver 10.2.0.1 answers.
				hamburg would move, because hamburg/a does not answer, but it is paused and still answers 10.2.0.11. ` + "`dnsteer resume hamburg`" + ` lets it move.`,
		}, {
			name: "also where it is out by another pool",
			cfg:  func(c *Config) { c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "media", Nodes: []int{0, 1}}) },
			in: `60s pause hamburg/default
				60s drill hamburg/a for=5m
				2m down hamburg/a
				6m events
				7m events
				7m up hamburg/a
				8m events`,
			want: `paused hamburg
				drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				failover_outage hamburg/a (drill)
				move_held hamburg (drill)
				drill_ended hamburg/a (drill)
				move_held_ended hamburg (drill)
				move_held hamburg
				node_offline hamburg/a
				failover_failback hamburg/a
				move_held_ended hamburg
				node_online hamburg/a`,
		}, {
			name: "a held move ends where an emergency site serves by an order, and not because a node answers",
			cfg:  emergencies("hamburg>berlin"),
			in: `60s pause hamburg
				60s down hamburg/a
				2m events
				2m maintenance hamburg
				2m see hamburg
				2m texts`,
			want: `paused hamburg
				node_offline hamburg/a
				move_held hamburg
				hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg/a is in maintenance by ann (test).
				hamburg/b is in maintenance by ann (test).
				hamburg is now served by the emergency site berlin instead of a, and answers 10.1.0.11, 10.1.0.12.
				No move of hamburg is held back any more: its nodes do not serve it any more.`,
		}, {
			name: "a last resort that is paused is not said to be replaced at once",
			in: `60s down berlin/a
				60s down berlin/b
				2m pause berlin
				2m up berlin/a
				3m see berlin, berlin/a
				3m explain pool berlin
				3m failback berlin
				3m see berlin`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				berlin/a=recovering
				berlin answers 10.1.0.11, 10.1.0.12 as a last resort: nothing could serve it, and until the pause is over no node that answers again replaces it by itself (` + "`dnsteer failback berlin`" + ` puts it back). It is paused by ann (test): nothing of it moves by itself; ` + "`dnsteer resume berlin`" + ` ends that.
				berlin=own 10.1.0.11`,
		}, {
			name: "nor is one whose records are taken away",
			cfg:  func(c *Config) { c.Sites[0].Pools[0].OnEmpty = OnEmptyRemove },
			in: `60s down berlin/a
				60s down berlin/b
				2m pause berlin
				3m explain pool berlin`,
			want: `berlin answers nothing: nothing could serve it, and its records are taken away (` + "`on_empty: remove`" + `) until a node answers again and the pause is over. It is paused by ann (test): nothing of it moves by itself; ` + "`dnsteer resume berlin`" + ` ends that.`,
		}, {
			name: "nor by a failback, where its nodes are back in another pool",
			cfg:  func(c *Config) { c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0, 1}}) },
			in: `60s down berlin/a
				60s down berlin/b
				2m pause berlin/default
				2m up berlin/a
				3m failback berlin
				3m see berlin, berlin/media
				3m explain pool berlin
				3m maintenance berlin/b say`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				berlin/media=own 10.1.0.11
				berlin answers 10.1.0.11, 10.1.0.12 as a last resort: nothing could serve it, and until the pause is over no node that answers again replaces it by itself. It is paused by ann (test): nothing of it moves by itself; ` + "`dnsteer resume berlin`" + ` ends that.
				berlin/b is in maintenance by ann (test). berlin answers 10.1.0.11 now, as a last resort.`,
		}, {
			name: "of one that an emergency site serves it is not said that no node of its own could",
			cfg: several(emergencies("berlin>hamburg"), func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0, 1}})
			}),
			in: `60s down berlin/a
				60s down berlin/b
				2m pause berlin/default
				2m up berlin/a
				3m explain pool berlin
				9m see berlin/media
				9m explain pool berlin
				9m maintenance berlin/b say`,
			want: `berlin answers 10.2.0.11: no node of its own serves, so hamburg steps in. It is paused by ann (test): nothing of it moves by itself; ` + "`dnsteer resume berlin`" + ` ends that.
				berlin/media=own 10.1.0.11
				berlin answers 10.2.0.11: hamburg steps in. It is paused by ann (test): nothing of it moves by itself; ` + "`dnsteer resume berlin`" + ` ends that.
				berlin/b is in maintenance by ann (test). berlin still answers 10.2.0.11: hamburg steps in.`,
		}, {
			name: "a recovering node of a paused pool steps in for nobody (C3, C4)",
			cfg:  func(c *Config) { c.Sites[0].Pools[0].OnEmpty = OnEmptyRemove },
			in: `60s down berlin/b
				2m up berlin/b
				2m30s pause berlin
				2m30s see berlin/b, berlin
				2m30s maintenance berlin/a
				2m30s see berlin/a, berlin`,
			want: `berlin/b=recovering
				berlin=own 10.1.0.11
				refused: Refused: site berlin would have no node left that serves, its recovering nodes stay out while it is paused (` + "`dnsteer resume berlin`" + ` ends that), and no emergency site can step in. Give the site an emergency_site, wait until another node answers, or use --force.
				berlin/a=up
				berlin=own 10.1.0.11`,
		},
	})
}

// The dashboard must say since when a pool is served as it is, also after a failback.
func TestC1Since(t *testing.T) {
	d := newDriver(t, usual(func(c *Config) { c.Sites[1].Nodes[0].Failback = FailbackManual }))
	d.play(`60s down hamburg/a
		2m up hamburg/a
		10m failback hamburg`)
	if is, want := d.m.View()[1].Pools[0].Since, d.wall.Add(10*time.Minute); !is.Equal(want) {
		t.Errorf("since %v, want %v", is, want)
	}
}
