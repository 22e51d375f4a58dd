package benchproc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If this fails, the processor time or the memory of a program is another's, or none.
func TestFigures(t *testing.T) {
	pids := Family(os.Getpid())
	before, err := CPU(pids...)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := range 50_000_000 {
		sum ^= i
	}
	after, err := CPU(pids...)
	if err != nil || after <= before {
		t.Errorf("from %s to %s, %v (%d)", before, after, err, sum)
	}
	if Shared(pids...) < 1<<20 {
		t.Errorf("%d octets of memory", Shared(pids...))
	}
	now, most, err := Resident(os.Getpid())
	if err != nil || now < 1<<20 || most < now {
		t.Errorf("%d octets of memory, %d at most, %v", now, most, err)
	}
	const nobody = 1 << 30
	if _, err := CPU(nobody); err == nil {
		t.Error("a process that is not there has used time")
	}
	if _, _, err := Resident(nobody); err == nil || Shared(nobody) != 0 {
		t.Error("a process that is not there holds memory")
	}
}

// If this fails, a program that could not be measured does not say why.
func TestStart(t *testing.T) {
	output := filepath.Join(t.TempDir(), "output")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "head -c 1000 /dev/zero | tr '\\0' x; echo why >&2; exit 1")
	if err := Start(cmd, output); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it has not failed")
	}
	if got := string(Said(output)); len(got) != 600 || !strings.HasSuffix(got, "xwhy\n") {
		t.Errorf("it said %q", got)
	}
	if got := Said(output + "-"); got != nil {
		t.Errorf("a program without output said %q", got)
	}
	port, err := FreePort(t.Context(), "127.0.0.1")
	if err != nil || port == 0 {
		t.Errorf("port %d, %v", port, err)
	}
}
