package sites

import (
	"testing"
	"time"
)

// Time in which the controller could not see must not be held against a node.
func TestO5BlindTime(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "of a line whose other nodes are witnesses too, and which has none: the resolver's silence is enough",
			cfg: func(c *Config) {
				c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0}
				c.Sites[0].WitnessNodes = true
			},
			in: `60s down berlin/a
				62s down berlin resolver 10.1.0.1
				67s up berlin resolver 10.1.0.1
				95s see berlin/a
				97s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		},
		{
			name: "the failing clock stands still from the first failed witness probe to the next that answers",
			in: `60s down berlin/a
				70s down berlin resolver 10.1.0.1
				85s up berlin resolver 10.1.0.1
				105s see berlin/a
				107s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`, // 61 s + 30 s + (88 s − 73 s)
		},
		{
			name: "and does so across a restart",
			in: `60s down berlin resolver 10.1.0.1
				90s down berlin/a
				100s hold
				100s restart 1s
				102s feed berlin/a down 101s 102s
				121s feed berlin up 120s 121s
				121s up berlin resolver 10.1.0.1
				121s free
				149s see berlin/a
				152s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`, // 101 s + 30 s + (120 s − 101 s)
		},
		{
			name: "grace runs on",
			in: `60s down berlin/a
				100s up berlin/a
				110s down berlin resolver 10.1.0.1
				400s see berlin/a
				402s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`, // recovering since 101 s
		},
		{
			name: "a witness's failure that is known before the node's counts too",
			in: `60s hold
				72s feed berlin down 70s 72s
				74s feed berlin up 73s 74s
				75s feed berlin/a down 71s 75s
				76s free
				76s down berlin/a
				102s see berlin/a
				104s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`, // 71 s + 30 s + (73 s − 71 s)
		},
	})
}

// A machine that slept, or that came too late to everything, must not wake up
// and take nodes out for what it did not see.
func TestO5Suspend(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "failing clocks start from zero",
			in: `60s down berlin/a
				80s suspend 1h
				1h1m45s see berlin/a
				1h1m49s see berlin/a
				1h1m52s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "grace too",
			in: `60s down berlin/a
				100s up berlin/a
				2m suspend 1h
				1h6m55s see berlin/a
				1h7m5s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "silence too",
			in: `60s down berlin
				70s suspend 1h
				1h1m19s see site berlin
				1h1m22s see site berlin`,
			want: `site berlin=up
				site berlin=down`,
		}, {
			name: "a probe that was under way ends as unknown",
			in: `60s hold
				61s suspend 1h
				1h1m2s feed berlin/a down 61s 1h1m2s
				1h1m2s see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "five intervals are not more than five",
			in: `60s down berlin/a
				81s tick
				81s suspend 25s
				110s see berlin/a`,
			want: `berlin/a=out`,
		}, {
			name: "more than five are",
			in: `60s down berlin/a
				81s tick
				81s suspend 26s
				130s see berlin/a
				140s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "min_hold too",
			cfg:  minHold(10 * time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				5m suspend 10m
				24m55s see hamburg
				25m5s see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "a jump of the wall clock changes no duration",
			in: `60s down berlin/a
				70s clock 2031-01-01T00:00:00Z
				90s see berlin/a
				92s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		},
	})
}

func minHold(d time.Duration) func(*Config) {
	return func(c *Config) { c.Sites[1].Pools[0].MinHold = d }
}

// A clock that was never set must not end a maintenance or open a window.
func TestO6Suspect(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "said once, and no more when it is right again",
			in: `60s suspect
				90s events
				2m trust
				3m events`,
			want: `clock_suspect`,
		}, {
			name: "--for keeps its state until the clock is right",
			in: `60s maintenance berlin/a for=1h
				61s suspect
				61s clock 2040-01-01T00:00:00Z
				2h see berlin/a
				2h trust
				2h5s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "so do windows",
			cfg:  window("0 13 * * *", time.Hour, 0),
			in: `59m suspect
				61m see berlin/a
				61m trust
				61m5s see berlin/a
				62m suspect
				3h see berlin/a
				3h trust
				3h0m5s see berlin/a`,
			want: `berlin/a=up
				berlin/a=maintenance
				berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "what is ordered for a time while it is wrong lasts that long",
			in: `0s suspect
				0s clock 1970-01-01T00:00:00Z
				60s maintenance berlin/a for=1h
				2m clock 2026-03-01T12:02:00Z
				2m trust
				3m see berlin/a
				1h1m50s see berlin/a
				1h2m10s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=maintenance
				berlin/a=up`,
		},
	})
}
