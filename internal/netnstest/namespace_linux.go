package netnstest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Namespace is the name of a network namespace, as ip(8) has it.
type Namespace string

// Need skips a test that nobody but root can run.
func Need(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make network namespaces")
	}
}

// New makes a namespace that goes with the test, and with it all that runs in it. Its
// role is for people who look at it. Its loopback is up. The test is skipped where
// the process is not root's.
func New(t testing.TB, role string) Namespace {
	t.Helper()
	Need(t)
	run, err := thisRun()
	if err != nil {
		t.Fatalf("make a network namespace: %v", err)
	}
	ns := Namespace(fmt.Sprintf("%s-%d-%s", run.name, run.made.Add(1), role))
	ip(t, "netns", "add", string(ns))
	t.Cleanup(func() {
		if err := remove(string(ns)); err != nil {
			t.Errorf("remove a network namespace: %v", err)
		}
	})
	ns.IP(t, "link set lo up")
	return ns
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v (.ci/packages installs it): %s", strings.Join(args, " "), err, out)
	}
}

// IP runs commands of ip(8) in the namespace, one a line, such as
// "addr add 10.0.0.1/24 dev p0".
func (ns Namespace) IP(t testing.TB, commands ...string) {
	t.Helper()
	ns.input(t, strings.Join(commands, "\n")+"\n", "ip", "-batch", "-")
}

// NFT gives the namespace rules in the language of nft(8), all of them or none.
func (ns Namespace) NFT(t testing.TB, rules string) {
	t.Helper()
	ns.input(t, rules, "nft", "-f", "-")
}

func (ns Namespace) input(t testing.TB, text, name string, args ...string) {
	t.Helper()
	cmd := ns.Command(context.WithoutCancel(t.Context()), name, args...) // clean-ups do it too
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s in %s: %v (.ci/packages installs it): %s\n%s", name, ns, err, out, text)
	}
}

// Command is a program that will run in the namespace.
func (ns Namespace) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", string(ns), name}, args...)...) // #nosec G204 -- the tests say what
}

// Run runs a program in the namespace to its end and gives its output.
func (ns Namespace) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := ns.Command(context.WithoutCancel(t.Context()), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s in %s: %v (.ci/packages installs it)\n%s", name, strings.Join(args, " "), ns, err, out)
	}
	return string(out)
}

// Do runs f on a thread that is in the namespace and dies with it. Sockets that f
// makes stay in the namespace; what it starts in other goroutines is not in it.
func (ns Namespace) Do(t testing.TB, f func() error) {
	t.Helper()
	if err := ns.Enter(f); err != nil {
		t.Fatalf("in the namespace %s: %v", ns, err)
	}
}

// Enter is Do for those that judge the error themselves.
func (ns Namespace) Enter(f func() error) error {
	errs := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		errs <- func() error {
			fd, err := unix.Open(namespaces+string(ns), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
				return err
			}
			return f()
		}()
	}()
	return <-errs
}

// Sysctl sets a setting under /proc/sys/net.
func (ns Namespace) Sysctl(t testing.TB, name, value string) {
	t.Helper()
	ns.Do(t, func() error { return os.WriteFile("/proc/sys/net/"+name, []byte(value), 0) })
}

// End is one end of a wire: what its link is called in which namespace.
type End struct {
	In   Namespace
	Link string
}

// Wire lays a wire (veth) between two namespaces. Both of its ends are up.
func Wire(t testing.TB, a, b End) {
	t.Helper()
	a.In.IP(t, fmt.Sprintf("link add %s type veth peer name %s netns %s", a.Link, b.Link, b.In), "link set dev "+a.Link+" up")
	b.In.IP(t, "link set dev "+b.Link+" up")
}

// Listens says what is amiss as long as nothing listens at an address, or at any
// address if it is ":443"; "" once something does.
func (ns Namespace) Listens(at string) string {
	out, err := ns.Command(context.Background(), "ss", "-Hltn").Output()
	if err != nil {
		return fmt.Sprintf("ss in %s: %v", ns, err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[3], at) {
			return ""
		}
	}
	return "nothing listens at " + at + ":\n" + string(out)
}
