// Package sdnotify tells the service manager how the service is: ready,
// reloading, stopping, alive. It speaks the protocol of sd_notify(3): datagrams
// to the unix socket that NOTIFY_SOCKET names. Without that variable nothing
// happens, so callers need not ask.
package sdnotify

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// writeTimeout bounds how long a service manager that does not read can hold
// the caller up, which may be the decision loop.
const writeTimeout = 100 * time.Millisecond

// Notifier sends messages to the service manager. A nil Notifier sends nothing
// and fails never. It is safe for concurrent use.
type Notifier struct {
	addr     *net.UnixAddr
	watchdog time.Duration
}

// New reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID through getenv (as
// os.Getenv) for the process pid. It returns nil, and no error, where no
// service manager listens. On an error the Notifier is nil, which can be used.
func New(getenv func(string) string, pid int) (*Notifier, error) {
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil, nil //nolint:nilnil // a nil Notifier is one that says nothing
	}
	if path[0] != '/' && path[0] != '@' {
		return nil, fmt.Errorf("NOTIFY_SOCKET %q: only paths of unix sockets and abstract sockets (@name) are spoken to", path)
	}
	watchdog, err := watchdogInterval(getenv, pid)
	if err != nil {
		return nil, err
	}
	return &Notifier{addr: &net.UnixAddr{Name: path, Net: "unixgram"}, watchdog: watchdog}, nil
}

// watchdogInterval is WATCHDOG_USEC, or 0 where no watchdog waits for this
// process.
func watchdogInterval(getenv func(string) string, pid int) (time.Duration, error) {
	usec := getenv("WATCHDOG_USEC")
	if usec == "" {
		return 0, nil
	}
	if of := getenv("WATCHDOG_PID"); of != "" && of != strconv.Itoa(pid) {
		return 0, nil
	}
	n, err := strconv.ParseInt(usec, 10, 64)
	if err != nil || n <= 0 || n > int64(time.Duration(1<<63-1)/time.Microsecond) {
		return 0, fmt.Errorf("WATCHDOG_USEC %q: not a number of microseconds above 0", usec)
	}
	return time.Duration(n) * time.Microsecond, nil
}

// WatchdogInterval is within what time the service manager wants [Notifier.Alive]
// before it ends the service; 0 means that it does not wait. Half of it is the
// pace that sd_watchdog_enabled(3) advises.
func (n *Notifier) WatchdogInterval() time.Duration {
	if n == nil {
		return 0
	}
	return n.watchdog
}

// Ready says that the service serves, after a start or a reload; status is one
// line for people, "" for none.
func (n *Notifier) Ready(status string) error { return n.send("READY=1", statusLine(status)) }

// Reloading says that a reload has begun; Ready ends it.
func (n *Notifier) Reloading() error { return n.send("RELOADING=1", monotonicLine()) }

// Stopping says that the service is about to end; status is one line for
// people, "" for none.
func (n *Notifier) Stopping(status string) error { return n.send("STOPPING=1", statusLine(status)) }

// Status gives one line for people, shown by `systemctl status`.
func (n *Notifier) Status(status string) error { return n.send(statusLine(status)) }

// Alive feeds the watchdog. The decision loop calls it, and nothing else, so
// that a loop that hangs is noticed whatever else still runs. Without a watchdog
// nothing is sent.
func (n *Notifier) Alive() error {
	if n == nil || n.watchdog == 0 {
		return nil
	}
	return n.send("WATCHDOG=1")
}

// statusLine keeps a status to its one line: a line break would start another
// assignment.
func statusLine(status string) string {
	if status == "" {
		return ""
	}
	return "STATUS=" + strings.Join(strings.FieldsFunc(status, func(r rune) bool {
		return r == '\n' || r == '\r' || r == 0
	}), " ")
}

// send sends the lines as one datagram; empty ones are left out. The socket is
// opened anew each time, so a service manager that has started again is found.
func (n *Notifier) send(lines ...string) error {
	if n == nil {
		return nil
	}
	var message strings.Builder
	for _, line := range lines {
		if line != "" {
			message.WriteString(line + "\n")
		}
	}
	if message.Len() == 0 {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, n.addr)
	if err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	if _, err := conn.Write([]byte(message.String())); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}
