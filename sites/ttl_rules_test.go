package sites

import (
	"testing"
	"time"
)

// Caches must be nearly empty when an answer moves, and full in quiet times.
func TestA9TTL(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "from the second failure in a row",
			in: `50s see ttl berlin
				60s down berlin/a
				65s see ttl berlin
				67s see ttl berlin
				100s see ttl berlin`,
			want: `ttl berlin=30s
				ttl berlin=30s
				ttl berlin=5s
				ttl berlin=30s`,
		}, {
			name: "two failures that come together",
			in: `60s hold
				66s feed berlin/a down 65s 66s
				66s feed berlin/a down 66s 66s
				66s see ttl berlin`,
			want: `ttl berlin=5s`,
		}, {
			name: "while recovering within one TTL of the return",
			in: `60s down berlin/a
				100s up berlin/a
				370s see ttl berlin
				372s see ttl berlin
				402s see ttl berlin`,
			want: `ttl berlin=30s
				ttl berlin=5s
				ttl berlin=30s`, // back at 401 s
		}, {
			name: "not where the return waits for the operator",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Failback = FailbackManual },
			in: `60s down berlin/a
				100s up berlin/a
				380s see ttl berlin`,
			want: `ttl berlin=30s`,
		}, {
			name: "less than one TTL before a window",
			cfg:  window("10 12 * * *", time.Hour, 0),
			in: `9m30s tick
				9m30s see ttl berlin
				9m31s tick
				9m31s see ttl berlin
				10m1s see ttl berlin`,
			want: `ttl berlin=30s
				ttl berlin=5s
				ttl berlin=30s`,
		}, {
			name: "the nearest of several windows counts",
			cfg:  several(window("10 12 * * *", time.Hour, 0), window("20 12 * * *", time.Hour, 1)),
			in: `9m31s tick
				9m31s see ttl berlin`,
			want: `ttl berlin=5s`,
		}, {
			name: "nor before a window's end",
			cfg:  window("10 12 * * *", time.Hour),
			in: `69m31s tick
				69m31s see ttl berlin`,
			want: `ttl berlin=30s`,
		}, {
			name: "nor before one of nodes that are none of the pool, or out of it already",
			cfg: several(window("10 12 * * *", time.Hour, 0), window("20 12 * * *", time.Hour, 1), func(c *Config) {
				c.Sites[0].Pools[0].Nodes = []int{1}
			}),
			in: `9m31s tick
				9m31s see ttl berlin
				19m maintenance berlin/b force
				19m31s tick
				19m31s see ttl berlin`,
			want: `ttl berlin=30s
				ttl berlin=30s`,
		}, {
			name: "nor before one that no clock can open (O6)",
			cfg:  window("10 12 * * *", time.Hour, 0),
			in: `9m suspect
				9m31s tick
				9m31s see ttl berlin`,
			want: `ttl berlin=30s`,
		}, {
			name: "nor before the return of one that was not found out lately, or may have failed",
			in: `60s down berlin/a
				100s up berlin/a
				372s see ttl berlin
				375s unknown berlin/a
				377s see ttl berlin
				380s up berlin/a
				382s see ttl berlin
				382s down berlin resolver 10.1.0.1
				385s down berlin/a
				387s up berlin/a
				392s see ttl berlin, berlin/a`,
			want: `ttl berlin=5s
				ttl berlin=30s
				ttl berlin=5s
				ttl berlin=30s
				berlin/a=recovering`,
		}, {
			name: "a pool that an emergency site serves follows that site too",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				100s see ttl berlin
				110s down hamburg/a
				120s see ttl berlin, ttl hamburg
				145s see ttl berlin, ttl hamburg`,
			want: `ttl berlin=30s
				ttl berlin=5s
				ttl hamburg=5s
				ttl berlin=30s
				ttl hamburg=30s`,
		}, {
			name: "also before a change there that is near by its own longer TTL alone",
			cfg: several(emergencies("berlin>hamburg"), func(c *Config) {
				c.Sites[0].TTL = 2 * time.Minute
				c.Sites[1].Nodes[0].Grace = 5 * time.Minute
			}),
			in: `60s down hamburg/a
				60s down berlin/a
				60s down berlin/b
				2m up hamburg/a
				5m see ttl berlin
				5m2s tick
				5m2s see ttl berlin, ttl hamburg`,
			want: `ttl berlin=2m0s
				ttl berlin=5s
				ttl hamburg=30s`,
		}, {
			name: "one pair without failover unsettles nothing",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Failover = false },
			in: `60s down berlin/a
				80s see ttl berlin`,
			want: `ttl berlin=30s`,
		},
	})
}

// A service with a TTL of its own must have that, and never more than that
// while a change is near.
func TestA9ServiceTTL(t *testing.T) {
	tests := []struct {
		name           string
		horizon        time.Duration
		ttl, unsettled time.Duration
		want           time.Duration
	}{
		{"quiet", Forever, 30 * time.Second, 5 * time.Second, 30 * time.Second},
		{"quiet, a long one of its own", Forever, time.Hour, 5 * time.Second, time.Hour},
		{"near", 0, 30 * time.Second, 5 * time.Second, 5 * time.Second},
		{"near, shorter than the unsettled one", 0, 2 * time.Second, 5 * time.Second, 2 * time.Second},
		{"nearer than the long one alone", 30 * time.Second, time.Hour, 5 * time.Second, 5 * time.Second},
		{"not nearer than the short one", 30 * time.Second, 30 * time.Second, 5 * time.Second, 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Answer{Horizon: tt.horizon}).TTL(tt.ttl, tt.unsettled); got != tt.want {
				t.Errorf("TTL(%s, %s) = %s, want %s", tt.ttl, tt.unsettled, got, tt.want)
			}
		})
	}
}
