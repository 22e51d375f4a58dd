package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// attempt is what is known when a probe has ended in an error.
type attempt struct {
	addr netip.Addr
	// ctxErr is the error of the probe's context at that moment.
	ctxErr error
	// timeout is the time that the probe had, for the text.
	timeout time.Duration
	// routed says whether this machine has a route to the address. It is asked
	// only where the error leaves that open.
	routed func(netip.Addr) bool
}

// newAttempt notes the time that a probe has from now on.
func newAttempt(ctx context.Context, addr netip.Addr) attempt {
	at := attempt{addr: addr, routed: routed}
	if end, ok := ctx.Deadline(); ok {
		at.timeout = time.Until(end)
	}
	return at
}

// failed gives the check of a probe that ended in err.
func (at attempt) failed(ctx context.Context, err error) sites.Check {
	at.ctxErr = ctx.Err()
	return at.classify(err)
}

// classify tells what the other side did from what this machine could not do
// (O1). It is a function of its arguments alone.
func (at attempt) classify(err error) sites.Check {
	if errors.Is(at.ctxErr, context.Canceled) {
		return unknown(CauseCancelled, "the probe was cancelled")
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if c, ok := at.classifyErrno(errno); ok {
			return c
		}
	}
	if timedOut(err) || at.ctxErr != nil {
		return at.timedOut()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return down(CauseEOF, "the connection was closed without an answer")
	}
	return down(CauseFailed, "%v", err)
}

func (at attempt) timedOut() sites.Check {
	if at.timeout <= 0 {
		return down(CauseTimeout, "no answer in time")
	}
	return down(CauseTimeout, "no answer within %s", at.timeout.Round(time.Millisecond))
}

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}

// fault is what an operating system means by an error number.
type fault uint8

const (
	noFault       fault = iota // nothing that the general rules do not say as well
	noDescriptor               // of this process, or of the system
	noBuffer                   // or no memory
	noPort                     // or no address of our own
	forbidden                  // by this machine
	denied                     // by this machine, or in IPv6 by a router
	noLink                     // or no such family here
	noNetRoute                 // here or on the way
	noHostRoute                // here or on the way, or no such neighbour
	portClosed                 // the other side's word
	brokenOff                  // the other side's word
	kernelTimeout              // the kernel gave up
)

// classifyErrno judges the kernel's word; ok is false for noFault.
func (at attempt) classifyErrno(errno syscall.Errno) (c sites.Check, ok bool) {
	switch faultOf(errno) {
	case noDescriptor:
		return unknown(CauseLocalDescriptors, "no file descriptor is left (%v)", errno), true
	case noBuffer:
		return unknown(CauseLocalMemory, "the kernel has no buffers left (%v)", errno), true
	case noPort:
		return unknown(CauseLocalPorts, "no local port is left (%v)", errno), true
	case forbidden:
		return unknown(CauseLocalPermission, "this machine does not let the probe out (%v)", errno), true
	case denied:
		return at.noAccess(errno), true
	case noLink:
		return at.noRoute(errno), true
	case noNetRoute:
		return at.unreachable(CauseUnreachableNet, "network unreachable", errno), true
	case noHostRoute:
		return at.unreachable(CauseUnreachableHost, "host unreachable", errno), true
	case portClosed:
		return down(CauseRefused, "connection refused"), true
	case brokenOff:
		return down(CauseReset, "connection reset"), true
	case kernelTimeout:
		return at.timedOut(), true
	default:
		return sites.Check{}, false
	}
}

// unreachable judges a word that comes either from a router on the way, or
// from this machine's own table of routes.
func (at attempt) unreachable(c Cause, text string, errno syscall.Errno) sites.Check {
	if !at.routed(at.addr) {
		return at.noRoute(errno)
	}
	return down(c, "%s", text)
}

func (at attempt) noRoute(errno syscall.Errno) sites.Check {
	return unknown(CauseLocalRoute, "this machine has no route to %s (%v)", at.addr, errno)
}

// noAccess judges EACCES. In IPv4 it can only come from this machine. In IPv6
// it is also what becomes of a router's "administratively prohibited", "policy"
// and "reject route" (RFC 4443 section 3.1), which in IPv4 are EHOSTUNREACH.
func (at attempt) noAccess(errno syscall.Errno) sites.Check {
	if at.addr.Is6() && !at.addr.Is4In6() && at.routed(at.addr) {
		return down(CauseProhibited, "a firewall on the way does not let us pass")
	}
	return unknown(CauseLocalPermission, "this machine does not let the probe out (%v)", errno)
}

// routed says whether this machine would send to addr. What has nothing to do
// with routes, such as a lack of descriptors, counts as no: then nothing is
// known.
func routed(addr netip.Addr) bool { return tryRoute(addr) == nil }

// tryRoute connects a UDP socket, which looks the route up and sends nothing.
func tryRoute(addr netip.Addr) error {
	const discard = 9 // any port will do
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, discard)))
	if err != nil {
		return fmt.Errorf("look up the route to %s: %w", addr, err)
	}
	_ = c.Close() // nothing was written
	return nil
}
