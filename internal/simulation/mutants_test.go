package simulation

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table of planted bugs anew")

// mutant is a bug that is planted: a text of one file in place of another.
type mutant struct {
	name, file, bug, old, new string
}

const root = "../.."

// mutants reads the bugs of testdata.
func mutants(t *testing.T) (list []mutant) {
	t.Helper()
	files, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := mutant{name: strings.TrimSuffix(filepath.Base(name), ".txt")}
		head, rest, ok := strings.Cut(string(data), "\n--- old\n")
		old, rest, ok2 := strings.Cut(rest, "\n--- new\n")
		text, _, ok3 := strings.Cut(rest, "\n--- end\n")
		if !ok || !ok2 || !ok3 {
			t.Fatalf("%s: want \"--- old\", \"--- new\" and \"--- end\" on lines of their own", name)
		}
		m.old, m.new = old, text
		for line := range strings.Lines(head) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "file":
				m.file = value
			case "bug":
				m.bug = value
			default:
				t.Fatalf("%s: there is no key %q", name, key)
			}
		}
		list = append(list, m)
	}
	return list
}

// apply gives the file with the bug in it.
func (m *mutant) apply() ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(data), m.old); n != 1 {
		return nil, fmt.Errorf("%s: the text to replace is there %d times: write testdata/mutants/%s.txt anew by the source as it is now", m.file, n, m.name)
	}
	return format.Source([]byte(strings.Replace(string(data), m.old, m.new, 1)))
}

// A bug that can no longer be planted shows nothing, and nobody would see that.
func TestMutantsApply(t *testing.T) {
	list := mutants(t)
	if len(list) < 20 {
		t.Errorf("there are %d bugs to plant, and should be 20", len(list))
	}
	for _, m := range list {
		if _, err := m.apply(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// caught finds what a run that failed has said first.
var caught = regexp.MustCompile(`seed (\d+) \([^)]*\): (.*)`)

// If this fails, there is a bug that the simulation does not see. It compiles the
// program once for each, so it runs where DNSTEER_MUTANTS is set: to 1 for all,
// or to a part of their names.
func TestMutants(t *testing.T) {
	which := os.Getenv("DNSTEER_MUTANTS")
	if which == "" {
		t.Skip("set DNSTEER_MUTANTS=1")
	}
	var table strings.Builder
	table.WriteString("| planted bug | in | what the simulation says first |\n|---|---|---|\n")
	for _, m := range mutants(t) {
		if which != "1" && !strings.Contains(m.name, which) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			out, err := m.play(t)
			found := caught.FindStringSubmatch(out)
			switch {
			case err == nil:
				t.Errorf("%s: not caught", m.bug)
			case found == nil:
				t.Errorf("%s: it failed, and no day says why:\n%s", m.bug, out[max(0, len(out)-2000):])
			default:
				t.Logf("seed %s: %s", found[1], found[2])
				fmt.Fprintf(&table, "| %s | `%s` | seed %s: %s |\n", m.bug, m.file, found[1], strings.ReplaceAll(found[2], "|", "\\|"))
			}
		})
	}
	if *update && which == "1" && !t.Failed() {
		writeTable(t, table.String())
	}
}

// play plays days with the bug planted.
func (m *mutant) play(t *testing.T) (string, error) {
	t.Helper()
	source, err := m.apply()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planted, overlay := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json")
	place, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {place: planted}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{planted: source, overlay: replace} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-timeout=0", "-ldflags=-s -w", "-run", "^TestDays$", ".")
	cmd.Env = append(os.Environ(), "DNSTEER_MUTANTS=", "DNSTEER_SHRINK=0", "DNSTEER_SEED=1", "DNSTEER_DAYS=200")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const page = root + "/docs/reliability.md"

// The marks between which the table stands.
const (
	tableBegins = "<!-- planted bugs -->\n"
	tableEnds   = "<!-- end of planted bugs -->\n"
)

func writeTable(t *testing.T, table string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), tableBegins)
	_, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", page, tableBegins, tableEnds)
	}
	if err := os.WriteFile(page, []byte(before+tableBegins+table+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page would name bugs that are not planted, or leave some out.
func TestMutantsAreInTheDocumentation(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	list := mutants(t)
	for _, m := range list {
		if !strings.Contains(string(data), "| "+m.bug+" | `"+m.file+"` |") {
			t.Errorf("%s does not name %q: DNSTEER_MUTANTS=1 go test ./internal/simulation -run TestMutants$ -update writes it", page, m.bug)
		}
	}
}
