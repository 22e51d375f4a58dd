package guides

import (
	"testing"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
)

// If this fails, somebody who follows the guide for a home gets stuck, or is left
// with names that do not move.
func TestHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "192.168.1.10", "192.168.1.2", "192.168.1.21", "192.168.1.22")
	w.web("192.168.1.21:443")
	w.web("192.168.1.22:443")
	sim := w.adguard("192.168.1.2", "dnsteer", "correct horse battery")
	if err := sim.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		return append(list, adguardsim.Rewrite{Domain: "home.example.net", Answer: "192.168.1.21", Enabled: true})
	}); err != nil {
		t.Fatal(err)
	}
	follow(w, "home.md", nil)
}
