package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/internal/api"
)

// Each reload that changes something else would try a wrong password anew, until
// AdGuard Home shuts the controller's address out; or the right one would have to
// wait for the wrong one's rest.
func TestRefusedCredentialsAndReloads(t *testing.T) {
	w := newWorld(t, "berlin")
	guard, err := adguardsim.Start(adguardsim.Options{Username: "dnsteer", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = guard.Close() })
	config := func(name, password string) string {
		return w.pushedConfig(fmt.Sprintf("%q", guard.DNS()), fmt.Sprintf("{name: %s, type: adguard, servers: [%q], username: dnsteer, password: %s}", name, guard.URL(), password))
	}
	w.write(config("guard", "wrong"))
	r := w.start()
	refused := func() bool { return r.target().State == api.TargetDenied }
	r.until("it is refused", refused)
	// What is wrong with targets is counted by the metrics as the status lists it.
	var text strings.Builder
	if err := r.metrics.Text(&text); err != nil || strings.Contains(text.String(), "\ndnsteer_problems 0\n") {
		t.Errorf("the metrics have no problem (%v)", err)
	}
	reload := func(name, password string) {
		t.Helper()
		w.write(config(name, password))
		if _, err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		name := "guard" + strings.Repeat("x", i+1)
		reload(name, "wrong")
		r.until("it still is", func() bool { return r.target().Name == name && refused() })
		if _, err := r.Plan(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := guard.Logins(); n != 1 {
		t.Errorf("%d log-ins", n)
	}
	reload("guard", "secret")
	r.until("the right one is taken", r.current)
}
