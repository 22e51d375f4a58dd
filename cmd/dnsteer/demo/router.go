package demo

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/internal/routersim"
)

// routerName is what the demo's configuration calls the router.
const routerName = "router-munich"

// The user of the devices. Nothing of the demo can be reached from elsewhere.
const (
	deviceUser     = "dnsteer"
	devicePassword = "demo"
)

// router is the resolver of a site and what its answers are pushed to. It has a
// record of somebody else's, which stays as it is.
type router struct {
	site *place
	dns  netip.AddrPort
	sim  *routersim.Router
}

func newRouter(p *place) *router {
	p.upstream = nil
	return &router{site: p, dns: p.resolver}
}

func (r *router) open() error {
	sim, err := routersim.New(routersim.Options{
		Identity: "munich", Username: deviceUser, Password: devicePassword, DNS: r.dns, Pace: routersim.RealPace, Lost: r.site.lost,
	})
	if err != nil {
		return fmt.Errorf("start the router of %s: %w", r.site.name, err)
	}
	if err := sim.Start(context.Background()); err != nil {
		return fmt.Errorf("start the router of %s: %w", r.site.name, takenError(err))
	}
	r.sim = sim
	if _, err := sim.Do("/ip/dns/static/add", "name=nas.example.lan", "address=127.3.0.9", "comment=by hand, long ago"); err != nil {
		return fmt.Errorf("fill the router of %s: %w", r.site.name, err)
	}
	return nil
}

func (r *router) close() {
	if r.sim != nil {
		_ = r.sim.Close() // it ends with the demo
		r.sim = nil
	}
}

// config is the target in the demo's configuration.
func (r *router) config() string {
	pin := r.sim.Fingerprint()
	return fmt.Sprintf("targets:\n  - {name: %s, type: routeros, address: %q, username: %s, password: %s, tls_fingerprint: \"sha256:%s\", reconcile: \"* * * * *\"}\n",
		routerName, r.sim.TLSAddr(), deviceUser, devicePassword, hex.EncodeToString(pin[:]))
}

// elsewhere is where the edit by hand points a name.
const elsewhere = "127.3.0.99"

// edited says whether what somebody has changed there stands yet.
func (r *router) edited() bool {
	return slices.ContainsFunc(r.sim.Records(), func(rec routersim.Record) bool { return rec.Fields["address"] == elsewhere })
}

// edit is somebody at the router's console, who changes a record of the
// controller's. It says what was done.
func (r *router) edit() string {
	for _, rec := range r.sim.Records() {
		if rec.Fields["name"] != "app.example.lan" || rec.Fields["address"] == elsewhere || !strings.Contains(rec.Fields["comment"], "dnsteer") {
			continue
		}
		if _, err := r.sim.Do("/ip/dns/static/set", "numbers="+rec.ID, "address="+elsewhere); err != nil {
			return fmt.Sprintf("the record could not be edited: %v", err)
		}
		return fmt.Sprintf("somebody has changed app.example.lan at the router of %s from %s to %s. It is put right when the router is compared next: as soon as its DNS no longer gives what was pushed, or within a minute.", r.site.name, rec.Fields["address"], elsewhere)
	}
	return fmt.Sprintf("the router of %s has no record of app.example.lan to edit yet: try again in a moment.", r.site.name)
}
