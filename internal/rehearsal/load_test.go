package rehearsal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rehearsal that gives figures to a node that nobody asks for any would pass
// and prove nothing.
func TestLoadIsChecked(t *testing.T) {
	const text = `config:
  sites:
    - name: berlin
      resolver: "10.1.0.1"
      nodes:
        - {name: a, addresses: [10.1.0.11], probes: [{type: haproxy, url: "http://{address}:8404/stats"}]}
        - {name: b, addresses: [10.1.0.12], probes: [{type: tcp, port: 443}]}
steps: [{at: 1m, do: [{load: %s}]}]
`
	for load, want := range map[string]string{
		"{node: berlin/a, bytes_per_second: 1M, sessions: 4, load: 0.4}": "",
		"{node: berlin/a}":                         "",
		"{bytes_per_second: 1M}":                   `"node" is missing`,
		"{node: berlin/c}":                         `site berlin has no node "c"`,
		"{node: berlin/b, sessions: 1}":            "no probe of berlin/b finds figures out",
		"{node: berlin/a, bytes_per_second: fast}": "is no amount of bytes",
		"{node: berlin/a, load: 1M}":               `found "1M", expected a number such as 0.4`,
		"{node: berlin/a, sessions: -1}":           "sessions: expected 0 or more",
		"{node: berlin/a, bytes: 1}":               `"bytes"`,
	} {
		name := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(name, fmt.Appendf(nil, text, load), 0o600); err != nil {
			t.Fatal(err)
		}
		p := PlayFile(name, Options{})
		got := ""
		if p.Err != nil {
			got = p.Err.Error()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", load, got, want)
		}
	}
}

// If this fails, whoever plays many rehearsals, or one with many reloads, has to look
// for the one that names a configuration with faults.
func TestConfigurationSaysWhereItIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	bad := write("bad.yaml", "sites: [{name: berlin}]\n")
	for text, want := range map[string]string{
		"config: bad.yaml\nsteps: [{at: 1m}]\n":              "x.yaml:1:9: " + bad + ":1:9: ",
		"config: none.yaml\nsteps: [{at: 1m}]\n":             "x.yaml:1:9: " + filepath.Join(dir, "none.yaml") + ": cannot be read",
		oneSite + "  - at: 1m\n    do: [{config: bad.yaml}]": "x.yaml:13:19: " + bad + ":1:9: ",
		"config: {sites: [{name: x}]}\nsteps: [{at: 1m}]\n":  "x.yaml:1:18: config.sites[0]: ",
	} {
		_, err := Load(write("x.yaml", text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\nfound    %v\nexpected %q", text, err, want)
		}
	}
}
