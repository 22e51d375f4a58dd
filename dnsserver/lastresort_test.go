package dnsserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, secondaries go on answering the last resort of a site that is down,
// for a site without the service, while another site serves it; or every outage of a
// pool that they do not get makes them fetch.
func TestSecondariesLeaveALastResort(t *testing.T) {
	cfg := transferConfig(t)
	cfg.Zones[0].Transfer.Site = "munich" // where the service is not
	s := lanServerOf(t, cfg)
	got, _ := take(t, s, zoneQuery("example.lan."))
	have, at := lines(got[:len(got)-1]), s.Serials()["example.lan"]
	berlin, hamburg := []string{"10.1.0.11", "10.1.0.12"}, []string{"10.2.0.11"}
	steps := []struct {
		name, site string
		addresses  []string
		source     sites.Source
		grows      uint32
		want       []string
	}{
		{"the first site is down", "berlin", berlin, sites.LastResort, 1, hamburg},
		{"and still is", "berlin", berlin, sites.LastResort, 0, hamburg},
		{"another serves for it", "berlin", berlin, sites.Emergency, 1, berlin},
		{"its own nodes again", "berlin", berlin, sites.Own, 0, berlin},
		{"the second site is down", "hamburg", hamburg, sites.LastResort, 0, berlin},
		{"both are", "berlin", berlin, sites.LastResort, 0, berlin},
		{"the second is back", "hamburg", hamburg, sites.Own, 1, hamburg},
	}
	for _, tt := range steps {
		a := answer(tt.addresses...)
		a.Source = tt.source
		s.SetAnswer(tt.site, "default", a)
		if asked := addressesOf(exchange(t, s, "10.3.0.1", ask("app.example.lan.", dns.TypeA), false)); len(asked) != len(tt.want) {
			t.Errorf("%s: a client of that site gets %v", tt.name, asked)
		}
		serial := s.Serials()["example.lan"]
		if serial != at+tt.grows {
			t.Errorf("%s: the serial grew by %d, want %d", tt.name, serial-at, tt.grows)
		}
		got, _ = take(t, s, zoneQuery("example.lan.", at))
		have, at = apply(t, have, got), serial
		var app []string
		for _, line := range have {
			if host, address, ok := strings.Cut(line, " 30 in a "); ok && host == "app.example.lan." {
				app = append(app, address)
			}
		}
		if diff := cmp.Diff(tt.want, app); diff != "" {
			t.Errorf("%s: a secondary (-want +got):\n%s", tt.name, diff)
		}
	}
}
