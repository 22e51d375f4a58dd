package dnsserver

import (
	"fmt"
	"testing"
	"time"
)

// If this fails, clients of a site get another one's answer, or a name of one site
// takes memory for each of a thousand.
func TestServiceFindsItsSites(t *testing.T) {
	const all = 40
	for _, count := range []int{1, 2, fewEntries, fewEntries + 1, all} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			cfg := lanConfig(t)
			cfg.Views, cfg.DefaultSite = nil, ""
			for i := range all {
				cfg.Views = append(cfg.Views, View{Site: fmt.Sprint("s", i)})
			}
			one := Service{Hosts: []string{"many.example.lan"}, Pool: "p"}
			for i := range count { // not in the sites' order
				one.Sites = append(one.Sites, ServiceSite{Site: fmt.Sprint("s", (7*i+3)%all), TTL: time.Second, TTLUnsettled: time.Second})
			}
			cfg.Services = []Service{one}
			svc := newServer(t, cfg).snap.Load().services[0]
			if (svc.bySite == nil) != (count <= fewEntries) {
				t.Errorf("a table of %d sites for %d", len(svc.bySite), count)
			}
			want := map[int32]int32{}
			for i := range count {
				want[int32((7*i+3)%all)] = int32(i)
			}
			for site := range int32(all) {
				i, ok := want[site]
				if !ok {
					i = none
				}
				if got := svc.at(site); got != i {
					t.Errorf("site %d is at %d, want %d", site, got, i)
				}
			}
		})
	}
}
