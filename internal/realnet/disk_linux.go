package realnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// diskSize is what the disk of the state holds, in octets.
const diskSize = 4 << 20

// disk is one that has the controller's state and nothing else: a tmpfs in a mount
// namespace of its own, which lasts as long as the process that holds it.
type disk struct {
	w      *World
	holder int    // its process's ID
	root   string // where the folders of that namespace are seen
}

// StateDisk gives the state of the world's controller a small disk of its own, before
// the controller is served.
func (w *World) StateDisk() {
	w.t.Helper()
	dir := filepath.Join(w.dir, "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	// On the controller's machine, with which it goes also when the tests are killed.
	hold := w.here.Command(context.WithoutCancel(w.t.Context()), "unshare", "--mount", "--propagation", "private", "sh", "-c",
		fmt.Sprintf("mount -t tmpfs -o size=%d,mode=0700 disk %s && exec sleep infinity", diskSize, dir))
	daemontest.StartCmd(w.t, hold)
	w.disk = &disk{w: w, holder: hold.Process.Pid, root: fmt.Sprintf("/proc/%d/root", hold.Process.Pid)}
	Until(w.t, "the disk is mounted", func() string {
		var fs unix.Statfs_t
		if err := unix.Statfs(w.statedir(), &fs); err != nil || fs.Type != unix.TMPFS_MAGIC || fs.Blocks*uint64(fs.Bsize) != diskSize {
			return fmt.Sprintf("%s is another (%v)", w.statedir(), err)
		}
		return ""
	})
}

// statedir is the state folder as tests see it.
func (w *World) statedir() string {
	if w.disk == nil {
		return filepath.Join(w.dir, "state")
	}
	return w.disk.root + filepath.Join(w.dir, "state")
}

// command is a program that will run on the controller's machine where the disk is
// mounted.
func (d *disk) command(args ...string) *exec.Cmd {
	args = append([]string{"--target", strconv.Itoa(d.holder), "--mount", "--net", "--wdns=" + d.w.dir, "--"}, args...)
	return exec.CommandContext(context.WithoutCancel(d.w.t.Context()), "nsenter", args...) // #nosec G204 -- the tests say what
}

// fill takes all room that is left.
func (d *disk) fill() (release func()) {
	t := d.w.t
	t.Helper()
	path := filepath.Join(d.w.statedir(), "filler")
	f, err := os.Create(path) // #nosec G304 -- on the test's own disk
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, os.Getpagesize())
	for err == nil {
		_, err = f.Write(page)
	}
	_ = f.Close() // its end was reached
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk did not fill up: %v", err)
	}
	return d.w.fault(func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}, "the disk is full")
}

// readOnly makes the disk read-only, which the system does only while nobody writes.
func (d *disk) readOnly() (end func()) {
	d.remount("ro")
	return d.w.fault(func() { d.remount("rw") }, "the disk is read-only")
}

func (d *disk) remount(how string) {
	d.w.t.Helper()
	if out, err := d.command("mount", "-o", "remount,"+how, filepath.Join(d.w.dir, "state")).CombinedOutput(); err != nil {
		d.w.t.Fatalf("remount the disk %s: %v: %s", how, err, out)
	}
}

// CallsFail makes system calls of the running controller fail, or last, as strace(1)
// injects it: "fdatasync:error=EIO". The test is skipped where there is no strace.
func (c *Controller) CallsFail(inject string) (end func()) {
	t := c.w.t
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: no system call of a running program can be made to fail")
	}
	pid := c.cmd.Process.Pid
	calls, _, _ := strings.Cut(inject, ":")
	said := &daemontest.Output{}
	trace := exec.CommandContext(context.WithoutCancel(t.Context()), path, "-f", "-q", "-o", "/dev/null", // #nosec G204 -- the tests say what
		"-e", "trace="+calls, "-e", "inject="+inject, "-p", strconv.Itoa(pid))
	trace.Stdout, trace.Stderr = said, said
	if err := trace.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = trace.Wait(); close(ended) }() // it says that it was ended
	stop := func() {
		_ = trace.Process.Signal(syscall.SIGTERM) // it may have ended with the controller
		<-ended
	}
	t.Cleanup(stop)
	Until(t, "strace has every thread", func() string {
		select {
		case <-ended:
			t.Fatalf("strace has ended: %s", said)
		default:
		}
		return untraced(pid)
	})
	return c.w.fault(stop, "system calls: %s", inject)
}

// untraced names a thread that nobody traces, "" for none.
func untraced(pid int) string {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		return fmt.Sprintf("there is no process %d (%v)", pid, err)
	}
	for _, path := range tasks {
		status, err := os.ReadFile(path) // #nosec G304 -- of the system
		if err == nil && bytes.Contains(status, []byte("TracerPid:\t0\n")) {
			return path + " is not traced"
		}
	}
	return ""
}

// NoDescriptors lets the running controller keep what it has open, and open nothing
// more.
func (c *Controller) NoDescriptors() (end func()) {
	t := c.w.t
	t.Helper()
	var was unix.Rlimit
	limit := func(to, old *unix.Rlimit) {
		t.Helper()
		if err := unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_NOFILE, to, old); err != nil {
			t.Fatalf("limit the descriptors of the controller: %v", err)
		}
	}
	limit(nil, &was)
	limit(&unix.Rlimit{Cur: 1, Max: was.Max}, nil)
	return c.w.fault(func() { limit(&was, nil) }, "no descriptor is left")
}
