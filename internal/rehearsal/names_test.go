package rehearsal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneSite = `config: &config
  sites:
    - name: berlin
      resolver: "10.1.0.1"
      nodes:
        - {name: a, addresses: [10.1.0.11], probes: [{type: http, label: deep, url: "http://{address}/"}, {type: http, url: "http://{address}/up"}]}
        - {name: b, addresses: [10.1.0.12]}
      targets: [router]
  services: [{hosts: [app.example.lan, "*.apps.example.lan"], ttl: 20s}]
  targets: [{name: router, type: routeros, address: "10.1.0.1:8729", username: dnsteer, password: x}]
steps:
`

// playText plays one site with these steps, and gives its fault or its differences.
func playText(t *testing.T, steps string) (string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(name, []byte(oneSite+steps), 0o600); err != nil {
		t.Fatal(err)
	}
	p := PlayFile(name, Options{})
	var said []string
	if p.Err != nil {
		said = append(said, p.Err.Error())
	}
	for _, d := range p.Result.Differences {
		said = append(said, d.String())
	}
	return strings.Join(said, "\n"), p.Err
}

// An expectation with a slip in it would hold for ever, or be looked for in the
// wrong place, and nobody would learn what it should have said.
func TestNamesAreChecked(t *testing.T) {
	for step, want := range map[string]string{
		`do: [{down: berlin/c}]`:                                       `down: site berlin has no node "c"`,
		`do: [{cut: berln}]`:                                           `cut: there is no site "berln"`,
		`do: [{fails: "berlin/b http"}]`:                               `fails: berlin/b has no probe "http"`,
		`do: [{passes: "berlin/b http"}]`:                              `passes: berlin/b has no probe "http"`,
		`do: [{down: berlin/a, up: berlin/a}]`:                         "is one action, found several",
		`do: [{down: berlin/a, refused: true}]`:                        "refused belongs beside a command or a config",
		`do: [{up: berlin/a, for: 1m}]`:                                "force, for and reason belong beside a command",
		`do: [{drill: berlin/a}]`:                                      "or SITE/NODE with `for: 5m` beside it",
		`do: [{drill: "berlin/a 5m", for: 5m}]`:                        "or SITE/NODE with `for: 5m` beside it",
		`expect: {events: [failover_outge]}`:                           `there is no kind of event "failover_outge"; did you mean "failover_outage"?`,
		`expect: {no_events: [failover_outage berlin/c]}`:              `there is no site, node or pool "berlin/c" in the configuration; did you mean "berlin/a"?`,
		`expect: {nodes: {berlin/c: up}}`:                              `site berlin has no node "c"`,
		`expect: {nodes: {berlin/a: upp}}`:                             `expected one of pending, up, failing`,
		`expect: {sites: {berln: up}}`:                                 `there is no site "berln"`,
		`expect: {pools: {berlin/fast: own}}`:                          `site berlin has no pool "fast"`,
		`expect: {pools: {berlin: "emergency:hamburg"}}`:               `there is no site "hamburg"`,
		`expect: {pools: {berlin: emergency}}`:                         `expected one of own, emergency:SITE, last_resort, empty`,
		`expect: {answers: {"berln app.example.lan A": []}}`:           `there is no site "berln"`,
		`expect: {answers: {"berlin app.example.lan": []}}`:            `expected "SITE HOST TYPE"`,
		`expect: {answers: {"berlin app.example.lan A": [10.1.0]}}`:    `found "10.1.0", expected an address`,
		`do: [{config: {sites: []}}], expect: {nodes: {berlin/a: up}}`: `there is no site "berlin"`,
	} {
		got, err := playText(t, "  - {at: 1m, "+step+"}\n")
		if err == nil || !strings.Contains(got, want) || !strings.Contains(got, "x.yaml:12:") {
			t.Errorf("%s: %q, want %q with its place", step, got, want)
		}
	}
}

// Who tries what a reload does could speak of no node that it brings, and would not
// see whether it was taken.
func TestReloadsAreSeen(t *testing.T) {
	const renamed = `{sites: [{name: berlin, resolver: "10.1.0.1", nodes: [{name: c, addresses: [10.1.0.13]}]}]}`
	for steps, want := range map[string]string{
		`  - {at: 1m, do: [{config: ` + renamed + `}, {down: berlin/c}], expect: {events: [config_reloaded]}}
  - {at: 2m, expect: {nodes: {berlin/c: pending}, no_events: [config_reloaded]}}
`: "",
		`  - {at: 1m, do: [{config: {sites: 1}, refused: true}]}
  - {at: 2m, expect: {nodes: {berlin/a: up}, events: [config_rejected], no_events: [config_reloaded]}}
`: "",
		`  - {at: 1m, do: [{config: {sites: 1}}]}
  - {at: 2m, expect: {nodes: {berlin/a: up}, events: [config_rejected]}}
`: "",
		`  - {at: 1m, do: [{config: ` + renamed + `, refused: true}]}
`: "the configuration was put in place: it has no faults",
		`  - {at: 1m, do: [{config: {sites: 1}}], expect: {events: [failover_switch]}}
`: "sites: found",
	} {
		got, err := playText(t, steps)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", steps, got, want)
		}
		if _, invalid := errors.AsType[*ConfigError](err); err != nil && !invalid {
			t.Errorf("%s: %v is no fault of the configuration", steps, err)
		}
	}
}

// Where answers are pushed to a router alone a rehearsal would say nothing of them;
// and a probe that fails under one name would not pass under its other.
func TestActionsAsWritten(t *testing.T) {
	for what, steps := range map[string]string{
		"answers at a target alone": `  - {at: 1m, do: [{down: berlin/a}], expect: {answers: {"berlin app.example.lan A": [10.1.0.11, 10.1.0.12], "berlin x.apps.example.lan A": [10.1.0.11, 10.1.0.12], "berlin b.example.lan A": []}, ttl: {"berlin app.example.lan A": 20}}}
  - {at: 1m20s, expect: {ttl: {"berlin app.example.lan A": 20}}}
  - {at: 1m40s, expect: {answers: {"berlin app.example.lan A": [10.1.0.12]}}}
`,
		"a probe by its name and its type": `  - {at: 1m, do: [{fails: "berlin/a http"}]}
  - {at: 1m40s, do: [{passes: "berlin/a deep"}], expect: {nodes: {berlin/a: out}}}
  - {at: 2m, do: [{passes: "berlin/a http"}], expect: {nodes: {berlin/a: out}}}
  - {at: 2m15s, do: [{fails: "berlin/a deep"}], expect: {nodes: {berlin/a: recovering}}}
  - {at: 2m30s, do: [{passes: "berlin/a http"}], expect: {nodes: {berlin/a: out}}}
  - {at: 2m45s, expect: {nodes: {berlin/a: recovering}}}
`,
		"a drill's time beside it": `  - {at: 1m, do: [{drill: berlin/a, for: 2m}]}
  - {at: 3m1s, expect: {nodes: {berlin/a: up}, events: [drill_started berlin/a, failover_outage berlin/a, drill_ended berlin/a]}}
`,
		"a controller that is off": `  - {at: 1m, do: [{restart: 1m}, {restart: 2m}]}
  - {at: 1m30s, do: [{suspend: 10s}, {clock: 2026-02-01T00:00:00Z}, {config: *config}]}
  - {at: 2m30s, do: [{maintenance: berlin/a, refused: true}]}
`,
	} {
		got, _ := playText(t, steps)
		if want := map[string]string{"a controller that is off": "the controller is off"}[what]; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", what, got)
		}
	}
}
