package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// bare runs a command with no environment at all, on a machine whose file systems are
// read-only but for one folder, and that has no time zones.
const bare = `set -e
dir=$1 zones=$2; shift 2
mount --make-rprivate /
mount --bind "$dir" "$dir"
for z in /usr/share/zoneinfo /usr/lib/zoneinfo /usr/share/lib/zoneinfo /etc/zoneinfo "$zones"; do
	if [ -d "$z" ]; then mount -t tmpfs none "$z"; fi
done
mount -o remount,bind,ro /
if touch /var/dnsteer-test 2>/dev/null; then echo "the root is not read-only"; exit 9; fi
exec env -i "$@"
`

// example writes the example with a port of its own, and gives the path and where it
// answers.
func example(t *testing.T, dir string) (path, at string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(daemontest.Port(t))
	return daemontest.File(t, filepath.Join(dir, "dnsteer.yaml"), strings.ReplaceAll(string(text), ":5353", ":"+port)), "127.0.0.1:" + port
}

// If this fails, the controller does not run in the smallest container: without HOME,
// TZ, PATH, a language or a database of time zones, and with nothing to write to but
// its state folder.
func TestOnABareMachine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a file system read-only")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	path, at := example(t, dir)
	serve := command(t, dir, "serve", "--config", path)
	args := append([]string{"--mount", "sh", "-c", bare, "sh", dir, filepath.Join(strings.TrimSpace(string(root)), "lib", "time")}, serve.Args...)
	cmd := exec.Command(daemontest.Path(t, "unshare"), args...)
	cmd.Dir = dir
	p := run(t, cmd)
	p.await("dnsteer serves")
	if got := strings.Join(addresses(t, at, "app.example.lan"), " "); !strings.Contains(got, "127.0.1.11") {
		t.Errorf("app.example.lan has the addresses %q", got)
	}
	out, err := command(t, dir, "status", "--config", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "berlin") {
		t.Errorf("%v\n%s", err, out)
	}
	p.signal(syscall.SIGTERM)
	p.stopped()
}

// If this fails, a controller that hangs, which the service manager ends by SIGABRT, or
// one that has crashed, is not started again; or nobody can find out where it hung.
func TestAHangLeavesATrace(t *testing.T) {
	unit, err := os.ReadFile(filepath.Join("..", "..", "deploy", "systemd", "dnsteer.service"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(unit), "\nRestartPreventExitStatus=")
	final, _, ok := strings.Cut(rest, "\n")
	if !ok || !strings.Contains(string(unit), "\nRestart=always\n") {
		t.Fatal("the unit does not say when it is started again")
	}
	dir := folder(t)
	path, _ := example(t, dir)
	p := run(t, command(t, dir, "serve", "--config", path))
	p.await("dnsteer serves")
	p.signal(syscall.SIGABRT)
	p.await(`SIGABRT`)
	p.await(`internal/app\.\(\*loop\)\.begin`) // the loop of decisions, whatever it waits for
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code == 0 || slices.Contains(strings.Fields(final), strconv.Itoa(code)) {
		t.Errorf("it has ended with %d, after which it is not started again (%s)", code, final)
	}
}
