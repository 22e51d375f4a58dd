package sites

import "testing"

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
			name: "and after it: what has failed while the witness was silent says nothing of the node (O5)",
			cfg:  emergencies("berlin>hamburg"),
			in: `0s hold
				1s feed berlin down 1s 1s
				2s feed berlin/a down 2s 2s
				2s feed berlin/b down 2s 2s
				2s feed hamburg up 2s 2s
				2s feed hamburg/a up 2s 2s
				3s feed berlin up 3s 3s
				3s see berlin
				4s feed berlin/a down 4s 4s
				4s feed berlin/b down 4s 4s
				4s see berlin
				5s feed berlin up 5s 5s
				5s see berlin
				5s events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11
				failover_switch berlin`,
		}, {
			name: "so it does where a reload puts it in the place of all others",
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = []Node{usualNode("c", "10.1.0.13")}, []int{0}
			}},
			in: `60s down berlin
				62s reload 0
				90s see berlin/c, berlin
				90s up berlin resolver 10.1.0.1
				90s down berlin/c
				90s up berlin
				100s see berlin`,
			want: `berlin/c=pending
				berlin=own 10.1.0.13
				berlin=last_resort 10.1.0.13`,
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
