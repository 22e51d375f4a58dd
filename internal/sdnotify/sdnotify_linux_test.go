package sdnotify

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// environment stands in for os.Getenv.
func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// manager listens as a service manager does. A socket's path has at most 108
// octets, and that of a test's own folder can be longer: then the folder is
// named through a descriptor.
func manager(t *testing.T) (*net.UnixConn, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "notify")
	if len(path) >= 108 {
		folder, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = folder.Close() })
		path = filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())), "notify")
	}
	return listen(t, path), path
}

func listen(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func receive(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// If this fails, systemd waits for the start until it gives up and kills a
// service that works.
func TestMessages(t *testing.T) {
	conn, path := manager(t)
	n, err := New(environment(map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}), 7)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		send func() error
		want string
	}{
		{"ready", func() error { return n.Ready("") }, "READY=1\n"},
		{"ready with a status", func() error { return n.Ready("serving 3 sites") }, "READY=1\nSTATUS=serving 3 sites\n"},
		{"stopping", func() error { return n.Stopping("") }, "STOPPING=1\n"},
		{"status", func() error { return n.Status("site berlin is down") }, "STATUS=site berlin is down\n"},
		{"a status cannot say more than its line", func() error { return n.Status("down\nREADY=1\r\nx") }, "STATUS=down READY=1 x\n"},
		{"alive", n.Alive, "WATCHDOG=1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.send(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, receive(t, conn)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// If this fails, `systemctl reload` of a unit of Type=notify-reload hangs until
// its timeout.
func TestReloadingCarriesTheTime(t *testing.T) {
	conn, path := manager(t)
	n, err := New(environment(map[string]string{"NOTIFY_SOCKET": path}), 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Reloading(); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, conn); !regexp.MustCompile(`\ARELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\n\z`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}

// If this fails, services in containers whose manager listens on an abstract
// socket never become ready.
func TestAbstractSocket(t *testing.T) {
	name := "@dnsteer-test-" + strconv.Itoa(os.Getpid())
	conn := listen(t, name)
	n, err := New(environment(map[string]string{"NOTIFY_SOCKET": name}), 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Ready(""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("READY=1\n", receive(t, conn)); diff != "" {
		t.Error(diff)
	}
}

// If this fails, a program started by hand complains about systemd, or the
// watchdog of another process is fed, or a wrong setting goes unnoticed.
func TestNew(t *testing.T) {
	tests := []struct {
		name     string
		env      map[string]string
		watchdog time.Duration
		err      string
	}{
		{"nobody listens", map[string]string{"WATCHDOG_USEC": "1000"}, 0, ""},
		{"no watchdog", map[string]string{"NOTIFY_SOCKET": "/run/n"}, 0, ""},
		{"a watchdog", map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1500000"}, 1500 * time.Millisecond, ""},
		{"a watchdog of ours", map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "7"}, 1500 * time.Millisecond, ""},
		{"a watchdog of another process", map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "8"}, 0, ""},
		{
			"not a number",
			map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1s"},
			0,
			`WATCHDOG_USEC "1s": not a number of microseconds above 0`,
		},
		{
			"too large",
			map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "9223372036854775807"},
			0,
			`WATCHDOG_USEC "9223372036854775807": not a number of microseconds above 0`,
		},
		{
			"another kind of socket",
			map[string]string{"NOTIFY_SOCKET": "vsock:2:9999"},
			0,
			`NOTIFY_SOCKET "vsock:2:9999": only paths of unix sockets and abstract sockets (@name) are spoken to`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := New(environment(tt.env), 7)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tt.err, text); diff != "" {
				t.Error(diff)
			}
			if got := n.WatchdogInterval(); got != tt.watchdog {
				t.Errorf("watchdog interval %v, want %v", got, tt.watchdog)
			}
		})
	}
}

// If this fails, running without a service manager crashes.
func TestNilSaysNothing(t *testing.T) {
	var n *Notifier
	for _, send := range []func() error{
		func() error { return n.Ready("x") }, n.Reloading, func() error { return n.Stopping("x") },
		func() error { return n.Status("x") }, n.Alive,
	} {
		if err := send(); err != nil {
			t.Error(err)
		}
	}
}

// If this fails, a service manager that does not read, or is gone, stops the
// decisions.
func TestManagerThatDoesNotRead(t *testing.T) {
	conn, path := manager(t)
	n, err := New(environment(map[string]string{"NOTIFY_SOCKET": path}), 7)
	if err != nil {
		t.Fatal(err)
	}
	// The queue of a datagram socket holds a few hundred messages at most.
	for i := 0; err == nil; i++ {
		if i > 100_000 {
			t.Fatal("the manager's queue never filled")
		}
		err = n.Status("full")
	}
	if !strings.Contains(err.Error(), "notify the service manager") {
		t.Errorf("error %q does not say what was tried", err)
	}
	_ = conn.Close()
	if err := n.Ready(""); err == nil {
		t.Error("no error though nobody listens")
	}
}
