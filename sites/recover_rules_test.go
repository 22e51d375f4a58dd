package sites

import (
	"testing"
	"time"
)

// A node that comes back must prove itself for its grace, and a failure in it
// must count only if the line is proven.
func TestN6Recovering(t *testing.T) {
	const out = `60s down berlin/a
		100s up berlin/a
		`
	runRule(t, []ruleTest{
		{
			name: "grace from the start of the first success, ended by one after it",
			in: out + `106s see berlin/a
				107s see berlin/a
				400s see berlin/a, berlin
				401s tick
				401s see berlin/a, berlin
				401s events`,
			want: `berlin/a=out
				berlin/a=recovering
				berlin/a=recovering
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a`,
		}, {
			name: "the success must have started at or after the end of grace",
			in: out + `399s hold
				401.1s asked
				402s feed berlin/a up 400.9s 402s
				402s see berlin/a
				402.1s feed berlin/a up 401s 402.1s
				402.1s see berlin/a`,
			want: `asked berlin/a 10.1.0.11
				berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "a failure sets it back and grace starts anew, once a witness has answered since",
			in: out + `200s down berlin/a
				202s see berlin/a
				204s see berlin/a
				204s up berlin/a
				212s see berlin/a
				505s see berlin/a
				507s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=out
				berlin/a=recovering
				berlin/a=recovering
				berlin/a=up`, // 206 s + 300 s
		}, {
			name: "also when it answers again before the witness has",
			in: out + `199s hold
				201s feed berlin/a down 201s 201s
				202s feed berlin/a up 202s 202s
				202s see berlin/a
				203s feed berlin up 203s 203s
				203s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=out`,
		}, {
			name: "also when its grace has passed meanwhile: what is heard first, the node or the witness, is chance",
			in: out + `198s hold
				201s feed berlin/a down 201s 201s
				202s feed berlin/a up 202s 202s
				203s feed berlin/a up 203s 203s
				406s feed berlin/a up 406s 406s
				406s see berlin/a
				406s explain berlin/a
				407s feed berlin up 407s 407s
				407s see berlin/a
				408s feed berlin/a up 408s 408s
				408s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a answers again since 12:01:46 UTC, and has failed once since: when the resolver 10.1.0.1 answers, its grace starts anew.
				berlin/a=recovering
				berlin/a=recovering`,
		}, {
			name: "a line that comes back after the grace is over ends no grace by itself",
			in: out + `200s down berlin
				20m up berlin
				20m20s see berlin/a, berlin
				25m20s see berlin/a
				25m20s events`,
			want: `berlin/a=recovering
				berlin=own 10.1.0.12
				berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				site_down berlin
				site_up berlin
				failover_failback berlin/a`,
		}, {
			name: "until then it keeps its word",
			in: out + `200s down berlin
				250s see berlin/a, site berlin
				250s up berlin
				255s see berlin/a`,
			want: `berlin/a=recovering
				site berlin=down
				berlin/a=out`,
		}, {
			name: "a witness that was asked before the failed probe does not count",
			in: out + `199s hold
				201.5s feed berlin/a down 201s 201.5s
				202s feed berlin up 200.9s 202s
				202s see berlin/a
				202.1s feed berlin up 201s 202.1s
				202.1s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=out`,
		}, {
			name: "require all: both witnesses must have answered since",
			cfg:  twoWitnesses(true),
			in: out + `198s hold
				201.5s feed berlin/a down 201s 201.5s
				202s feed berlin up 201s 202s
				202s see berlin/a`,
			want: `berlin/a=recovering`,
		}, {
			name: "a failure at the end of grace does not bring it back",
			in: out + `399s down berlin/a
				402s see berlin/a
				404s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=out`,
		}, {
			name: "grace 0",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Grace = 0 },
			in: out + `106s see berlin/a
				107s see berlin/a`,
			want: `berlin/a=out
				berlin/a=up`,
		}, {
			name: "failback manual waits for the operator",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Failback = FailbackManual },
			in: out + `20m see berlin/a, berlin
				20m explain berlin/a
				20m failback berlin
				20m see berlin/a, berlin`,
			want: `berlin/a=recovering
				berlin=own 10.1.0.12
				berlin/a answers again since 12:01:46 UTC and is ready: ` + "`dnsteer failback berlin`" + ` puts it back.
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		},
	})
}

// An end of something must not send clients to a node that is dead.
func TestN12AnswersFirst(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "the end of a maintenance",
			in: `60s maintenance berlin/a
				70s down berlin/a
				72s maintenance_end berlin/a
				72s see berlin`,
			want: `berlin=own 10.1.0.12`,
		}, {
			name: "an unknown last result is no answer",
			in: `60s maintenance berlin/a
				70s unknown berlin/a
				72s maintenance_end berlin/a
				72s see berlin/a, berlin
				73s up berlin/a
				77s see berlin`,
			want: `berlin/a=returning
				berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "the end of grace",
			in: `60s down berlin/a
				100s up berlin/a
				398s unknown berlin/a
				10m see berlin/a, berlin`,
			want: `berlin/a=recovering
				berlin=own 10.1.0.12`,
		}, {
			name: "a failback without force, and with it",
			in: `60s down berlin/a
				100s failback berlin say
				100s see berlin
				100s failback berlin force say
				100s see berlin`,
			want: `Left out, because they do not answer: a (--force puts them back all the same).
				berlin=own 10.1.0.12
				Put back: a. berlin answers 10.1.0.11, 10.1.0.12 now.
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "a window's end",
			cfg:  window("2 12 * * *", time.Minute, 0),
			in: `2m1s see berlin/a
				2m2s down berlin/a
				3m1s see berlin/a, berlin`,
			want: `berlin/a=maintenance
				berlin/a=returning
				berlin=own 10.1.0.12`,
		}, {
			name: "a resume",
			cfg: func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0, 1}})
			},
			in: `60s down berlin/a
				100s see berlin/media
				100s pause berlin/media
				100s up berlin/a
				410s see berlin/a, berlin, berlin/media
				411s down berlin/a
				413s resume berlin/media
				413s see berlin/a, berlin, berlin/media
				414s up berlin/a
				417s see berlin/media`,
			want: `berlin/media=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/media=own 10.1.0.12
				berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/media=own 10.1.0.12
				berlin/media=own 10.1.0.11, 10.1.0.12`,
		},
	})
}
