package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, the last good configuration cannot be read again once its
// files have changed, and a restart with a bad file has nothing to run.
func TestRestore(t *testing.T) {
	for _, name := range []string{"testdata/good/full.yaml", "./testdata/good/full.yaml", "testdata/good/folder-split"} {
		t.Run(name, func(t *testing.T) {
			cfg := load(t, name)
			t.Chdir(t.TempDir()) // relative paths lead nowhere now
			again, err := config.Restore(cfg.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash != cfg.Hash || !bytes.Equal(again.Raw, cfg.Raw) || again.Instance != cfg.Instance {
				t.Errorf("hash %s, want %s", again.Hash, cfg.Hash)
			}
			if diff := cmp.Diff(len(cfg.DNS.Zones[0].Records), len(again.DNS.Zones[0].Records)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
	for _, raw := range []string{"", "{}", `{"paths":["a"],"files":{}}`, "null"} {
		if _, err := config.Restore([]byte(raw)); err == nil {
			t.Errorf("%q was restored", raw)
		}
	}
}

// If this fails, a reload takes an unchanged configuration for a changed one,
// or overlooks a changed zone file.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("c.yaml", "dns: {listen: ['127.0.0.1:0'], zones: [{name: lan, file: lan.zone}]}\n")
	hash := func() string {
		t.Helper()
		cfg, err := config.LoadWith(filepath.Join(dir, "c.yaml"), fixed())
		if err != nil {
			t.Fatal(err)
		}
		return cfg.Hash
	}
	const zone = "@ SOA ns.example.net. a.lan. 1 1 1 1 1\n@ NS ns.example.net.\n"
	write("lan.zone", zone)
	first := hash()
	if hash() != first {
		t.Error("the same files give two hashes")
	}
	write("lan.zone", zone+"a A 10.0.0.1\n")
	if hash() == first {
		t.Error("a changed zone file gives the same hash")
	}
}

// If this fails, a zone file can show what lies outside its folder in an error
// message.
func TestIncludeStaysInFolder(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("root:x:0:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, include := range []string{"link", secret, "../" + filepath.Base(filepath.Dir(secret)) + "/secret", "./link", "."} {
		t.Run(include, func(t *testing.T) {
			zone := "$INCLUDE " + include + "\n"
			if err := os.WriteFile(filepath.Join(dir, "lan.zone"), []byte(zone), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := config.Parse(filepath.Join(dir, "c.yaml"), []byte("dns: {listen: ['127.0.0.1:0'], zones: [{name: lan, file: lan.zone}]}\n"), fixed())
			if err == nil || strings.Contains(err.Error(), "root") || !strings.Contains(err.Error(), "lan.zone:1") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// If this fails, a file of any size, or one that never ends, is read into
// memory.
func TestLimits(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, bytes.Repeat([]byte("# a comment\n"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	put(t, filepath.Join(other, "alone.yml"), []byte("instance: a\n"), 0o600)
	for _, tt := range []struct{ name, path, want string }{
		{"size", large, "larger than 1048576 bytes (1 MiB), expected at most that: split it"},
		{"device", "/dev/zero", "not a regular file"},
		{"other ending", other, "alone.yml: there is no *.yaml in this folder, and this file is left out: give it that ending"},
		{"missing", filepath.Join(t.TempDir(), "none.yaml"), "no such file or directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := config.Load(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), tt.path) != 1 {
				t.Errorf("got %v, want %s once with its path", err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"size in memory", "larger than 1048576 bytes (1 MiB)", bytes.Repeat([]byte("# a comment\n"), 100_000)},
		{"encoding", "not UTF-8", []byte("instance: \xff\n")},
		{"flow depth", "levels deep", bytes.Repeat([]byte("["), 5000)},
		{"indent depth", "levels deep", deep(200)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := tt.data
			if tt.name == "flow depth" {
				data = append(data, bytes.Repeat([]byte("]"), 5000)...)
			}
			if _, err := config.Parse("x.yaml", data, fixed()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func deep(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.Bytes()
}

// If this fails, the fault of a part of a larger file is shown at another
// line than where it stands.
func TestFirstLine(t *testing.T) {
	opts := fixed()
	opts.FirstLine = 40
	for _, tt := range []struct{ name, data, want string }{
		{"value", "instance: a\nsites: 3\n", "x.yaml:41:8: sites"},
		{"syntax", "instance: a\nb: c: d\n", "x.yaml:41: this is not YAML"},
		{"double key", "instance: a\ninstance: b\n", "first in line 40"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Parse("x.yaml", []byte(tt.data), opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// If this fails, the value of an environment variable, which may be a secret,
// is shown in a log.
func TestVariablesAreNotShown(t *testing.T) {
	for _, text := range []string{
		"dns: {listen: ['${WORD}']}", "defaults: {threshold: '${WORD}'}", "defaults: {mode: '${WORD}'}", "instance: 'a ${WORD}'",
		"sites: [{name: '${WORD} x', resolver: '${WORD}', nodes: [{name: a, addresses: ['${WORD}']}]}]",
	} {
		if _, err := config.Parse("x.yaml", []byte(text), fixed()); err == nil || strings.Contains(err.Error(), "a-secret-word") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// FuzzParse: whatever a file holds, it is read or refused with faults, without
// a crash, and what was read can be read again.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml", "testdata/warn/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 4096 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := config.Parse("fuzz.yaml", data, fixed())
		if (cfg == nil) != (err != nil) {
			t.Fatalf("configuration %v, error %v", cfg != nil, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a fault")
			}
			return
		}
		_ = cfg.Summary() + cfg.WorstCases()
		if again, err := config.Restore(cfg.Raw); err != nil || again.Hash != cfg.Hash {
			t.Fatalf("not restored: %v", err)
		}
	})
}

// FuzzZoneFile: whatever stands in a zone file, it is read or refused with
// faults, without a crash.
func FuzzZoneFile(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/zones/*.zone", "testdata/good/folder-split/zones/*.zone"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("$GENERATE 1-3 host$ A 10.0.0.$\n$INCLUDE part.zone\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := json.Marshal(map[string]any{
			"paths": []string{"c.yaml"},
			"files": map[string][]byte{
				"c.yaml":    []byte("dns: {listen: ['127.0.0.1:0'], zones: [{name: lan, ns: [ns.lan], hostmaster: a@lan, file: lan.zone}]}\n"),
				"lan.zone":  data,
				"part.zone": []byte("part A 10.0.0.1\n"),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if cfg, err := config.Restore(raw); (cfg == nil) != (err != nil) {
			t.Fatalf("configuration %v, error %v", cfg != nil, err)
		}
	})
}

// If this fails, a folder of many files, which are read at the same time, gets
// its sites in another order than that of its files' names, or faults and
// variables of some of the files are lost.
func TestManyFiles(t *testing.T) {
	dir, kept, want := t.TempDir(), map[string]string{}, []string{}
	write := func(i int, threshold string) {
		t.Helper()
		name := fmt.Sprintf("s%d", i)
		text := fmt.Sprintf("sites: [{name: %s, resolver: 10.0.0.1, nodes: [{name: a, addresses: [\"${A%d}\"], threshold: %s}]}]\n", name, i, threshold)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		kept[fmt.Sprintf("A%d", i)] = fmt.Sprintf("10.0.0.1%d", i)
		want = append(want, fmt.Sprintf("s%d 10.0.0.1%d", i, i))
		write(i, "30s")
	}
	opts := config.Options{Instance: "x", LookupEnv: func(name string) (string, bool) { v, ok := kept[name]; return v, ok }}
	cfg, err := config.LoadWith(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := config.Restore(cfg.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*config.Config{cfg, restored} {
		var got []string
		for i := range c.Sites.Sites {
			s := &c.Sites.Sites[i]
			got = append(got, fmt.Sprintf("%s %s", s.Name, s.Nodes[0].Addresses[0]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for i := range 9 {
		write(i, "soon")
	}
	_, err = config.LoadWith(dir, opts)
	var faults *config.FaultsError
	if !errors.As(err, &faults) || len(faults.Faults) != 9 {
		t.Errorf("got %v, want a fault of each file", err)
	}
}
