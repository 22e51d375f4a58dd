package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// A half-edited configuration would hide the controller that runs with what it
// was before: nobody could ask it what is wrong.
func TestStatePath(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	tests := []struct{ name, in, want string }{
		{"named", "state: {path: here}\nsites: []\n", filepath.Join(dir, "here")},
		{"absolute", "state: {path: /srv/dnsteer}\n", "/srv/dnsteer"},
		{"left out", "sites: []\n", "/var/lib/dnsteer"},
		{"beside faults", "nonsense: 1\nstate: {path: here}\nsites: [{name: 5}]\n", filepath.Join(dir, "here")},
		{"an unset variable", "state: {path: \"${NOPE_DNSTEER}/x\"}\n", ""},
		{"empty", "", ""},
		{"no YAML", "state: {path: here}\nsites: ]\n", filepath.Join(dir, "here")},
		{"no YAML, flow with more", "state: { path: \"here\" , x: y}\nsites: ]\n", filepath.Join(dir, "here")},
		{"no YAML, block", "sites: ]\nstate:\n  # the store\n  path: here # and the socket\n", filepath.Join(dir, "here")},
		{"no YAML, absolute", "state: {path: '/srv/d'}\n\t", "/srv/d"},
		{"no YAML, of another part", "state:\nother: {path: here}\nsites: ]\n", ""},
		{"no YAML, of a zone", "dns:\n  path: here\n ]", ""},
		{"no YAML, an unset variable", "state: {path: \"${NOPE_DNSTEER}/x\"}\nsites: ]\n", ""},
		{"no YAML, a variable", "state: {path: ${ROOT_DNSTEER}/x}\nsites: ]\n", "/srv/x"},
		{"no YAML, none", "sites: ]\n", ""},
	}
	t.Setenv("ROOT_DNSTEER", "/srv")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, "dnsteer.yaml")
			if err := os.WriteFile(path, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := StatePath(path); got != tt.want {
				t.Errorf("state path %q, want %q", got, tt.want)
			}
		})
	}
	// The file with the path is broken, and the others are not.
	for name, text := range map[string]string{"10.yaml": "state: {path: here}\nsites: ]\n", "20.yaml": "instance: a\n", ".#10.yaml": "state: {path: other}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := StatePath(folder), filepath.Join(folder, "here"); got != want {
		t.Errorf("state path of a folder %q, want %q", got, want)
	}
	if got := StatePath(filepath.Join(dir, "gone.yaml")); got != "" {
		t.Errorf("state path of no file: %q", got)
	}
}

// What `-o yaml` prints would be read as something else by the next program.
func TestEncode(t *testing.T) {
	type inner struct {
		Text  string  `json:"text"`
		Count int64   `json:"count"`
		Share float64 `json:"share"`
	}
	in := struct {
		Name  string   `json:"name"`
		List  []inner  `json:"list"`
		None  []string `json:"none"`
		Empty []string `json:"empty"`
	}{"b", []inner{
		{"true", 1, 0.5},
		{"12", 1 << 40, 1e21},
		{"a: b # c", 0, 0},
		{"<&>\u2028\x00\x7f", 0, 0},
		{"two\nlines", 0, 0},
		{"", 0, 0},
		{"2026-01-02T15:04:05Z", 0, 0},
		{"null", 0, 0},
		{"- x", 0, 0},
		{"0x1F", 0, 0},
		{"ü 🙂", 0, 0},
	}, nil, []string{}}
	got, err := Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := yaml.Unmarshal(got, &back); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	a, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(back)
	if err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	var want, have any
	if err := json.Unmarshal(a, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &have); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("read back (-want +got):\n%s\n%s", d, got)
	}
}
