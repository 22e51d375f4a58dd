package sites

import "testing"

// Who is cut off must not be told that all is well before anything answers, and of a
// site that is lost only on what was seen since the controller is awake.
func TestN4Reconnected(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "what fails after nothing could be asked reconnects nobody",
			in: `60s unknown berlin
				60s unknown hamburg
				5m events
				5m up berlin
				5m up hamburg
				5m down berlin
				5m down hamburg
				5m8s events
				10m events
				10m see held berlin
				10m up berlin
				10m up hamburg
				11m texts`,
			want: `controller_isolated
				held berlin=true
				The controller is no longer cut off: it sees berlin, hamburg. No outage moved anything meanwhile.`,
		}, {
			name:   "a controller that is left with one site",
			reload: []func(*Config){func(c *Config) { c.Sites, c.Services = c.Sites[:1], nil }},
			in: `60s down berlin
				60s down hamburg
				2m events
				2m reload 0
				2m1s texts
				3m texts`,
			want: `controller_isolated
				The controller is not taken to be cut off any more: by the sites that are left that cannot be told. No outage moved anything meanwhile.
				berlin cannot be seen since 12:01:13 UTC: neither its resolver nor any of its nodes answers (connection refused). Its DNS is left alone: our own line is the likeliest cause.`,
		}, {
			name: "a site_down that was held back is not said at a start before the site was silent again (N4, O5)",
			in: `60s down berlin
				66s down hamburg resolver 10.2.0.1
				75s see site berlin
				75s events
				75s up hamburg resolver 10.2.0.1
				75s restart 1s
				77s events
				82s up berlin
				100s events
				100s see site berlin`,
			want: `site berlin=down
				site berlin=up`,
		}, {
			name: "nor is it kept for itself where it goes on",
			in: `60s down berlin
				66s down hamburg resolver 10.2.0.1
				75s up hamburg resolver 10.2.0.1
				75s restart 1s
				85s events
				100s events
				100s see site berlin`,
			want: `site_down berlin
				site berlin=down`,
		}, {
			name: "nor is it said after a sleep",
			in: `60s down berlin
				66s down hamburg resolver 10.2.0.1
				75s see site berlin
				75s up hamburg resolver 10.2.0.1
				75s suspend 60s
				135s hold
				136s feed hamburg up 136s 136s
				136s events
				137s feed berlin up 137s 137s
				137s see site berlin
				137s events`,
			want: `site berlin=down
				site berlin=up`,
		},
	})
}
