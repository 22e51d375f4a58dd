package sites

import "testing"

// What was said of something that the configuration no longer has must end, or
// its alert stands on somebody's screen for ever.
func TestA7AlertsEnd(t *testing.T) {
	tests := []struct {
		name, in string
		reload   func(*Config)
	}{
		{"a node that leaves", `0s down berlin/b
			60s down berlin/a
			100s reload 0
			100s down berlin
			3m up berlin
			3m up berlin/b
			20m tick`, func(c *Config) {
			c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[1:], []int{0}
		}},
		{"a site that leaves", `60s down berlin
			100s reload 0
			101s tick`, func(c *Config) { c.Sites = c.Sites[1:] }},
		{"a node that leaves while the operator holds it", `60s disable hamburg/b
			100s reload 0
			101s tick`, func(c *Config) { c.Sites = c.Sites[:1] }},
		{"an address that leaves", `60s down 10.1.0.11
			100s reload 0
			110s tick`, address(0, "10.1.0.99")},
		{"a probe that leaves", `0s down berlin/a
			60s reload 0
			60s up berlin/a
			70s tick`, probes(Probe{"http", "http /", true})},
		{"a pool that leaves while paused", `60s pause hamburg
			61s reload 0
			62s tick`, func(c *Config) { c.Sites = c.Sites[:1] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(nil))
			d.reloads = []func(*Config){tt.reload}
			d.play(tt.in)
			if len(d.all) == 0 {
				t.Error("nothing was said")
			}
			if open := unresolved(d.all); len(open) > 0 {
				t.Errorf("never ended: %v", open)
			}
		})
	}
}

// The same where the configuration has changed while the controller was off.
func TestA7AlertsEndAfterAStart(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s down hamburg/a
		100s maintenance berlin/a
		101s tick`)
	saved := d.saved()
	d.cfg = d.cfg.clone()
	d.cfg.Sites = d.cfg.Sites[:1]
	d.cfg.Sites[0].Nodes, d.cfg.Sites[0].Pools[0].Nodes = d.cfg.Sites[0].Nodes[1:], []int{0}
	d.next = nil
	d.start(saved)
	d.play("3m tick")
	if open := unresolved(d.all); len(open) > 0 {
		t.Errorf("never ended: %v", open)
	}
}
