package api

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// Somebody would trust in a failover that a name does not have at a router, or
// look for a fault where none is.
func TestWhatIsToldOfTargets(t *testing.T) {
	yes, no := true, false
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v := TargetView{
		Name: "router", Server: "10.1.0.1:8729", Site: "berlin", State: TargetCurrent, Compared: at,
		Records: []TargetRecord{
			{Name: "app.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}, Visible: &yes},
			{Name: "app.lan", Type: "AAAA", Desired: []string{"fd00::1"}, Actual: []string{"fd00::1"}},
			{Name: "*.apps.lan", Type: "A", Desired: []string{"10.1.0.11", "10.1.0.12"}, Actual: []string{"10.1.0.11"}},
			{Name: "tv.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}, Visible: &no},
			{Name: "old.lan", Type: "A"},
			{Name: "full.lan", Type: "A", Desired: []string{"10.1.0.12"}, Actual: []string{"10.1.0.11"}, Error: "full.lan A: no space left"},
		},
		NoFailover: []TargetConflict{{Name: "www.lan", Type: "A", Text: "www.lan A has no failover there: 10.9.9.9 stands there."}},
		Findings:   []TargetFinding{{Severity: sites.Warning, Text: "a hint."}},
	}
	const conflict = "At router: www.lan A has no failover there: 10.9.9.9 stands there."
	for _, tt := range []struct {
		name, what string
		want       []string
	}{
		{"visible", "App.lan.", []string{"Said.", "It is pushed to router (10.1.0.1:8729) as A 10.1.0.11; the site's resolver answers with it.", "It is pushed to router (10.1.0.1:8729) as AAAA fd00::1, and was read there."}},
		{"a refused one", "full.lan", []string{"Said.", "It is pushed to router (10.1.0.1:8729) as A 10.1.0.12; there it was last read as 10.1.0.11, and the target refuses to change it: full.lan A: no space left."}},
		{"wildcard", "x.apps.lan", []string{"Said.", "It is pushed to router (10.1.0.1:8729) as A 10.1.0.11, 10.1.0.12; there it was last read as 10.1.0.11."}},
		{"not visible", "tv.lan", []string{"Said.", "It is pushed to router (10.1.0.1:8729) as A 10.1.0.11, and was read there, but the site's resolver does not answer with it."}},
		{"gone", "old.lan", []string{"Said.", "It has no A at router (10.1.0.1:8729), and was read there."}},
		{"conflict first", "www.lan", []string{conflict, "Said."}},
		{"site", "berlin", []string{"Said.", "Its answers are pushed to router (10.1.0.1:8729): 4 of 6 records as they should be."}},
		{"another name", "apps.lan", []string{"Said."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, explainTargets(tt.what, []string{"Said."}, []TargetView{v})); d != "" {
				t.Errorf("sentences (-want +got):\n%s", d)
			}
		})
	}
	for _, tt := range []struct {
		name   string
		change func(*TargetView)
		want   []string
	}{
		{"conflicts and what is not visible", func(*TargetView) {}, []string{conflict, "tv.lan A was pushed to router, and the site's resolver does not answer with it."}},
		{"failing", func(v *TargetView) {
			*v = TargetView{Name: "r", Server: "s", State: TargetFailing, Since: at, Error: "connection refused."}
		}, []string{"r (s) fails since 12:00:00 UTC: connection refused. Its clients get what it was told before."}},
		{"failing for days", func(v *TargetView) {
			*v = TargetView{Name: "r", Server: "s", State: TargetFailing, Since: at.Add(-50 * time.Hour), Error: "connection refused"}
		}, []string{"r (s) fails since 2026-02-27 10:00:00 UTC: connection refused. Its clients get what it was told before."}},
		{"failing with its records right", func(v *TargetView) {
			*v = TargetView{Name: "r", Server: "s", State: TargetFailing, Since: at, Compared: at, Error: "set the TTL: busy", Records: []TargetRecord{{Name: "app.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}}}}
		}, []string{"r (s) fails since 12:00:00 UTC: set the TTL: busy. Its records were as they should be when it was last read."}},
		{"failing with its records wrong", func(v *TargetView) {
			*v = TargetView{Name: "r", Server: "s", State: TargetFailing, Since: at, Compared: at, Error: "busy", Records: []TargetRecord{{Name: "app.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.12"}}}}
		}, []string{"r (s) fails since 12:00:00 UTC: busy. Its clients get what it was told before."}},
		{"denied", func(v *TargetView) { *v = TargetView{Name: "r", Server: "s", State: TargetDenied, Error: "no"} }, []string{"r (s) refuses the credentials: no."}},
		{"without effect", func(v *TargetView) {
			*v = TargetView{Name: "r", Findings: []TargetFinding{{sites.Critical, "rewrites are off."}}}
		}, []string{"At r: rewrites are off."}},
		{"waits for its repair", func(v *TargetView) {
			*v = TargetView{Name: "r", Server: "s", State: TargetDiffers, Repair: at, Records: []TargetRecord{{Name: "app.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.9.9.9"}}}}
		}, []string{"Somebody has changed r (s) again: app.lan A is 10.9.9.9 and should be 10.1.0.11. It is put right at 12:00:00 UTC."}},
		{"is left so", func(v *TargetView) { *v = TargetView{Name: "r", State: TargetDiffers} }, nil},
		{"well", func(v *TargetView) { *v = TargetView{Name: "r", State: TargetDisabled} }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := v
			tt.change(&v)
			if d := cmp.Diff(tt.want, v.Problems(at.Add(time.Minute))); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
		})
	}
}

// If this fails, who is woken because clients of a target are sent to a node that is out
// finds that behind what can wait until the morning.
func TestATargetThatIsWrongIsCritical(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	down := CriticalView{Kind: sites.SiteDown, Site: "hamburg", Text: "hamburg cannot be seen"}
	f := &fake{
		status: Status{Time: at, Critical: []CriticalView{down}, Problems: []string{down.Text, "berlin/a does not answer"}},
		pushed: []TargetView{
			{Name: "late", Server: "10.2.0.1:8729", Site: "hamburg", State: TargetFailing, Since: at, Error: "no route"},
			{Name: "wrong", Server: "10.3.0.1:8729", Site: "munich", State: TargetFailing, Since: at, Error: "refused", Wrong: true},
		},
	}
	s, err := f.handler().Whole().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const wrong = "wrong (10.3.0.1:8729) fails since 12:00:00 UTC: refused. Its clients get what it was told before."
	if d := cmp.Diff([]CriticalView{down, {Kind: sites.PublishFailed, Site: "munich", Since: at, Text: wrong, Do: doTarget}}, s.Critical); d != "" {
		t.Errorf("critical (-want +got):\n%s", d)
	}
	want := []string{down.Text, wrong, "berlin/a does not answer", "late (10.2.0.1:8729) fails since 12:00:00 UTC: no route. Its clients get what it was told before."}
	if d := cmp.Diff(want, s.Problems); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

// If this fails, what is told of a target that somebody has had left alone while it failed
// is called that it fails, and urgent, whatever it is.
func TestATargetThatIsLeftAloneIsNotCritical(t *testing.T) {
	conflict := TargetConflict{Name: "app.example.lan", Type: "A", Text: "somebody else's record is in the way."}
	f := &fake{pushed: []TargetView{{Name: "x", Server: "10.3.0.1:8729", Site: "munich", State: TargetDisabled, Wrong: true, NoFailover: []TargetConflict{conflict}}}}
	s, err := f.handler().Whole().Status(t.Context())
	if err != nil || len(s.Critical) != 0 || len(s.Problems) != 1 {
		t.Errorf("critical %+v, problems %q, %v", s.Critical, s.Problems, err)
	}
}
