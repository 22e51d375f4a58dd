//go:build unix

package probes

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

// A node that accepts would be taken out, or one that does not left in.
func TestTCP(t *testing.T) {
	open := listen(t, func(c net.Conn) { _ = c.Close() })
	if got := verdict(ask(t, TCP{Port: open}, "127.0.0.1", soon)); got != (want{sites.Up, ""}) {
		t.Errorf("open port: %+v", got)
	}
	if got := verdict(ask(t, TCP{Port: open}, "::ffff:127.0.0.1", soon)); got != (want{sites.Up, ""}) {
		t.Errorf("open port, address in IPv6 form: %+v", got)
	}
	if got := verdict(ask(t, TCP{Port: closedPort(t)}, "127.0.0.1", soon)); got != (want{sites.Down, CauseRefused}) {
		t.Errorf("closed port: %+v", got)
	}
}

// A probe that is given up, as by a reload, would count as an outage.
func TestTCPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := TCP{Port: 9}.Probe(ctx, netip.MustParseAddr("127.0.0.1"))
	if got := verdict(c); got != (want{sites.Unknown, CauseCancelled}) {
		t.Errorf("%+v", got)
	}
}

// Thousands of probes would use up the ports of the machine, each waiting a
// minute after its connection.
func TestTCPLeavesNoPortWaiting(t *testing.T) {
	states := make(chan error, 1)
	port := listen(t, func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(soon))
		_, err := c.Read(make([]byte, 1))
		states <- err
	})
	ask(t, TCP{Port: port}, "127.0.0.1", soon)
	if err := <-states; !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("the node sees %v, want a reset", err)
	}
}

// A machine that cannot ping would call its nodes down, or its owner would not
// know what to change.
func TestChooseICMP(t *testing.T) {
	denied := os.NewSyscallError("socket", unix.EACCES)
	tests := []struct {
		name                     string
		unprivileged, privileged error
		want                     ICMPMode
		err                      error
	}{
		{"both", nil, nil, ICMPUnprivileged, nil},
		{"unprivileged only", nil, denied, ICMPUnprivileged, nil},
		{"privileged only", denied, nil, ICMPPrivileged, nil},
		{"neither", denied, unix.EPERM, 0, unix.EPERM},
		{"no descriptor", unix.EMFILE, unix.EMFILE, 0, unix.EMFILE},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chooseICMP(func(m ICMPMode) error {
				if m == ICMPPrivileged {
					return tt.privileged
				}
				return tt.unprivileged
			})
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	const remedy = "open a socket for echo requests: neither unprivileged (operation not permitted) nor privileged (operation not permitted): " +
		"put this process's group into the sysctl net.ipv4.ping_group_range, or give it CAP_NET_RAW"
	if _, err := chooseICMP(func(ICMPMode) error { return unix.EPERM }); err.Error() != remedy {
		t.Errorf("got %q, want %q", err, remedy)
	}
}
