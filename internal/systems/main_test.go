package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A check that overlooks what one system lacks lets a release fail to build.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example.com/x\n\ngo 1.26\n",
		"x.go":            "package x\n\nvar _ = clock()\n",
		"clock_linux.go":  "package x\n\nfunc clock() int { return 1 << 30 }\n",
		"clock_darwin.go": "package x\n\nfunc clock() int64 { return 1 << 40 }\n",
		"x_linux_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { var wide int = clock() << 1; _ = wide; const big int = 1 << 40; _ = big }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for system, want := range map[string]string{
		"linux/amd64": "", "darwin/arm64": "",
		"linux/arm":     "overflows",        // in a test, on a system of 32 bits
		"windows/amd64": "undefined: clock", // no file for it
	} {
		faults, err := check(t.Context(), system, "./...")
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(faults) > 0 {
			t.Errorf("%s: %v", system, faults)
		}
		if want != "" && (len(faults) == 0 || !strings.Contains(faults[0].Error(), want)) {
			t.Errorf("%s: %v, want %q", system, faults, want)
		}
	}
}
