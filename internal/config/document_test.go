package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, whoever has made a slip deep in a long file is sent to its first lines, or
// to none: the library names the line where the list or the mapping begins.
func TestLineOfWhatCannotBeRead(t *testing.T) {
	const at = 101
	for _, tt := range []struct{ name, line, want string }{
		{"a key that stands too far left in its list", "   grace: 5m", "did not find expected '-' indicator"},
		{"a list that does so", "   - {name: b}", "did not find expected '-' indicator"},
		{"an unknown anchor", "    hosts: *nope", "unknown anchor 'nope' referenced"},
		{"a control character", "    grace\x07: 5m", "control characters are not allowed; remove"},
		{"a tab below a text", "    local:\n      yes\n\tgrace: 5m", "found a tab character that violates indentation; indent with spaces"},
		{"an open bracket", "    grace: [5m", "did not find expected ',' or ']'"},
		{"an open quote", "    grace: \"5m", "found unexpected end of stream; a quote"},
		{"a colon in a value", "    grace: a: b", "mapping values are not allowed in this context"},
		{"another encoding", "    grace: \xe4", "the file is not UTF-8 text from here on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("sites:\n")
			site := func(n int) {
				fmt.Fprintf(&b, "  - name: s%d\n    resolver: 10.0.0.1\n    nodes:\n      - {name: a, addresses: [10.0.0.2]}\n", n)
			}
			for n := range (at - 2) / 4 {
				site(n)
			}
			b.WriteString("    # one more line\n    threshold: 30s\n    rise: 2\n")
			where := strings.Count(b.String(), "\n") + 1 + strings.Count(tt.line, "\n")
			b.WriteString(tt.line + "\n")
			for n := range 50 {
				site(1000 + n)
			}
			_, err := config.Parse("x.yaml", []byte(b.String()), fixed())
			if err == nil {
				t.Fatal("accepted")
			}
			if place := fmt.Sprintf("x.yaml:%d:", where); !strings.HasPrefix(err.Error(), place) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s … %s", err, place, tt.want)
			}
		})
	}
}

// If this fails, a zone file that was saved by an editor that marks its begin loses the
// record in its first line, which gets another name.
func TestMarkInFrontOfAZoneFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "lan.zone"), []byte("\ufeffns1 300 IN A 127.0.0.1\r\n"), 0o600)
	path := filepath.Join(dir, "dnsteer.yaml")
	put(t, path, []byte("\ufeffdns: {listen: [\"127.0.0.1:5353\"], zones: [{name: lan, file: lan.zone, ns: [ns1.lan], hostmaster: a@lan}]}\r\n"), 0o600)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(cfg.DNS.Zones[0].Records, cfg.Warnings); !strings.Contains(text, "ns1.lan.\t300\tIN\tA\t127.0.0.1") || strings.Contains(text, "ns1.lan has no address") {
		t.Error(text)
	}
}
