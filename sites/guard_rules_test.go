package sites

import (
	"testing"
	"time"
)

// guard gives every pool a guard.
func guard(bytes float64, quiet, atMost time.Duration) func(*Config) {
	return func(c *Config) {
		for i := range c.Sites {
			for j := range c.Sites[i].Pools {
				c.Sites[i].Pools[j].Guard = Guard{BytesPerSecond: bytes, Quiet: quiet, AtMost: atMost}
			}
		}
	}
}

// A failback must not cut off those whom the other node serves just now, must
// come all the same in the end, and must never stand in the way of an outage.
func TestA11Guard(t *testing.T) {
	usualGuard := guard(32_000, 30*time.Second, time.Hour)
	runRule(t, []ruleTest{
		{
			name: "failback waits while the active node is busy, and comes once it has been quiet",
			cfg:  usualGuard,
			in: `10s load hamburg/b bytes=1200000 sessions=40
				60s down hamburg/a
				100s up hamburg/a
				402s see hamburg/a, hamburg
				402s texts
				10m explain hamburg
				10m explain hamburg/a
				10m explain hamburg/b
				20m load hamburg/b bytes=100 sessions=1
				20m30s see hamburg
				20m30s explain hamburg
				20m32s see hamburg
				20m32s texts`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.12
				hamburg/a has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.
				hamburg/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.2.0.1 answers.
				hamburg is now served by b instead of a, and answers 10.2.0.12.
				hamburg/a answers again (2 in a row); it comes back into DNS at 12:06:41 UTC if it then answers (grace 5m).
				hamburg/a is back in DNS: it has answered for 5m (grace 5m).
				hamburg is to be served by hamburg/a again: failback waits: hamburg/b carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest. ` + "`dnsteer failback hamburg`" + ` does it now.
				hamburg answers 10.2.0.12 (b is active). hamburg/a could serve it again; failback waits: hamburg/b carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest; ` + "`dnsteer failback hamburg`" + ` does it now.
				hamburg/a answers and stands by. It is to serve hamburg again; failback waits: hamburg/b carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest.
				hamburg/b answers and serves. Its work: 40 sessions, 1.2 MB/s.
				hamburg=own 10.2.0.12
				hamburg answers 10.2.0.12 (b is active). hamburg/a could serve it again; failback waits: hamburg/b carries less than 32 kB/s, and is to do so until 12:20:31 UTC, until 13:06:41 UTC at the latest; ` + "`dnsteer failback hamburg`" + ` does it now. A change may be near, so the built-in server's TTL for it is low.
				hamburg=own 10.2.0.11
				hamburg is now served by a instead of b, and answers 10.2.0.11.
				No move of hamburg is put off any more: less than 32 kB/s were carried for 30s.`,
		}, {
			name: "traffic that comes again begins the quiet anew",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m load hamburg/b bytes=100
				10m20s load hamburg/b bytes=32000
				10m30s load hamburg/b bytes=31999
				11m see hamburg
				11m2s see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "at most so long, whatever is carried",
			cfg:  guard(32_000, 30*time.Second, 10*time.Minute),
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				16m40s see hamburg, ttl hamburg
				16m42s see hamburg
				16m42s events`,
			want: `hamburg=own 10.2.0.12
				ttl hamburg=5s
				hamburg=own 10.2.0.11
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg
				node_online hamburg/a
				failover_failback hamburg/a
				move_put_off hamburg
				failover_switch hamburg
				move_put_off_ended hamburg`,
		}, {
			name: "figures that nobody knows put it off too",
			cfg:  guard(32_000, 30*time.Second, 10*time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				7m explain hamburg
				16m40s see hamburg
				16m42s see hamburg`,
			want: `hamburg answers 10.2.0.12 (b is active). hamburg/a could serve it again; failback waits: what hamburg/b carries is not known (the guard asks for less than 32 kB/s for 30s), until 12:16:41 UTC at the latest; ` + "`dnsteer failback hamburg`" + ` does it now.
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "figures that could not be found out count no more after a while",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=5
				100s up hamburg/a
				400s load hamburg/b bytes=50000
				410s load hamburg/b bytes=5
				412s unknown hamburg/b
				10m explain hamburg`,
			want: `hamburg answers 10.2.0.12 (b is active). hamburg/a could serve it again; failback waits: what hamburg/b carries is not known (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest; ` + "`dnsteer failback hamburg`" + ` does it now.`,
		}, {
			name: "never the move of an outage: the busy node fails",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m down hamburg/b
				10m30s see hamburg
				10m32s see hamburg/b, hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=out
				hamburg=own 10.2.0.11`,
		}, {
			name: "nor where the witness is silent, and so the failing one stays",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m down hamburg/b
				10m1s down hamburg resolver 10.2.0.1
				10m30s see hamburg
				10m32s see hamburg/b, hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=failing
				hamburg=own 10.2.0.11`,
		}, {
			name: "the switch away from a node that fails does not wait",
			cfg:  usualGuard,
			in: `10s load hamburg/a bytes=1200000
				10s load hamburg/b bytes=1200000
				60s down hamburg/a
				92s see hamburg`,
			want: `hamburg=own 10.2.0.12`,
		}, {
			name: "the operator's failback does not wait",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m failback hamburg
				10m see hamburg
				10m texts`,
			want: `hamburg=own 10.2.0.11
				hamburg/a has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.
				hamburg/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.2.0.1 answers.
				hamburg is now served by b instead of a, and answers 10.2.0.12.
				hamburg/a answers again (2 in a row); it comes back into DNS at 12:06:41 UTC if it then answers (grace 5m).
				hamburg/a is back in DNS: it has answered for 5m (grace 5m).
				hamburg is to be served by hamburg/a again: failback waits: hamburg/b carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest. ` + "`dnsteer failback hamburg`" + ` does it now.
				hamburg is now served by a instead of b, and answers 10.2.0.11.
				No move of hamburg is put off any more: the operator has said so.`,
		}, {
			name: "nor do switch and maintenance",
			cfg:  usualGuard,
			in: `10s load hamburg/a bytes=1200000
				10s load hamburg/b bytes=1200000
				60s switch hamburg b
				60s see hamburg
				2m resume hamburg
				2m see hamburg
				3m maintenance hamburg/b
				3m see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "the way back after a window or a maintenance waits",
			cfg:  usualGuard,
			in: `60s load hamburg/b bytes=1200000
				60s maintenance hamburg/a for=5m
				10m see hamburg/a, hamburg
				10m load hamburg/b bytes=0
				10m32s see hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "min_hold comes before",
			cfg: func(c *Config) {
				usualGuard(c)
				minHold(20 * time.Minute)(c)
			},
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				7m explain hamburg
				22m explain hamburg`,
			want: `hamburg answers 10.2.0.12 (b is active).
				hamburg answers 10.2.0.12 (b is active). hamburg/a could serve it again; failback waits: hamburg/b carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:21:31 UTC at the latest; ` + "`dnsteer failback hamburg`" + ` does it now.`,
		}, {
			name: "it goes on across a restart, and its time with it",
			cfg:  guard(32_000, 30*time.Second, 10*time.Minute),
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m restart 60s
				11m10s see hamburg
				16m40s see hamburg
				16m42s see hamburg
				16m42s events`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg
				node_online hamburg/a
				failover_failback hamburg/a
				move_put_off hamburg
				failover_switch hamburg
				move_put_off_ended hamburg`,
		}, {
			name: "one that fails again has nothing to come back to",
			cfg:  usualGuard,
			in: `60s down hamburg/a
				90s load hamburg/b bytes=1200000
				100s up hamburg/a
				10m events
				10m down hamburg/a
				10m10s texts`,
			want: `node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg
				node_online hamburg/a
				failover_failback hamburg/a
				move_put_off hamburg
				No move of hamburg is put off any more: there is none to make.`,
		},
	})
}

// The way back from an emergency site cuts off those whom it serves as well, so
// it waits, but never for a site that cannot be seen or serve.
func TestA11GuardEmergency(t *testing.T) {
	both := func(c *Config) {
		guard(32_000, 30*time.Second, time.Hour)(c)
		emergencies("berlin>hamburg")(c)
	}
	away := `10s load hamburg/a bytes=1200000
		60s down berlin/a
		60s down berlin/b
		100s see berlin
		110s up berlin/a
		120s down hamburg/b
		7m see berlin/a, berlin
		`
	runRule(t, []ruleTest{
		{
			name: "until its nodes are quiet",
			cfg:  both,
			in: away + `8m explain berlin
				8m load hamburg/a bytes=10
				8m35s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=up
				berlin=emergency:hamburg 10.2.0.11
				berlin answers 10.2.0.11: hamburg steps in. Its own nodes could serve it again; failback waits: hamburg/a carries 1.2 MB/s (the guard asks for less than 32 kB/s for 30s), until 13:06:51 UTC at the latest; ` + "`dnsteer failback berlin`" + ` does it now.
				berlin=own 10.1.0.11`,
		}, {
			name: "not when it cannot be seen",
			cfg:  both,
			in: away + `8m down hamburg
				8m40s see site hamburg, berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=up
				berlin=emergency:hamburg 10.2.0.11
				site hamburg=down
				berlin=own 10.1.0.11`,
		}, {
			name: "nor when it cannot serve",
			cfg:  both,
			in: away + `8m down hamburg/a
				8m40s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=up
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11`,
		}, {
			name: "nor against the operator's word",
			cfg:  both,
			in: away + `8m failback berlin
				8m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=up
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11`,
		},
	})
}

// With a reload that takes the guard away what waits goes ahead.
func TestA11GuardReload(t *testing.T) {
	runRule(t, []ruleTest{{
		name:   "the guard is taken away",
		cfg:    guard(32_000, 30*time.Second, time.Hour),
		reload: []func(*Config){guard(0, 0, 0), func(c *Config) { c.Sites = c.Sites[:1] }},
		in: `60s down hamburg/a
			100s up hamburg/a
			10m events
			10m reload 0
			10m see hamburg
			10m events`,
		want: `node_offline hamburg/a
			failover_outage hamburg/a
			failover_switch hamburg
			node_online hamburg/a
			failover_failback hamburg/a
			move_put_off hamburg
			hamburg=own 10.2.0.11
			failover_switch hamburg
			move_put_off_ended hamburg`,
	}, {
		name:   "the site is taken away",
		cfg:    guard(32_000, 30*time.Second, time.Hour),
		reload: []func(*Config){func(c *Config) { c.Sites, c.Services = c.Sites[:1], nil }},
		in: `60s down hamburg/a
			100s up hamburg/a
			10m texts
			10m reload 0
			10m events`,
		want: `hamburg/a has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.
			hamburg/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.2.0.1 answers.
			hamburg is now served by b instead of a, and answers 10.2.0.12.
			hamburg/a answers again (2 in a row); it comes back into DNS at 12:06:41 UTC if it then answers (grace 5m).
			hamburg/a is back in DNS: it has answered for 5m (grace 5m).
			hamburg is to be served by hamburg/a again: failback waits: what hamburg/b carries is not known (the guard asks for less than 32 kB/s for 30s), until 13:06:41 UTC at the latest. ` + "`dnsteer failback hamburg`" + ` does it now.
			move_put_off_ended hamburg`,
	}})
}
