package rehearsal

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
)

// A CI that reads the report would show a failed rehearsal as one that holds.
func TestJUnit(t *testing.T) {
	all := []Played{
		{Name: "holds.yaml", Result: Result{Steps: 2, Elapsed: time.Hour}, Took: 12 * time.Millisecond},
		{Name: "differs.yaml", Result: Result{Differences: []Difference{
			{Pos: config.Pos{File: "differs.yaml", Line: 4, Col: 7}, At: 90 * time.Second, Text: `expected <out>, found "up" & well`},
			{Pos: config.Pos{File: "differs.yaml", Line: 5, Col: 7}, At: 2 * time.Minute, Text: "b"},
		}}, Took: 1500 * time.Millisecond},
		{Name: "unusable.yaml", Err: errors.New("read rehearsal: unknown key")},
		{Name: "invalid.yaml", Err: &ConfigError{errors.New("config.yaml:1:1: nix")}},
	}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="2" time="1.512">
  <testsuite name="dnsteer rehearse" tests="4" failures="1" errors="2" time="1.512">
    <testcase name="holds.yaml" classname="rehearsal" file="holds.yaml" time="0.012"></testcase>
    <testcase name="differs.yaml" classname="rehearsal" file="differs.yaml" time="1.500">
      <failure message="expectations that do not hold: 2" type="difference">differs.yaml:4:7: at 1m30s: expected &lt;out&gt;, found &#34;up&#34; &amp; well&#xA;differs.yaml:5:7: at 2m0s: b&#xA;</failure>
    </testcase>
    <testcase name="unusable.yaml" classname="rehearsal" file="unusable.yaml" time="0.000">
      <error message="the file cannot be used" type="file">read rehearsal: unknown key</error>
    </testcase>
    <testcase name="invalid.yaml" classname="rehearsal" file="invalid.yaml" time="0.000">
      <error message="the configuration is invalid" type="configuration">config.yaml:1:1: nix</error>
    </testcase>
  </testsuite>
</testsuites>
`
	var got bytes.Buffer
	if err := WriteJUnit(&got, all); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}
