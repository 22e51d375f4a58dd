package acceptance

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// If this fails, a terminal that was stopped, or a log that nobody takes, stops the
// controller: names are not answered, orders are not carried out, or it does not end.
func TestALogThatNobodyReads(t *testing.T) {
	dir := folder(t)
	path, at := example(t, dir)
	here, there, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	fill(t, int(there.Fd()))
	cmd := command(t, dir, "serve", "--config", path, "--log-level", "debug")
	cmd.Stdout, cmd.Stderr = there, there
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = there.Close() // the program has its own
	ask := func(args ...string) string {
		out, err := command(t, dir, append(args, "--config", path)...).CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(out)
		}
		return ""
	}
	within(t, "it serves", func() bool { return ask("status") == "" })
	if text := ask("maintenance", "berlin/a", "--reason", "test"); text != "" {
		t.Errorf("an order: %s", text)
	}
	if got := strings.Join(addresses(t, at, "app.example.lan"), " "); got != "127.0.1.12" {
		t.Errorf("a is in maintenance, and the addresses are %q", got)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}

// fill writes into a pipe until it takes nothing more.
func fill(t *testing.T, pipe int) {
	t.Helper()
	if err := unix.SetNonblock(pipe, true); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		_, err = unix.Write(pipe, make([]byte, 4096))
	}
	if !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(pipe, false); err != nil { // the program waits
		t.Fatal(err)
	}
}
