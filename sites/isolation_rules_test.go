package sites

import (
	"testing"
	"time"
)

// third adds a site munich with one node, active-active.
func third(c *Config) {
	s := c.Sites[0]
	s.Name, s.EmergencySite, s.Windows = "munich", "", nil
	s.Witnesses = []Witness{{Name: "resolver 10.3.0.1", Addr: addrs("10.3.0.1")[0]}}
	s.Nodes = []Node{usualNode("a", "10.3.0.11")}
	s.Pools = []Pool{{Name: DefaultPool, Nodes: []int{0}}}
	c.Sites = append(c.Sites, s)
}

// When the controller itself is cut off people must get one alert that says
// so, not one for each site.
func TestN4Isolated(t *testing.T) {
	all := several(third)
	runRule(t, []ruleTest{
		{
			name: "one that was said because nothing could be asked ends after a restart with the first that can",
			cfg:  func(c *Config) { c.Sites = c.Sites[:1] },
			in: `60s unknown berlin
				70s events
				70s restart 10s
				80s up berlin
				90s events`,
			want: `controller_isolated
				controller_reconnected`,
		},
		{
			name: "no site can be seen",
			in: `60s down berlin
				60s down hamburg
				80s see site berlin, site hamburg
				80s events
				10m up berlin
				10m up hamburg
				11m see site berlin, site hamburg
				11m events`,
			want: `site berlin=down
				site hamburg=down
				controller_isolated
				site berlin=up
				site hamburg=up
				controller_reconnected`,
		},
		{
			name: "nothing is sent to any target, also across a restart, until something is seen",
			in: `60s down berlin
				60s down hamburg
				80s see held berlin, held hamburg
				90s restart 10s
				2m see held berlin, held hamburg
				10m up berlin
				11m see held berlin, held hamburg
				20m up hamburg
				21m see held berlin, held hamburg`,
			want: `held berlin=true
				held hamburg=true
				held berlin=true
				held hamburg=true
				held berlin=false
				held hamburg=true
				held berlin=false
				held hamburg=false`,
		},
		{
			name: "after the reconnection the silence of a site not yet seen counts from zero",
			in: `60s down berlin
				60s down hamburg
				80s events
				10m up berlin
				10m4s events
				10m12s events
				10m14s events
				20m up hamburg
				21m events`,
			want: `controller_isolated
				controller_reconnected
				site_down hamburg
				site_up hamburg`,
		},
		{
			name: "a site_down is held back while another site's last witness probe failed too",
			cfg:  all,
			in: `60s down berlin
				65s down hamburg
				65s down munich
				74s events
				79s events
				90s events`,
			want: `controller_isolated`,
		},
		{
			name: "but not longer than site_threshold",
			cfg: several(third, func(c *Config) {
				c.Sites[1].Threshold = 10 * time.Minute
			}),
			in: `60s down berlin
				65s down hamburg
				74s events
				82s events
				84s events`,
			want: `site_down berlin`,
		},
		{
			name: "one of two: site_down at once",
			in: `60s down berlin
				74s events`,
			want: `site_down berlin`,
		},
		{
			name: "one site alone is never the controller's isolation",
			cfg:  func(c *Config) { c.Sites = c.Sites[:1] },
			in: `60s down berlin
				80s events`,
			want: `site_down berlin`,
		},
		{
			name: "every probe unknown",
			in: `60s unknown berlin
				60s unknown hamburg
				70s events
				5m see berlin/a, site berlin
				5m up berlin
				5m10s events`,
			want: `controller_isolated
				berlin/a=up
				site berlin=up
				controller_reconnected
				unjudged hamburg`,
		},
		{
			name: "a site that was down before stays said, and is up again with an event of its own",
			in: `60s down berlin
				2m down hamburg
				3m events
				10m up berlin
				10m up hamburg
				11m events`,
			want: `site_down berlin
				controller_isolated
				site_up berlin
				controller_reconnected`,
		},
		{
			name: "isolated across a restart: said once, and ended by what is seen",
			in: `60s down berlin
				60s down hamburg
				80s restart 1m
				3m events
				3m up berlin
				3m up hamburg
				4m events`,
			want: `controller_isolated
				controller_reconnected`,
		},
		{
			name: "every probe unknown across a restart: nothing is said before anything is known",
			in: `60s unknown berlin
				60s unknown hamburg
				80s restart 1m
				3m events
				3m up berlin
				4m events`,
			want: `controller_isolated
				controller_reconnected
				unjudged hamburg`,
		},
	})
}
