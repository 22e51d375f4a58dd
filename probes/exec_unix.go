//go:build unix

package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

const (
	// termGrace is the time between SIGTERM and SIGKILL, after the deadline:
	// short enough for the result to count.
	termGrace = 100 * time.Millisecond
	// killGrace is how long a killed process may take to be gone, and what is
	// left of its output to be read.
	killGrace = 100 * time.Millisecond
)

// command is a running process group and what it has written.
type command struct {
	cmd    *exec.Cmd
	output *os.File      // the end that is read
	ended  chan struct{} // closed when the command has ended
	read   chan struct{} // closed when all output has been read

	mu   sync.Mutex
	kept []byte
}

func (p Exec) run(ctx context.Context, at attempt, s sites.Subject) sites.Check {
	c, err := p.start(s)
	if err != nil {
		return cannotStart(p.Command[0], err)
	}
	state, err := c.wait(ctx)
	c.drain()
	output := c.said()
	watch(ctx).command(state, output)
	switch {
	case err != nil:
		return at.failed(ctx, err)
	case state == nil:
		return unknown(CauseLocalCommand, "the command cannot be ended: it hangs in the kernel")
	case state.Success():
		return up(said("exit status 0", output))
	case state.Exited():
		return down(CauseExit, "%s", said(fmt.Sprintf("exit status %d", state.ExitCode()), output))
	default:
		return unknown(CauseLocalCommand, "%s", said("the command ended by "+state.String(), output))
	}
}

// start starts the command in a process group of its own.
func (p Exec) start(s sites.Subject) (*command, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	argv := p.argv(s.Addr)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // chosen in the configuration, and ended by its group
	cmd.Env = p.environ(s)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	closeOnExec()
	err = cmd.Start()
	_ = w.Close() // the child has it
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	c := &command{cmd: cmd, output: r, ended: make(chan struct{}), read: make(chan struct{})}
	go func() {
		defer close(c.ended)
		_ = cmd.Wait() // the state says it
	}()
	go c.readAll()
	return c, nil
}

// wait waits for the command's end, or ends it with the context, whose error
// it gives then. A nil state is that of a process that does not end.
func (c *command) wait(ctx context.Context) (*os.ProcessState, error) {
	select {
	case <-c.ended:
		c.signal(unix.SIGKILL) // what it left in the background
		return c.cmd.ProcessState, nil
	case <-ctx.Done():
	}
	c.signal(unix.SIGTERM)
	gone := c.endsWithin(termGrace)
	c.signal(unix.SIGKILL)
	if !gone && !c.endsWithin(killGrace) {
		return nil, nil //nolint:nilnil // it neither ends nor fails
	}
	return c.cmd.ProcessState, ctx.Err()
}

func (c *command) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.ended:
		return true
	case <-t.C:
		return false
	}
}

// signal sends a signal to the process group. The group's number cannot be
// given to another while a process of it is left; and if none is, the kernel
// would have to go through all numbers in the moment since the last has ended.
func (c *command) signal(s syscall.Signal) { _ = unix.Kill(-c.cmd.Process.Pid, s) }

// readAll keeps the first of the output and throws the rest away, so that no
// command is stopped by a full pipe.
func (c *command) readAll() {
	defer close(c.read)
	buf := make([]byte, maxOutput)
	for {
		n, err := c.output.Read(buf)
		c.mu.Lock()
		c.kept = append(c.kept, buf[:min(n, maxOutput-len(c.kept))]...)
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// drain waits for the rest of the output. A process that has left the group may
// hold the pipe open: it is not waited for.
func (c *command) drain() {
	_ = c.output.SetReadDeadline(time.Now().Add(killGrace))
	<-c.read
	_ = c.output.Close()
}

func (c *command) said() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept
}

// cannotStart tells why there was no verdict: always for a reason of our own.
func cannotStart(name string, err error) sites.Check {
	switch {
	case errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE):
		return unknown(CauseLocalDescriptors, "no file descriptor is left for the command (%v)", err)
	case errors.Is(err, unix.ENOMEM):
		return unknown(CauseLocalMemory, "no memory is left for the command (%v)", err)
	case errors.Is(err, unix.EAGAIN):
		return unknown(CauseLocalBusy, "no process is left for the command (%v)", err)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return unknown(CauseLocalCommand, "there is no command %s on this machine", printable(name, maxLine))
	case errors.Is(err, fs.ErrPermission):
		return unknown(CauseLocalCommand, "this process may not run %s", printable(name, maxLine))
	default:
		return unknown(CauseLocalCommand, "%s cannot be run: %v", printable(name, maxLine), err)
	}
}

// closeOnExec keeps descriptors that this process has itself inherited, and
// has never known of, from the command. All others are close-on-exec already.
func closeOnExec() {
	if closeRangeOnExec() == nil {
		return
	}
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return // a system without it: nothing but what was inherited is passed on
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	for _, name := range names {
		var fd int
		if _, err := fmt.Sscan(name, &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
