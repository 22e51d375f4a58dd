package netnstest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// namespaces is where ip(8) keeps them.
	namespaces = "/run/netns/"
	// runs has a file for each run of tests, which its process keeps locked: the
	// system unlocks it when that ends, however it ends.
	runs   = "/run/dnsteer-netnstest/"
	prefix = "dnsteer-"
)

// run is one process's tests, while they last.
type run struct {
	// name begins the names of its namespaces.
	name string
	// file is locked as long as it is open, which is until the process ends.
	file *os.File
	made atomic.Int64
}

// thisRun gives this process's run, once what dead runs have left is away.
var thisRun = sync.OnceValues(func() (*run, error) { return begin(runs) })

// begin makes a run with its file in a folder. A file gets its name when it is locked
// already, so one that is not locked is of a dead run.
func begin(dir string) (*run, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := sweep(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	// The number of the file makes the name one that no other run has.
	r := &run{name: prefix + strconv.Itoa(os.Getpid()) + strings.TrimPrefix(filepath.Base(f.Name()), "new"), file: f}
	return r, os.Rename(f.Name(), filepath.Join(dir, r.name))
}

// sweep takes away what dead runs have left: what still runs in their namespaces, the
// namespaces, and last their file.
func sweep(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := bury(name); err != nil {
			return fmt.Errorf("take away what %s has left: %w", filepath.Base(name), err)
		}
	}
	return nil
}

// bury does that for one run, if it is dead.
func bury(name string) error {
	f, err := os.Open(name) // #nosec G304 -- in a folder of our own
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another has buried it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil // it lives, or another buries it
	}
	left, err := filepath.Glob(namespaces + filepath.Base(name) + "-*")
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := remove(filepath.Base(path)); err != nil {
			return err
		}
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove ends what runs in a namespace, and removes it.
func remove(ns string) error {
	out, err := exec.CommandContext(context.Background(), "ip", "netns", "pids", ns).Output() // #nosec G204 -- a namespace of ours
	if err != nil {
		return fmt.Errorf("ip netns pids %s: %w", ns, err)
	}
	for field := range strings.FieldsSeq(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid == os.Getpid() { // a thread of ours
			continue
		}
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
	}
	if out, err := exec.CommandContext(context.Background(), "ip", "netns", "delete", ns).CombinedOutput(); err != nil {
		return fmt.Errorf("ip netns delete %s: %w: %s", ns, err, out)
	}
	return nil
}
