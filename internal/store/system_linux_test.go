package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// systemRoles are those that need a disk of their own, or failing system calls.
func systemRoles() map[string]func(dir string) error {
	return map[string]func(dir string) error{
		"full":     withDisk(fullDisk),
		"start":    withDisk(startOnFullDisk),
		"readonly": withDisk(readOnlyDisk),
		"retry":    writeThroughFailures,
		"few":      writeFew,
	}
}

// If one of these fails, a full or read-only disk stops the program, or spoils
// what is stored, or is not noticed to be well again. Each runs on a small disk
// of its own in a mount namespace.
func TestDisks(t *testing.T) {
	for _, role := range []string{"full", "start", "readonly"} {
		t.Run(role, func(t *testing.T) {
			cmd := childCommand(role, t.TempDir())
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			if os.Getuid() != 0 { // who is not root is root in a namespace of users
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
				cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
			}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) {
				t.Skipf("this system lets nobody make a mount namespace (%v): TestFailingCommits alone shows what a full disk does", err)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// withDisk runs fn with a disk of 512 KB mounted on dir.
func withDisk(fn func(dir string) error) func(string) error {
	return func(dir string) error {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("make mounts private: %w", err)
		}
		if err := unix.Mount("disk", dir, "tmpfs", 0, "size=512k,mode=0700"); err != nil {
			return fmt.Errorf("mount a small disk: %w", err)
		}
		return fn(dir)
	}
}

// fill takes all room of the disk and gives it back when release is called.
func fill(dir string) (release func() error, err error) {
	path := filepath.Join(dir, "filler")
	err = os.WriteFile(path, make([]byte, 1<<20), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, fmt.Errorf("the disk did not fill up: %v", err)
	}
	return func() error { return os.Remove(path) }, nil
}

// large is a batch that needs room.
func large(n uint64) Batch {
	b := numbered(n)
	b.Sites["large"] = stored(strings.Repeat("x", 100_000))
	return b
}

// expect says whether the folder holds batch n and the error is what a person
// can act upon.
func expect(s *Store, n uint64, err error, want string) error {
	var failed *CommitError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("commit %d: error %v is not one that says %q", n+1, err, want)
	}
	state, err := s.Load()
	if err != nil {
		return err
	}
	if got, err := checkNumbered(state); err != nil || got != n {
		return fmt.Errorf("commit %d is stored, want %d (%w)", got, n, err)
	}
	return nil
}

// finish commits batch n and looks whether the next start finds it.
func finish(s *Store, n uint64) error {
	if err := s.Commit(large(n)); err != nil {
		return fmt.Errorf("when all is well again: %w", err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	s, report, err := Open(s.dir, Options{})
	if err != nil {
		return err
	}
	state, err := s.Load()
	if got, numErr := checkNumbered(state); got != n || report.Alarming() || err != nil || numErr != nil {
		return fmt.Errorf("commit %d is stored, want %d; %s (%w)", got, n, report, errors.Join(err, numErr))
	}
	return s.Close()
}

func fullDisk(dir string) error {
	s, _, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if err := s.Commit(numbered(1)); err != nil {
		return err
	}
	release, err := fill(dir)
	if err != nil {
		return err
	}
	for range 20 {
		if err := expect(s, 1, s.Commit(large(2)), "free some space"); err != nil {
			return err
		}
	}
	if err := errors.Join(release(), s.Commit(large(2))); err != nil {
		return err
	}
	return finish(s, 3)
}

func startOnFullDisk(dir string) error {
	release, err := fill(dir)
	if err != nil {
		return err
	}
	s, report, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if !report.Empty || !report.Alarming() || !strings.Contains(report.String(), "nothing can be stored at present") {
		return fmt.Errorf("report %s", report)
	}
	if err := expect(s, 0, s.Commit(numbered(1)), "free some space"); err != nil {
		return err
	}
	if err := release(); err != nil {
		return err
	}
	return finish(s, 1)
}

func readOnlyDisk(dir string) error {
	s, _, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(s.Commit(numbered(1)), s.Close(), remount(dir, unix.MS_RDONLY)); err != nil {
		return err
	}
	s, report, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if report.Empty || !strings.Contains(report.String(), "make that disk writable") {
		return fmt.Errorf("report %s", report)
	}
	if err := expect(s, 1, s.Commit(numbered(2)), "make that disk writable"); err != nil {
		return err
	}
	if err := s.Snapshot(); err == nil {
		return errors.New("a copy was made on a read-only disk")
	}
	if err := remount(dir, 0); err != nil {
		return err
	}
	return finish(s, 2)
}

func remount(dir string, flags uintptr) error {
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|flags, "size=512k"); err != nil {
		return fmt.Errorf("remount: %w", err)
	}
	return nil
}

// writeThroughFailures commits until batch 40 is stored, each batch again for as
// long as it fails.
func writeThroughFailures(dir string) error {
	s, _, err := Open(dir, Options{MaxEvents: 10})
	if err != nil {
		return err
	}
	failures := 0
	for n := uint64(1); n <= 40; n++ {
		err := s.Commit(numbered(n))
		var failed *CommitError
		switch {
		case err == nil:
		case errors.As(err, &failed) && failures < 10:
			failures++
			n--
		default:
			return err
		}
	}
	fmt.Println("failures", failures)
	return s.Close()
}

// writeFew stores what a start and a few commits store.
func writeFew(dir string) error {
	s, _, err := Open(dir, Options{MaxEvents: 3})
	if err != nil {
		return err
	}
	for n := uint64(1); n <= 4; n++ {
		if err := s.Commit(numbered(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return errors.Join(s.Snapshot(), s.Close())
}

// straced has another process play a role while strace injects what a system call
// does; it gives what the process said.
func straced(t *testing.T, role, dir, inject string) (string, error) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: no system call can be made to fail or to kill")
	}
	child := childCommand(role, dir)
	child.Path, child.Args = strace, append([]string{"strace", "-f", "-q", "-o", "/dev/null", "-e", "inject=" + inject}, child.Args...)
	out, err := child.CombinedOutput()
	return string(out), err
}

// If this fails, one failing fsync leaves a store that loses what it
// acknowledges later, or acknowledges nothing any more.
func TestFailingSystemCalls(t *testing.T) {
	for _, inject := range []string{
		"fdatasync:error=EIO:when=6", "fdatasync:error=EIO:when=7", "fdatasync:error=EIO:when=8+9",
		"pwrite64:error=ENOSPC:when=21", "pwrite64:error=EIO:when=22..25", "ftruncate:error=EFBIG:when=2",
	} {
		t.Run(inject, func(t *testing.T) {
			dir := t.TempDir()
			out, err := straced(t, "retry", dir, inject)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			s, report := open(t, dir, Options{})
			if n, err := checkNumbered(load(t, s)); n != 40 || err != nil || report.Alarming() {
				t.Errorf("commit %d is stored (%v), %s", n, err, report)
			}
			t.Logf("%s", strings.TrimSpace(out))
		})
	}
}

// If this fails, there is an instant at which a kill or a power cut loses what
// was acknowledged.
func TestKillAtEverySystemCall(t *testing.T) {
	kills, after := 0, 0
	for call, most := range map[string]int{"pwrite64": 60, "fdatasync": 20, "fsync": 20, "ftruncate": 20, "renameat": 20} {
		ended := false
		for when := 1; !ended; when++ {
			if when > most {
				t.Fatalf("the process does not end by itself after %d calls of %s", most, call)
			}
			dir := memory(t)
			out, err := straced(t, "few", dir, fmt.Sprintf("%s:signal=SIGKILL:when=%d", call, when))
			ended = err == nil
			acked := uint64(len(strings.Fields(out)))
			var exit *exec.ExitError
			if !ended && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
				t.Fatalf("%s %d: %v: %s", call, when, err, out)
			}
			if !ended {
				kills++
				after += int(min(acked, 1))
			}
			s, report := open(t, dir, Options{})
			n, err := checkNumbered(load(t, s))
			if err != nil || report.Damage != "" || n < acked || n > acked+1 {
				t.Errorf("killed at %s %d: commit %d was acknowledged, %d is stored; %s (%v)", call, when, acked, n, report, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d kills, %d of them after the first acknowledgement", kills, after)
}
