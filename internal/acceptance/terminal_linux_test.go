package acceptance

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal: what a person holds, and what the program
// sees.
func terminal(t *testing.T) (person, seen *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	seen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = seen.Close() })
	return person, seen
}

// If this fails, the demo's keys need Enter, or the terminal shows nothing of
// what is typed after the demo has ended.
func TestDemoInATerminal(t *testing.T) {
	for _, end := range []struct{ name, keys string }{{"q", "q"}, {"Ctrl-D", "\x04"}, {"Ctrl-C", "\x03"}} {
		t.Run(end.name, func(t *testing.T) {
			person, seen := terminal(t)
			before, err := unix.IoctlGetTermios(int(seen.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			cmd := command(t, folder(t), "demo", "--dns", "127.0.0.1:0")
			cmd.Stdin = seen
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			p := run(t, cmd)
			p.await("Keys:")
			if _, err := person.WriteString("s"); err != nil {
				t.Fatal(err)
			}
			p.await("berlin: ")
			if _, err := person.WriteString(end.keys); err != nil {
				t.Fatal(err)
			}
			p.stopped()
			after, err := unix.IoctlGetTermios(int(seen.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			if before.Lflag != after.Lflag || before.Cc != after.Cc {
				t.Errorf("the terminal is left with flags %x in place of %x", after.Lflag, before.Lflag)
			}
		})
	}
}
