package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a Debian machine within this one; see testdata/machine.sh. What is
// done on it leaves no trace on this one.
type machine struct {
	pid    int
	shared string // folder that is /mnt there
}

// patience is how long something that must come is waited for, on a machine
// that has much else to do.
const patience = 3 * time.Minute

// everything is set by make package-test.
var everything = flag.Bool("everything", false, "fail where something cannot be tested here, instead of leaving it out")

// notTested ends a test that this machine has not the means for. It is no fault
// of the package, so whoever has no such machine can still run the other tests.
func notTested(t *testing.T, cause string, args ...any) {
	t.Helper()
	cause = "NOT TESTED: how the package behaves on a machine, because " + fmt.Sprintf(cause, args...)
	if *everything {
		t.Fatal(cause)
	}
	t.Skip(cause)
}

// startMachine starts one, with systemd as process 1 or without. It skips the
// test, with the cause, where this machine cannot do that.
func startMachine(t *testing.T, init string) *machine {
	t.Helper()
	for _, need := range []string{"dpkg", "systemctl", "unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(need); err != nil {
			notTested(t, "%s is missing here", need)
		}
	}
	if os.Getuid() != 0 {
		notTested(t, "namespaces take root")
	}
	m := &machine{shared: t.TempDir()}
	script, err := filepath.Abs(filepath.Join("testdata", "machine.sh"))
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	cmd := exec.Command("unshare", "--cgroup", "bash", script, t.TempDir(), m.shared, init)
	cmd.Stderr = &messages
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if init == "systemd" {
		// What it makes of control groups must go with it, so it gets one.
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(controlGroup(t).Fd())
	}
	if err := cmd.Start(); err != nil {
		notTested(t, "namespaces cannot be made here: %v", err)
	}
	m.pid = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the whole of it ends with process 1
		<-ended
	})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		ready := "test -e /run/test-machine"
		if init == "systemd" {
			ready += " && systemctl is-system-running"
		}
		out, err := m.try(t, "sh", "-c", ready)
		if err == nil {
			return m
		}
		select {
		case err := <-ended:
			ended <- err
			notTested(t, "a machine within this one does not start: %v: %s", err, messages.String())
		default:
		}
		if time.Now().After(end) {
			notTested(t, "a machine within this one does not come up: %s", out)
		}
	}
}

// controlGroup makes a control group that is removed with everything below it.
func controlGroup(t *testing.T) *os.File {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	top := ""
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			top = f[1]
			break
		}
	}
	if top == "" {
		notTested(t, "there are no control groups (cgroup2) here")
	}
	// A test that was killed has left its own; one that is in use stays.
	if old, err := filepath.Glob(filepath.Join(top, "dnsteer-test-*")); err == nil {
		for _, dir := range old {
			_ = removeGroups(dir)
		}
	}
	dir := filepath.Join(top, fmt.Sprintf("dnsteer-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		notTested(t, "no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			err := removeGroups(dir)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				return
			}
			if time.Now().After(end) {
				t.Errorf("a control group stays behind: %v", err)
				return
			}
		}
	})
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// removeGroups removes a control group with those below it.
func removeGroups(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroups(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}

// try runs a command there and gives all that it prints.
func (m *machine) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	enter := []string{
		"-t", fmt.Sprint(m.pid), "-m", "-p", "-n", "-u", "-i", "-C", "--",
		"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
	}
	cmd := exec.CommandContext(t.Context(), "nsenter", append(enter, args...)...)
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run runs a command there that must succeed.
func (m *machine) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.try(t, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(args, " "), err, out, m.state(t))
	}
	t.Logf("# %s\n%s", strings.Join(args, " "), out)
	return out
}

// state tells what is to be known when something has failed.
func (m *machine) state(t *testing.T) string {
	out, _ := m.try(t, "sh", "-c", "systemctl status --no-pager dnsteer.service; cat /run/dnsteer.log")
	return out
}

// until waits until a command there prints a text.
func (m *machine) until(t *testing.T, text string, args ...string) {
	t.Helper()
	out := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if out, err = m.try(t, args...); err == nil && strings.Contains(out, text) {
			return
		}
	}
	t.Fatalf("%s does not say %q, but at last\n%s\n%s", strings.Join(args, " "), text, out, m.state(t))
}

// says fails unless a command there prints exactly a text.
func (m *machine) says(t *testing.T, want string, args ...string) {
	t.Helper()
	if got, _ := m.try(t, args...); got != want {
		t.Errorf("%s says %q, want %q\n%s", strings.Join(args, " "), got, want, m.state(t))
	}
}

// dropIn changes the unit for the test, before it is installed.
func (m *machine) dropIn(t *testing.T) {
	t.Helper()
	m.write(t, "/run/systemd/system/dnsteer.service.d/test.conf", dropIn)
}

// write writes a file there.
func (m *machine) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.shared, "file"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m.run(t, "sh", "-c", `mkdir -p "$(dirname "$0")" && cat /mnt/file >"$0"`, path)
}

// share copies a file to where the machine sees it, and gives its name there.
func (m *machine) share(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.shared, filepath.Base(path)), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return "/mnt/" + filepath.Base(path)
}
