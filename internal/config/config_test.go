package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixed are options that read a configuration the same everywhere.
func fixed() config.Options {
	env := map[string]string{"WORD": "a-secret-word", "PORT": "8443", "SITE": "berlin"}
	return config.Options{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Instance:  "test-host",
	}
}

// golden holds text against a file, or writes the file with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// cases lists the files and folders of a corpus; what does not hold a
// configuration of its own is left to those that refer to it.
func cases(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") || e.IsDir() && strings.HasPrefix(e.Name(), "folder-") {
			list = append(list, e.Name())
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s holds no case", dir)
	}
	return list
}

// If this fails, a bad configuration is taken, or its author is not told
// where the fault is and what to write instead.
func TestBad(t *testing.T) {
	t.Chdir("testdata/bad")
	for _, name := range cases(t, ".") {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.LoadWith(name, fixed())
			var faults *config.FaultsError
			if cfg != nil || !errors.As(err, &faults) {
				t.Fatalf("accepted, or refused without faults: %v", err)
			}
			golden(t, strings.TrimSuffix(name, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

// If this fails, someone runs into a trap that the program knew of, or is
// warned of what is right.
func TestWarnings(t *testing.T) {
	t.Chdir("testdata/warn")
	for _, name := range cases(t, ".") {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.LoadWith(name, fixed())
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, w := range cfg.Warnings {
				b.WriteString(w.String() + "\n")
			}
			golden(t, strings.TrimSuffix(name, ".yaml")+".txt", b.String())
		})
	}
}

// If this fails, the example that people start from does not run, or warns of
// more than it means to show.
func TestExample(t *testing.T) {
	cfg, err := config.LoadWith("../../config.example.yaml", fixed())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range cfg.Warnings {
		if w.Path != "sites[1]" || !strings.Contains(w.Text, "is remote") {
			t.Errorf("unexpected warning: %s", w)
		}
	}
	if want := filepath.Join("..", "..", "state"); cfg.StatePath != want {
		t.Errorf("state path %q, want %q", cfg.StatePath, want)
	}
}
