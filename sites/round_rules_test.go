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
