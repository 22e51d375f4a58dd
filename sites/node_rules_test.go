package sites

import (
	"testing"
	"time"
)

// The clock must run from when the trouble began, not from when it was known,
// and nobody may leave DNS by one failure.
func TestN1Failing(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "from the start of the first failed probe; a failing node stays answered",
			in: `60s hold
				72s feed berlin/a down 70s 72s
				72s see berlin/a, berlin
				72s tick
				72s explain berlin/a`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a has not answered for 2s. It will be taken out at 12:01:40 UTC if it still does not answer then and the resolver 10.1.0.1 does.`,
		},
	})
}

// E8: an outage moves DNS only when it is proven that the line worked before
// and after the failure, or a fault of the line would take out healthy nodes.
func TestN2Round(t *testing.T) {
	// failed leaves berlin/a failing since 61 s, with a deadline at 91 s, and
	// all that is asked unanswered.
	const failed = `60s down berlin/a
		90s hold
		`
	runRule(t, []ruleTest{
		{
			name: "at the deadline, not before",
			in: `60s down berlin/a
				91s see berlin/a, berlin
				91s tick
				91s see berlin/a, berlin
				91s events`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=out
				berlin=own 10.1.0.12
				node_offline berlin/a
				failover_outage berlin/a`,
		}, {
			name: "the machine asks for the round's probes when the deadline comes, one after the other",
			in: failed + `90.9s asked
				91.1s asked
				91.2s feed berlin up 91.1s 91.2s
				91.2s asked
				91.3s feed berlin/a down 91.2s 91.3s
				91.3s asked
				91.3s see berlin/a
				91.4s feed berlin up 91.3s 91.4s
				91.4s see berlin/a`,
			want: `asked
				asked berlin resolver 10.1.0.1
				asked berlin/a 10.1.0.11
				asked berlin resolver 10.1.0.1
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "a witness that was asked before the deadline proves nothing",
			in: failed + `92s feed berlin up 90.9s 92s
				92s feed berlin/a down 92s 92.1s
				93s feed berlin up 90.95s 93s
				93s see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name: "a failure that started before the witness had answered is none of the round",
			in: failed + `91.2s feed berlin up 91.1s 91.2s
				91.4s feed berlin/a down 91.15s 91.4s
				91.5s feed berlin up 91.45s 91.5s
				91.5s see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name: "a witness that was asked before the failure was known is none of the round",
			in: failed + `91.2s feed berlin up 91.1s 91.2s
				91.4s feed berlin/a down 91.25s 91.4s
				91.5s feed berlin up 91.3s 91.5s
				91.5s see berlin/a
				91.6s feed berlin up 91.4s 91.6s
				91.6s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "the node answers in the round: broken, the next failure starts another",
			in: failed + `91.2s feed berlin up 91.1s 91.2s
				91.3s feed berlin/a up 91.2s 91.3s
				91.4s feed berlin up 91.3s 91.4s
				91.4s see berlin/a
				91.4s asked
				96s feed berlin/a down 96s 96.1s
				96.1s asked
				96.2s feed berlin up 96.15s 96.2s
				96.3s feed berlin/a down 96.2s 96.3s
				96.4s feed berlin up 96.3s 96.4s
				96.4s see berlin/a`,
			want: `berlin/a=failing
				asked berlin resolver 10.1.0.1, berlin/a 10.1.0.11
				asked berlin resolver 10.1.0.1
				berlin/a=out`,
		}, {
			name: "the witness fails in the round: broken, blind time is added, a new deadline starts another",
			in: failed + `91.2s feed berlin up 91.1s 91.2s
				91.3s feed berlin/a down 91.2s 91.3s
				93.3s feed berlin down 91.3s 93.3s
				93.3s see berlin/a
				93.3s asked
				94s feed berlin up 94s 94s
				94s asked
				95s see berlin/a
				95s feed berlin up 95s 95s
				95s feed berlin/a down 95s 95s
				95s feed berlin up 95s 95s
				95s see berlin/a`,
			want: `berlin/a=failing
				asked berlin resolver 10.1.0.1, berlin/a 10.1.0.11, berlin resolver 10.1.0.1
				asked berlin resolver 10.1.0.1, berlin/a 10.1.0.11
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "what cannot be found out in the round confirms nothing",
			in: failed + `91.2s feed berlin up 91.1s 91.2s
				91.3s feed berlin/a unknown 91.2s 91.3s
				91.4s feed berlin up 91.3s 91.4s
				91.4s see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name: "two failures in a row, however long the first is ago",
			in: `60s down berlin/a
				87s up berlin/a
				92s hold
				96s feed berlin/a down 96s 96s
				96s feed berlin up 96s 96s
				96s see berlin/a
				96s feed berlin/a down 96s 96s
				96s feed berlin up 96s 96s
				96s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "threshold 0 still takes a round and two failures",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Threshold = 0 },
			in: `60s hold
				61s feed berlin/a down 61s 61s
				61s see berlin/a
				61s asked
				61s feed berlin up 61s 61s
				61s asked
				61s feed berlin/a down 61s 61s
				61s see berlin/a
				61s feed berlin up 61s 61s
				61s see berlin/a`,
			want: `berlin/a=failing
				asked berlin resolver 10.1.0.1
				asked berlin/a 10.1.0.11
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "require all: each witness must answer at both ends",
			cfg:  twoWitnesses(true),
			in: `60s down berlin/a
				90s down 10.1.0.2
				90s see berlin/a
				5m see berlin/a
				5m up 10.1.0.2
				5m5s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "witnesses nodes: another node that answers is proof enough",
			cfg:  func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true },
			in: `60s down berlin/a
				91s tick
				91s see berlin/a
				2m down berlin/b
				10m see berlin/b, site berlin`,
			want: `berlin/a=out
				berlin/b=failing
				site berlin=down`,
		}, {
			name: "witnesses none: threshold and two failures decide",
			cfg:  func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true },
			in: `60s down berlin/a
				90s see berlin/a
				91s tick
				92s see berlin/a
				2m down berlin
				3m see berlin/b, site berlin`,
			want: `berlin/a=failing
				berlin/a=out
				berlin/b=out
				site berlin=up`,
		}, {
			name: "witnesses none, one failure in a row at the deadline",
			cfg: func(c *Config) {
				c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true
				c.Sites[0].Nodes[0].Threshold = 5 * time.Second
			},
			in: `60s hold
				61s feed berlin/a down 61s 61s
				62s feed berlin/a up 62s 62s
				67s feed berlin/a down 67s 67s
				67s see berlin/a
				68s feed berlin/a down 68s 68s
				68s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		},
	})
}

func twoWitnesses(all bool) func(*Config) {
	return func(c *Config) {
		c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "icmp 10.1.0.2", Addr: addrs("10.1.0.2")[0]})
		c.Sites[0].WitnessAll = all
	}
}

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

// Planned work must be quick at both ends, and a node that does not come back
// from it must be told of and not be put into DNS.
func TestN7Maintenance(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "out at once, probed on, back in the same step without grace",
			in: `60s maintenance berlin/a
				60s see berlin/a, berlin
				60s events
				70s maintenance_end berlin/a
				70s see berlin/a, berlin
				70s events`,
			want: `berlin/a=maintenance
				berlin=own 10.1.0.12
				failover_maintenance berlin/a
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				failover_maintenance berlin/a`,
		}, {
			name: "one that does not answer is returning until it first does",
			in: `60s maintenance berlin/a
				60s down berlin/a
				5m maintenance_end berlin/a
				5m see berlin/a, berlin
				6m up berlin/a
				6m2s see berlin/a, berlin`,
			want: `berlin/a=returning
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "nodes in maintenance are not offline; one that does not come back for a threshold is",
			in: `60s maintenance berlin/a
				60s down berlin/a
				5m events
				5m maintenance_end berlin/a
				5m29s events
				5m31s events
				6m up berlin/a
				6m2s events
				6m8s events`,
			want: `failover_maintenance berlin/a
				failover_maintenance berlin/a
				node_offline berlin/a
				node_online berlin/a`,
		}, {
			name: "not while the site is not seen",
			in: `60s maintenance berlin/a
				60s down berlin
				5m maintenance_end berlin/a
				10m events`,
			want: `failover_maintenance berlin/a
				site_down berlin
				failover_maintenance berlin/a`,
		}, {
			name: "a node that was out comes back without grace",
			in: `60s down berlin/a
				100s maintenance berlin/a
				110s up berlin/a
				120s maintenance_end berlin/a
				120s see berlin/a
				122s events`,
			want: `berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				failover_maintenance berlin/a
				node_online berlin/a
				failover_maintenance berlin/a
				failover_failback berlin/a`,
		}, {
			name: "that it answers again is said in maintenance too",
			in: `60s down berlin/a
				100s maintenance berlin/a
				100s events
				110s up berlin/a
				120s events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				failover_maintenance berlin/a
				node_online berlin/a`,
		}, {
			name: "also while an emergency site serves",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				95s see berlin
				100s maintenance berlin/a
				110s up berlin/a
				120s maintenance_end berlin/a
				120s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11`,
		}, {
			name: "the whole site",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s maintenance berlin
				60s see berlin/a, berlin/b, berlin
				2m maintenance_end berlin
				2m see berlin`,
			want: `berlin/a=maintenance
				berlin/b=maintenance
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "ending what is not in maintenance is refused",
			in:   `60s maintenance_end berlin/a`,
			want: `refused: Refused: nothing of berlin/a is in maintenance.`,
		},
	})
}

// A disabled node must be left in peace, and must come back by what is found
// out after its end alone.
func TestN8Disabled(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "out at once, not probed, no outage",
			in: `60s disable berlin/a
				60s see berlin/a, berlin
				60s down berlin/a
				10m events`,
			want: `berlin/a=disabled
				berlin=own 10.1.0.12
				node_disabled berlin/a`,
		}, {
			name: "its end asks a probe at once",
			in: `60s disable berlin/a
				5m enable berlin/a
				5m see berlin/a, berlin
				5m events`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				node_disabled berlin/a
				node_enabled berlin/a`,
		}, {
			name: "results from before or during it count no more",
			in: `60s hold
				60s disable berlin/a
				5m enable berlin/a
				5m1s feed berlin/a up 59s 5m1s
				5m1s see berlin/a
				5m2s feed berlin/a up 4m59s 5m2s
				5m2s see berlin/a
				5m3s feed berlin/a up 5m 5m3s
				5m3s see berlin/a`,
			want: `berlin/a=returning
				berlin/a=returning
				berlin/a=up`,
		}, {
			name: "enabled but silent: returning, offline after a threshold",
			in: `60s disable berlin/a
				70s down berlin/a
				5m enable berlin/a
				5m see berlin/a
				5m29s events
				5m31s events`,
			want: `berlin/a=returning
				node_disabled berlin/a
				node_enabled berlin/a
				node_offline berlin/a`,
		}, {
			name: "disabled in maintenance: each ends by itself",
			in: `60s maintenance berlin/a
				61s disable berlin/a
				61s see berlin/a
				62s maintenance_end berlin/a
				62s see berlin/a
				63s enable berlin/a
				63s see berlin/a`,
			want: `berlin/a=disabled
				berlin/a=disabled
				berlin/a=up`,
		}, {
			name: "refusals",
			in: `60s enable berlin/a
				60s disable berlin
				60s disable berlin/x
				60s disable bonn/a`,
			want: `refused: Refused: nothing of berlin/a is disabled.
				refused: Name the node to disable: a, b.
				refused: Site berlin has no node "x". Its nodes are a, b.
				refused: There is no site "bonn". The sites are berlin, hamburg.`,
		},
	})
}

// A pair that looks after itself must never be taken out by an outage, and must
// obey its operator all the same.
func TestN9NoFailover(t *testing.T) {
	pair := func(c *Config) {
		c.Sites[0].Nodes[0].Failover = false
		c.Sites[0].Nodes[0].Secondary = addrs("10.1.0.21")
	}
	runRule(t, []ruleTest{
		{
			name: "an outage is told and moves nothing",
			cfg:  pair,
			in: `60s down berlin/a
				10m see berlin/a, berlin, ttl berlin
				10m up berlin/a
				11m events`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12
				ttl berlin=30s
				node_offline berlin/a
				node_online berlin/a`,
		}, {
			name: "maintenance takes it; its end does not wait for an answer",
			cfg:  pair,
			in: `60s maintenance berlin/a
				60s see berlin
				60s down berlin/a
				2m maintenance_end berlin/a
				2m see berlin, berlin/a`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12
				berlin/a=failing`,
		}, {
			name: "so does disabling",
			cfg:  pair,
			in: `60s disable berlin/a
				60s see berlin
				60s down berlin/a
				2m enable berlin/a
				2m see berlin`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12`,
		}, {
			name: "it serves from the first start on, though it does not answer",
			cfg:  pair,
			in: `0s down berlin/a
				5m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12`,
		},
	})
}

// A new node must join only when it answers, and a first start must answer
// something before anything is known.
func TestN10Pending(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "until the first results all are answered, and the first in order of an active-passive pool",
			in:   `0s see berlin/a, berlin, hamburg`,
			want: `berlin/a=pending
				berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "it joins when it first answers",
			in: `0s down berlin/a
				10s see berlin/a, berlin
				10s up berlin/a
				12s see berlin/a, berlin`,
			want: `berlin/a=pending
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "after a failed first result it does not serve, once a witness has answered since",
			in: `0s down hamburg/a
				0s down hamburg/b
				2s see hamburg
				2s up hamburg/b
				4s see hamburg
				7s see hamburg`,
			want: `hamburg=own 10.2.0.11
				hamburg=last_resort 10.2.0.11
				hamburg=own 10.2.0.12`,
		}, {
			name: "with a silent witness it goes on counting as serving",
			in: `0s down berlin
				30s see berlin
				30s see site berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				site berlin=down`,
		}, {
			name: "a node that a reload adds",
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes = append(c.Sites[0].Nodes, usualNode("c", "10.1.0.13"))
				c.Sites[0].Pools[0].Nodes = []int{0, 1, 2}
			}},
			in: `60s down berlin/c
				60s reload 0
				80s see berlin/c, berlin
				80s up berlin/c
				85s see berlin/c, berlin`,
			want: `berlin/c=pending
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/c=up
				berlin=own 10.1.0.11, 10.1.0.12, 10.1.0.13`,
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
				Put back: a.
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
