package routeros

import (
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/sites"
)

// A router on which records have no effect, or cannot be written, would be found
// out by the first move.
func TestInspect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      routersim.Options
		faults routersim.Faults
		want   []string // severity and a part of the text, worst first
	}{
		{"all is well", routersim.Options{}, routersim.Faults{}, []string{"warning AAAA queries for four.lan go upstream", "info 1,000 changed records take about 20 s"}},
		{"old", routersim.Options{Version: "6.48.1"}, routersim.Faults{}, []string{"warning AAAA", "info wildcards are regular", "info 1,000"}},
		{"nobody is answered", routersim.Options{RefuseDNS: true}, routersim.Faults{}, []string{"critical allow-remote-requests=yes", "warning AAAA", "info 1,000"}},
		{"no right to write", routersim.Options{}, routersim.Faults{ReadOnly: true}, []string{"critical policy=read,write,api; /user set dnsteer group=dnsteer", "warning AAAA", "info 1,000"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Identity = "gw\xfc1"
			r := router(t, tt.o)
			p := open(t, pinned(r))
			push(t, p, record("four.lan", "192.0.2.1", time.Minute), record("both.lan", "192.0.2.1", time.Minute), record("both.lan", "2001:db8::1", time.Minute))
			before := rows(r)
			r.SetFaults(tt.faults)
			in, err := p.Inspect(within(t))
			if err != nil {
				t.Fatal(err)
			}
			version := tt.o.Version
			if version == "" {
				version = "7.24.4"
			}
			if want := "RouterOS " + version + ` (stable) "gw�1"`; in.Product != want || in.TTL != 0 {
				t.Errorf("product %s, want %s", in.Product, want)
			}
			if len(in.Findings) != len(tt.want) {
				t.Fatalf("%+v", in.Findings)
			}
			for i, f := range in.Findings {
				severity, text, _ := strings.Cut(tt.want[i], " ")
				if f.Severity != sites.Severity(severity) || !strings.Contains(f.Text, text) {
					t.Errorf("%s: %s, want %s", f.Severity, f.Text, tt.want[i])
				}
			}
			if got := rows(r); strings.Join(got, "\n") != strings.Join(before, "\n") {
				t.Error("it changes something")
			}
		})
	}
}
