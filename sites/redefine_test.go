package sites

import (
	"testing"
	"time"
)

// If this fails, a probe that was under way when its node's probes were changed
// answers for the new ones: a wrong path passes, or a right one is an outage.
func TestO2UnderWayAtReload(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Node)
		start  time.Duration // of the failing probe, after the reload; negative: before it
		want   Outcome
	}{
		{"the definition changed", func(n *Node) { n.Probes[0].Key = "another" }, -time.Second, Up},
		{"asked after the change", func(n *Node) { n.Probes[0].Steer = true }, time.Second, Down},
		{"the order changed", func(n *Node) { n.Probes = []Probe{n.Probes[1], n.Probes[0]} }, -time.Second, Up},
		{"nothing of the probes changed", func(n *Node) { n.Grace++ }, -time.Second, Down},
	}
	two := func(c *Config) {
		c.Sites[0].Nodes[0].Probes = []Probe{{Name: "tcp", Key: "tcp", Steer: true}, {Name: "http", Key: "http", Steer: true}}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := New(Instant{}, usual(two), Saved{})
			subject := m.Targets()[0].Subject
			for _, x := range m.Targets() {
				if x.Subject.Node == "a" {
					subject = x.Subject
					break
				}
			}
			give := func(start time.Duration, o Outcome) {
				m.Step(Instant{Boot: start + time.Second}, Input{Results: []Result{{
					Subject: subject, Start: start, Finish: start + time.Second, Checks: []Check{{Outcome: o}, {Outcome: o}},
				}}})
			}
			give(time.Second, Up)
			changed := usual(two)
			tt.change(&changed.Sites[0].Nodes[0])
			const reload = 4 * time.Second
			m.Reload(Instant{Boot: reload}, changed)
			give(reload+tt.start, Down)
			if got := m.subjects[subject].record.last; got != tt.want {
				t.Errorf("the last outcome is %v, want %v", got, tt.want)
			}
		})
	}
}
