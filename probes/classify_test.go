//go:build unix

package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

// A fault of this machine would take healthy nodes out, or an outage would be
// taken for a fault of this machine and not be acted on (O1).
func TestClassify(t *testing.T) {
	v4, v6 := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")
	in := func(errno unix.Errno) error { // as the net package wraps it
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
	}
	tests := []struct {
		name    string
		err     error
		addr    netip.Addr
		noRoute bool // the UDP connect() fails too
		ctxErr  error
		want    want
	}{
		{"no descriptor", in(unix.EMFILE), v4, false, nil, want{sites.Unknown, CauseLocalDescriptors}},
		{"no descriptor in the system", in(unix.ENFILE), v4, false, nil, want{sites.Unknown, CauseLocalDescriptors}},
		{"no buffer", in(unix.ENOBUFS), v4, false, nil, want{sites.Unknown, CauseLocalMemory}},
		{"no memory", in(unix.ENOMEM), v4, false, nil, want{sites.Unknown, CauseLocalMemory}},
		{"no port", in(unix.EADDRNOTAVAIL), v4, false, nil, want{sites.Unknown, CauseLocalPorts}},
		{"own firewall", in(unix.EPERM), v4, false, nil, want{sites.Unknown, CauseLocalPermission}},
		{"not allowed", in(unix.EACCES), v4, false, nil, want{sites.Unknown, CauseLocalPermission}},
		{"not allowed, IPv6", in(unix.EACCES), v6, true, nil, want{sites.Unknown, CauseLocalPermission}},
		{"prohibited on the way, IPv6", in(unix.EACCES), v6, false, nil, want{sites.Down, CauseProhibited}},
		{"no IPv6 here", in(unix.EAFNOSUPPORT), v6, true, nil, want{sites.Unknown, CauseLocalRoute}},
		{"link down", in(unix.ENETDOWN), v4, true, nil, want{sites.Unknown, CauseLocalRoute}},
		{"no route here", in(unix.ENETUNREACH), v4, true, nil, want{sites.Unknown, CauseLocalRoute}},
		{"no route on the way", in(unix.ENETUNREACH), v4, false, nil, want{sites.Down, CauseUnreachableNet}},
		{"unreachable by a route here", in(unix.EHOSTUNREACH), v4, true, nil, want{sites.Unknown, CauseLocalRoute}},
		{"host off", in(unix.EHOSTUNREACH), v4, false, nil, want{sites.Down, CauseUnreachableHost}},
		{"host off, says a router", in(unix.EHOSTDOWN), v4, false, nil, want{sites.Down, CauseUnreachableHost}},
		{"refused", in(unix.ECONNREFUSED), v4, false, nil, want{sites.Down, CauseRefused}},
		{"reset", in(unix.ECONNRESET), v4, false, nil, want{sites.Down, CauseReset}},
		{"broken pipe", in(unix.EPIPE), v4, false, nil, want{sites.Down, CauseReset}},
		{"the kernel gave up", in(unix.ETIMEDOUT), v4, false, nil, want{sites.Down, CauseTimeout}},
		{"own timeout", os.ErrDeadlineExceeded, v4, false, context.DeadlineExceeded, want{sites.Down, CauseTimeout}},
		{"own timeout, seen by the context", context.DeadlineExceeded, v4, false, nil, want{sites.Down, CauseTimeout}},
		{"own timeout, in other words", errors.New("operation was aborted"), v4, false, context.DeadlineExceeded, want{sites.Down, CauseTimeout}},
		{"cancelled", context.Canceled, v4, false, context.Canceled, want{sites.Unknown, CauseCancelled}},
		{"cancelled while refused", in(unix.ECONNREFUSED), v4, false, context.Canceled, want{sites.Unknown, CauseCancelled}},
		{"end of file", fmt.Errorf("read: %w", io.EOF), v4, false, nil, want{sites.Down, CauseEOF}},
		{"cut off", io.ErrUnexpectedEOF, v4, false, nil, want{sites.Down, CauseEOF}},
		{"something else", errors.New("odd"), v4, false, nil, want{sites.Down, CauseFailed}},
		{"another errno", in(unix.EINVAL), v4, false, nil, want{sites.Down, CauseFailed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := attempt{addr: tt.addr, ctxErr: tt.ctxErr, timeout: time.Second, routed: func(netip.Addr) bool { return !tt.noRoute }}
			if got := verdict(at.classify(tt.err)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The sentences of explanations would not read as sentences.
func TestClassifyTexts(t *testing.T) {
	at := attempt{addr: netip.MustParseAddr("10.0.0.1"), timeout: 2*time.Second - 3*time.Microsecond, routed: func(netip.Addr) bool { return false }}
	tests := []struct {
		err  error
		want string
	}{
		{unix.ECONNREFUSED, "connection refused"},
		{context.DeadlineExceeded, "no answer within 2s"},
		{unix.ENETUNREACH, "this machine has no route to 10.0.0.1 (network is unreachable)"},
	}
	for _, tt := range tests {
		if got := at.classify(tt.err).Text; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A resolver that this machine's own firewall does not let us ask must not be said to be
// down because it does not listen for TCP.
func TestTelling(t *testing.T) {
	forbidden := os.NewSyscallError("sendto", unix.EPERM)
	refused := os.NewSyscallError("connect", unix.ECONNREFUSED)
	reset := os.NewSyscallError("read", unix.ECONNRESET)
	late := os.ErrDeadlineExceeded
	tests := []struct {
		name           string
		udp, tcp, want error
	}{
		{"not let out, and no TCP", forbidden, refused, forbidden},
		{"not let out, and no answer by TCP", forbidden, late, forbidden},
		{"no answer, and no TCP", late, refused, late},
		{"refused by both", refused, reset, reset},
		{"cut off, and refused by TCP", errTruncated, refused, refused},
		{"cut off, and no answer by TCP", errTruncated, late, late},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := telling(tt.udp, tt.tcp); !errors.Is(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
