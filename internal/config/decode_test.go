package config_test

import (
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
)

// word is a text type of another package.
type word string

func (w *word) UnmarshalText(text []byte) error {
	if strings.Contains(string(text), " ") {
		return errors.New("one word is expected")
	}
	*w = word(text)
	return nil
}

// foreign is a file format of another package.
type foreign struct {
	Config config.Subtree          `yaml:"config" required:"yes"`
	Start  time.Time               `yaml:"start"`
	Words  map[string]word         `yaml:"words"`
	Addrs  map[string][]netip.Addr `yaml:"addrs"`
	Steps  []struct {
		At     config.Pos
		When   config.Value[time.Duration] `yaml:"at" required:"yes"`
		Expect *struct {
			TTL map[string]int `yaml:"ttl"`
		} `yaml:"expect"`
		Force bool `yaml:"force"`
	} `yaml:"steps"`
}

// If this fails, another YAML file of the project is misread, or a fault in it
// is not shown where it stands.
func TestDecode(t *testing.T) {
	var got foreign
	err := config.Decode("dir/x.yaml", []byte(`
config: {instance: a}
start: 2026-03-01T12:00:00Z
words: {"berlin/a": out, n: 5}
addrs: {"berlin app A": [10.1.0.11, "fd00::1"], none: []}
steps:
  - {at: 1m25s, expect: {ttl: {x: 5}}}
  - {at: 1d, force: true}
`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Start.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) || got.Steps[0].When.V != 85*time.Second || got.Steps[1].When.V != 24*time.Hour ||
		got.Steps[0].Expect.TTL["x"] != 5 || got.Steps[1].Expect != nil || !got.Steps[1].Force {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(map[string]word{"berlin/a": "out", "n": "5"}, got.Words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]netip.Addr{"berlin app A": addrs("10.1.0.11", "fd00::1"), "none": {}}, got.Addrs, compare); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if at := got.Steps[1].At; at.String() != "dir/x.yaml:8:5" || at.Path != "steps[1]" {
		t.Errorf("place %s %s", at, at.Path)
	}
	if got, want := got.Steps[1].When.At.String(), "dir/x.yaml:8:10"; got != want {
		t.Errorf("place of the value %s, want %s", got, want)
	}
}

// If this fails, a mistake in another YAML file of the project passes.
func TestDecodeFaults(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"unknown key", "config: a\nsteps: [{at: 1s, expekt: {}}]\n", `x.yaml:2:18: steps[0].expekt: unknown key "expekt"; did you mean "expect"?`},
		{"missing key", "steps: []\n", `x.yaml:1:1: the key "config" is missing`},
		{"own type", "config: a\nwords: {a: b c}\n", `x.yaml:2:12: words.a: one word is expected`},
		{"time", "config: a\nstart: noon\n", `x.yaml:2:8: start: found "noon", expected a time such as 2026-03-01T12:00:00Z`},
		{"dollar stays", "config: a\nwords: {a: \"${X} y\"}\n", `x.yaml:2:12: words.a: one word is expected`},
		{"not free", "x-a: 1\nconfig: a\n", `x.yaml:1:1: x-a: unknown key "x-a", expected one of config, start, words, addrs or steps`},
		{"second document", "config: a\n---\nconfig: b\n", "x.yaml:2:1: a second YAML document begins here, expected one in a file: remove the line --- above or use a file of its own"},
		{"empty", "# nothing\n", "x.yaml: the file is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v foreign
			err := config.Decode("x.yaml", []byte(tt.in), &v)
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// If this fails, a configuration inside another file is not read as one in a
// file of its own is, or its faults are shown elsewhere.
func TestSubtree(t *testing.T) {
	const rest = "sites: [{name: a, resolver: 10.0.0.1, nodes: [{name: n, addresses: [10.0.0.2]}]}]"
	dir, err := filepath.Abs("testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, in string
		sites    int
		want     string // the error, "" for none
	}{
		{"inline", "config: {" + rest + "}\n", 1, ""},
		{"anchor outside", "start: 2026-03-01T12:00:00Z\nconfig: {x-a: &a {threshold: 9s}, defaults: *a, " + rest + "}\n", 1, ""},
		{"file beside", "config: two-sites.yaml\n", 2, ""},
		{"file by its path", "config: " + dir + "/two-sites.yaml\n", 2, ""},
		{"fault", "config:\n  sites:\n    - nam: b\n", 0, `testdata/good/r.yaml:3:7: config.sites[0].nam: unknown key "nam"; did you mean "name"?`},
		{"later fault", "config:\n  sites: [{name: a, emergency_site: b, resolver: 10.0.0.1, nodes: [{name: n, addresses: [10.0.0.2]}]}]\n", 0, `testdata/good/r.yaml:2:37: config.sites[0].emergency_site: there is no site "b", expected a`},
		{"list", "config: []\n", 0, "testdata/good/r.yaml:1:9: config: found a list, expected a mapping with instance, state, dns, defaults, sites, services, brake, allow_exec, targets, alerts, actions or http"},
		{"nothing", "config:\n", 0, "testdata/good/r.yaml:1:8: config: found nothing, expected a mapping with instance, state, dns, defaults, sites, services, brake, allow_exec, targets, alerts, actions or http"},
		{"no such file", "config: none.yaml\n", 0, "testdata/good/none.yaml: cannot be read: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v foreign
			if err := config.Decode("testdata/good/r.yaml", []byte(tt.in), &v); err != nil {
				t.Fatal(err)
			}
			cfg, err := v.Config.Config(fixed())
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || len(cfg.Sites.Sites) != tt.sites {
				t.Errorf("got %v, %v", cfg, err)
			}
		})
	}
	if !(config.Subtree{}).IsZero() {
		t.Error("a key that was left out is not zero")
	}
}

// If this fails, a duration in a configuration lasts longer or shorter than it
// says.
func TestParseDuration(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"30s", 30 * time.Second, true},
		{"1h30m", 90 * time.Minute, true},
		{"250ms", 250 * time.Millisecond, true},
		{"1d", 24 * time.Hour, true},
		{"1.5d", 36 * time.Hour, true},
		{"2d12h", 60 * time.Hour, true},
		{"0s", 0, true},
		{"36500d", 36500 * 24 * time.Hour, true},
		{"", 0, false},
		{"30", 0, false},
		{"0", 0, false},
		{"d", 0, false},
		{"1d1d", 0, false},
		{"1h1d", 0, false},
		{"-1d", 0, false},
		{"1d-1h", 0, false},
		{"-1s", 0, false},
		{"NaNd", 0, false},
		{"infd", 0, false},
		{"36501d", 0, false},
		{"36500d1s", 0, false},
		{"9223372036s1d", 0, false},
		{"30 s", 0, false},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := config.ParseDuration(tt.in)
			if (err == nil) != tt.ok || tt.ok && got != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
