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
