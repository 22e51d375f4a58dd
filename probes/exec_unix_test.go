//go:build unix

package probes

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

func sh(script string) Exec { return Exec{Command: []string{"sh", "-c", script, "sh", "{address}"}} }

// A command's word would be taken for another, or what this machine could not
// do for an outage of the node.
func TestExec(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name    string
		probe   Exec
		timeout time.Duration
		want    want
		text    string
	}{
		{"exit 0", sh("exit 0"), soon, want{sites.Up, ""}, "exit status 0"},
		{"with a word", sh("echo load 0.3; echo more"), soon, want{sites.Up, ""}, "exit status 0: load 0.3"},
		{"exit 2", sh("echo 'disk full' >&2; exit 2"), soon, want{sites.Down, CauseExit}, "exit status 2: disk full"},
		{"exit 255", sh("exit 255"), soon, want{sites.Down, CauseExit}, "exit status 255"},
		{"control characters", sh(`printf 'a\033[31mb\rc\n'; exit 1`), soon, want{sites.Down, CauseExit}, "exit status 1: a [31mb c"},
		{"the address", sh(`echo "$1 $DNSTEER_ADDRESS"`), soon, want{sites.Up, ""}, "exit status 0: 127.0.0.1 127.0.0.1"},
		{"no shell in between", Exec{Command: []string{"echo", "$PATH; {address}"}}, soon, want{sites.Up, ""}, "exit status 0: $PATH; 127.0.0.1"},
		{"sleeping", sh("echo started; sleep 1000"), never, want{sites.Down, CauseTimeout}, "no answer within 150ms"},
		{"deaf to SIGTERM", sh("trap '' TERM; while :; do sleep 1000; done"), never, want{sites.Down, CauseTimeout}, "no answer within 150ms"},
		{"endless output", sh("yes"), 2 * never, want{sites.Down, CauseTimeout}, "no answer within 300ms"},
		{"more output than a pipe holds", sh("head -c 1000000 /dev/zero; exit 3"), soon, want{sites.Down, CauseExit}, "exit status 3"},
		{"one long line", sh("head -c 100000 /dev/zero | tr '\\0' x"), soon, want{sites.Up, ""}, "exit status 0: " + strings.Repeat("x", maxLine) + "…"},
		{"waits for input", sh("cat"), soon, want{sites.Up, ""}, "exit status 0"},
		{"killed", sh("kill -KILL $$"), soon, want{sites.Unknown, CauseLocalCommand}, "the command ended by signal: killed"},
		{"a child in the background", sh("sleep 1000 & exit 0"), soon, want{sites.Up, ""}, "exit status 0"},
		{"not there", Exec{Command: []string{filepath.Join(dir, "none")}}, soon, want{sites.Unknown, CauseLocalCommand}, "there is no command " + dir},
		{"not in PATH", Exec{Command: []string{"no-such-command-here"}}, soon, want{sites.Unknown, CauseLocalCommand}, "there is no command no-such-command-here on this machine"},
		{"not executable", Exec{Command: []string{file("plain", "x", 0o600)}}, soon, want{sites.Unknown, CauseLocalCommand}, "this process may not run "},
		{"of no format", Exec{Command: []string{file("noformat", "\x00\x01", 0o700)}}, soon, want{sites.Unknown, CauseLocalCommand}, ""},
		{"none", Exec{}, soon, want{sites.Unknown, CauseLocalConfig}, "no command is given"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ask(t, tt.probe, "127.0.0.1", tt.timeout)
			if verdict(c) != tt.want || !strings.HasPrefix(c.Text, tt.text) {
				t.Errorf("got %+v (%s), want %+v (%s)", verdict(c), c.Text, tt.want, tt.text)
			}
			if n := len([]rune(c.Text)); n > maxLine+100 {
				t.Errorf("a text of %d characters", n)
			}
		})
	}
}

// Secrets of the controller's environment would reach the command, or it would
// not know what it is asked for.
func TestExecEnvironment(t *testing.T) {
	t.Setenv("DNSTEER_SECRET", "x")
	t.Setenv("PATH", "/usr/bin:/bin")
	s := sites.Subject{Site: "berlin", Node: "a", Addr: netip.MustParseAddr("::1")}
	p := Exec{Command: []string{"env"}, Env: map[string]string{"MODE": "deep"}}
	ctx, o := Observe(t.Context())
	c := Ask(ctx, p, s, nil)
	if c.Outcome != sites.Up {
		t.Fatalf("%+v", c)
	}
	got := o.Detail().Command.Output
	const want = "PATH=/usr/bin:/bin DNSTEER_ADDRESS=::1 DNSTEER_SITE=berlin DNSTEER_NODE=a MODE=deep"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Descriptors that the controller was started with would be open in a command,
// such as the socket of a service manager.
func TestExecInheritsNothing(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	script := fmt.Sprintf("if (: <&%d) 2>/dev/null; then echo open; exit 1; fi", f.Fd())
	if c := ask(t, sh(script), "127.0.0.1", soon); c.Outcome != sites.Up {
		t.Errorf("%+v", c)
	}
}

// What a command leaves behind would fill the machine, one process a probe.
func TestExecEndsItsGroup(t *testing.T) {
	tests := []struct {
		name, script string
		timeout      time.Duration
		want         want
	}{
		{"after its end", `(trap '' TERM; echo $$ >&2; exec sleep 1000) & echo $! >"$OUT"; exit 0`, soon, want{sites.Up, ""}},
		{"at the deadline", `(trap '' TERM; while :; do sleep 1000; done) & echo $! >"$OUT"; trap '' TERM; wait; sleep 1000`, 5 * time.Second, want{sites.Down, CauseTimeout}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "pid")
			p := sh(tt.script)
			p.Env = map[string]string{"OUT": out}
			if c := ask(t, p, "127.0.0.1", tt.timeout); verdict(c) != tt.want {
				t.Fatalf("%+v", c)
			}
			awaitGone(t, pidIn(t, out))
		})
	}
}

// pidIn reads the number of a process that a command has written.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// awaitGone waits until the kernel has ended a process that was killed: it
// passes the signal on at once, and carries it out when it gets to it.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return
		}
	}
	t.Errorf("the process %d is still there", pid)
}

// zombie says whether a process has ended and only waits for its new parent,
// which in a container may be one that waits for nobody.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// A child that has left the group and holds the output open would hold the
// probe up for ever.
func TestExecEscapedChild(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Fatalf("this test needs setsid of util-linux: %v", err)
	}
	out := filepath.Join(t.TempDir(), "pid")
	p := sh(`setsid sh -c 'echo $$ >"$OUT"; exec sleep 1000' & until [ -s "$OUT" ]; do sleep 0.01; done`) // it has left
	p.Env = map[string]string{"OUT": out}
	if c := ask(t, p, "127.0.0.1", soon); c.Outcome != sites.Up {
		t.Errorf("%+v", c)
	}
	if err := syscall.Kill(pidIn(t, out), syscall.SIGKILL); err != nil {
		t.Errorf("the child has ended before: %v", err)
	}
}

// A command that the controller gives up at its end would count as an outage.
func TestExecCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if f, err := os.Open(fifo); err == nil { // when the command has opened it
			_ = f.Close()
		}
		cancel()
	}()
	p := sh(`echo >"$FIFO"; sleep 1000`)
	p.Env = map[string]string{"FIFO": fifo}
	c := p.Probe(ctx, netip.MustParseAddr("127.0.0.1"))
	if verdict(c) != (want{sites.Unknown, CauseCancelled}) {
		t.Errorf("%+v", c)
	}
	if c := p.Probe(ctx, netip.MustParseAddr("127.0.0.1")); verdict(c) != (want{sites.Unknown, CauseCancelled}) {
		t.Errorf("started with a context that is over: %+v", c)
	}
}

// A machine without processes, memory or descriptors left would count as an
// outage of every node that is probed by a command.
func TestExecCannotStart(t *testing.T) {
	tests := []struct {
		name string
		in   error
		want Cause
	}{
		{"processes", syscall.EAGAIN, CauseLocalBusy},
		{"memory", syscall.ENOMEM, CauseLocalMemory},
		{"descriptors", syscall.EMFILE, CauseLocalDescriptors},
		{"the system's descriptors", syscall.ENFILE, CauseLocalDescriptors},
		{"rights", syscall.EACCES, CauseLocalCommand},
		{"not there", syscall.ENOENT, CauseLocalCommand},
		{"too many arguments", syscall.E2BIG, CauseLocalCommand},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := &os.PathError{Op: "fork/exec", Path: "/bin/check", Err: tt.in}
			if c := cannotStart("/bin/check", err); verdict(c) != (want{sites.Unknown, tt.want}) {
				t.Errorf("%+v", c)
			}
		})
	}
}
