// Package daemontest runs daemons of the system's packages for tests, on loopback
// and with configurations of the tests' own.
package daemontest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Ports are looked for below those that the usual systems give out by themselves:
// a port from there may be gone again before a daemon binds it.
const firstPort, lastPort = 15_000, 32_000

// Addr gives an address of loopback whose port is free over UDP and TCP.
func Addr(t testing.TB) netip.AddrPort {
	t.Helper()
	var last error
	for range 100 {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(firstPort+rand.IntN(lastPort-firstPort))) // #nosec G404 -- a port is no secret
		l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
		if err != nil {
			last = err
			continue
		}
		pc, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
		_ = l.Close() // only its number was wanted
		if err != nil {
			last = err
			continue
		}
		_ = pc.Close() // likewise
		return addr
	}
	t.Fatalf("no port of loopback is free over UDP and TCP: %v", last)
	return netip.AddrPort{}
}

// Port gives the port of an Addr.
func Port(t testing.TB) uint16 {
	t.Helper()
	return Addr(t).Port()
}

// Path finds a daemon, which need not be in everybody's PATH.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	path = filepath.Join("/usr/sbin", name)
	if _, missing := os.Stat(path); missing != nil {
		t.Fatalf("%v: .ci/packages installs it", errors.Join(err, missing))
	}
	return path
}

// Start runs a daemon in the foreground until the test ends, with all that it has
// started. Its output is shown when the test fails.
func Start(t testing.TB, name string, args ...string) {
	t.Helper()
	StartCmd(t, exec.Command(Path(t, name), args...)) //nolint:gosec,noctx // the tests name it, and it ends with them
}

// StartCmd is Start for a command with an environment or a folder of its own.
func StartCmd(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out := &Output{}
	cmd.Stdout, cmd.Stderr = out, out
	group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ask(cmd) // it may have ended
		late := time.AfterFunc(5*time.Second, func() { end(cmd) })
		_ = cmd.Wait() // says that it was ended
		late.Stop()
		end(cmd) // children that are left
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, out)
		}
	})
}

// File writes a file of a test and gives its path.
func File(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Until asks again and again, for as long as a start on a busy machine may take.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond) // asking is polling
	defer tick.Stop()
	for start := time.Now(); !ok(); <-tick.C {
		if time.Since(start) > 3*time.Minute {
			t.Fatalf("it does not come to be that %s", what)
		}
	}
}

// Output is what a program says, which may be read while it speaks. The zero Output is
// empty.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write takes what is said.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String is all of it until now.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
