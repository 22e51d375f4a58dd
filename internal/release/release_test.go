package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
)

// top is the folder of the sources.
var top = filepath.Join("..", "..")

// sourcesDate is the date of the test's releases.
var sourcesDate = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func source(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{top}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A package of an untagged commit must be newer than one of an earlier commit,
// and older than the first release.
func TestSemantic(t *testing.T) {
	date := time.Date(2026, 11, 30, 7, 5, 9, 0, time.UTC)
	for in, want := range map[string]string{
		"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1",
		"9c4b8c6":            "0.0.0-dev.20261130070509+9c4b8c6",
		"9c4b8c6-dirty":      "0.0.0-dev.20261130070509+9c4b8c6.dirty",
		"v1.2.3-4-g9c4b8c6":  "1.2.3-4-g9c4b8c6",
		"some/branch and so": "0.0.0-dev.20261130070509+some.branch.and.so",
	} {
		if got := semantic(in, date); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// A tool of make's that is older than its module would make other packages than
// the sources say.
func TestCurrentTool(t *testing.T) {
	dir := t.TempDir()
	r := release{tools: filepath.Join(dir, ".tools")}
	tool := filepath.Join(r.tools, "nfpm")
	if r.current(tool) {
		t.Error("one that is not there is taken")
	}
	module := filepath.Join(dir, "tools", "nfpm")
	for _, folder := range []string{r.tools, module} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{tool, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")} {
		writeFile(t, path, "")
		if err := os.Chtimes(path, sourcesDate, sourcesDate); err != nil {
			t.Fatal(err)
		}
	}
	if !r.current(tool) {
		t.Error("one that is as new as its module is built again")
	}
	later := sourcesDate.Add(time.Hour)
	if err := os.Chtimes(filepath.Join(module, "go.sum"), later, later); err != nil {
		t.Fatal(err)
	}
	if r.current(tool) {
		t.Error("one that is older than its module is taken")
	}
}

// An image without root certificates could not send an alert, and one for another
// system would not start.
func TestImageNeeds(t *testing.T) {
	dir := t.TempDir()
	second := filepath.Join(dir, "b")
	writeFile(t, second, "certificates")
	if got, err := trusted([]string{filepath.Join(dir, "a"), second}); err != nil || string(got) != "certificates" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := trusted([]string{filepath.Join(dir, "a")}); err == nil || !strings.Contains(err.Error(), "ca-certificates") {
		t.Errorf("none: %v", err)
	}
	for _, only := range []string{"windows/amd64", "linux/sparc"} {
		if err := (release{}).image(t.Context(), only, dir); err == nil || !strings.Contains(err.Error(), "linux/amd64, linux/arm64 or linux/arm") {
			t.Errorf("%s: %v", only, err)
		}
	}
}

// What is installed must be a configuration that starts and does nothing yet.
func TestInstalledConfiguration(t *testing.T) {
	text := source(t, "deploy", "package", "dnsteer.yaml")
	cfg, err := config.Parse("dnsteer.yaml", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Sites.Sites) != 0 {
		t.Error("it watches addresses that are not the operator's")
	}
	for _, a := range cfg.DNS.Listen {
		if !a.Addr().IsLoopback() || a.Port() < 1024 {
			t.Errorf("it listens on %s, where others may reach it or something else may listen", a)
		}
	}
	// And the part that is only shown must be right once the marks are gone.
	shown := regexp.MustCompile(`(?m)^# ?((sites:|services:|  ).*)$`).ReplaceAllString(text, "$1")
	if cfg, err = config.Parse("dnsteer.yaml", []byte(shown), config.Options{}); err != nil || len(cfg.Sites.Sites) != 1 {
		t.Errorf("the example in it: %v\n%s", err, shown)
	}
}

// The unit's sandbox is what stands between a fault of the parsers and the
// machine.
func TestUnitIsHardened(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT TESTED: the unit's exposure, because systemd-analyze is missing here (Debian: systemd)")
	}
	// --threshold is in tenths.
	cmd := exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--threshold=20", "--no-pager", filepath.Join(top, "deploy", "systemd", "dnsteer.service"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the exposure is above 2.0: %v\n%s", err, out)
	}
	out = bytes.TrimSpace(out)
	t.Logf("%s", out[bytes.LastIndexByte(out, '\n')+1:])
}

// Everything that packages contain must be there.
func TestSourcesOfPackages(t *testing.T) {
	for _, m := range regexp.MustCompile(`src: (deploy/[^,]+|config[^,]+),|install: (\S+),|remove: (\S+)[,}]`).FindAllStringSubmatch(source(t, "deploy", "package", "nfpm.yaml"), -1) {
		if _, err := os.Stat(filepath.Join(top, m[1]+m[2]+m[3])); err != nil {
			t.Error(err)
		}
	}
}

// A page that formatters stumble over, or a script that a shell refuses, is of
// no use on a machine where nobody has the sources.
func TestManualsAndCompletions(t *testing.T) {
	dir := t.TempDir()
	r := release{version: "1.0.0", date: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	for name, text := range r.manuals() {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tool(t, "mandoc", "-T", "lint", "-W", "warning", path)
	}
	for shell, check := range map[string][]string{
		"bash": {"-c", `COMP_WORDS=(dnsteer tar); COMP_CWORD=1; COMP_LINE="dnsteer tar" COMP_POINT=11; compopt() { :; }; dnsteer() { [ "$1 $2" = "__complete tar" ] && printf 'target\tLook\n:4\n'; }; _get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=1 cur=tar prev=dnsteer; }; source "$0"; __start_dnsteer; [ "${COMPREPLY[*]}" = target ] || { echo "completes ${COMPREPLY[*]}"; exit 1; }`},
		"zsh":  {"-n"},
		"fish": {"--no-execute"},
	} {
		script, err := completion(t.Context(), shell)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "dnsteer."+shell)
		if err := os.WriteFile(path, script, 0o600); err != nil {
			t.Fatal(err)
		}
		tool(t, shell, append(check, path)...)
	}
}

// tool runs a program that must find nothing; one that is missing is said.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Logf("NOT TESTED by %s, which is missing here", name)
		return
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}
