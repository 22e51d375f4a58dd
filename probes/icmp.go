package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	probing "github.com/prometheus-community/pro-bing"

	"github.com/dnsteer/dnsteer/sites"
)

// ICMP asks for an echo. Its packets are spread over the probe's timeout; the
// first answer ends it, and only when all are lost is the node down, so that a
// lossy line is not taken for an outage.
type ICMP struct {
	Packets int // 0 means 3
}

// ICMPMode says by which kind of socket this process may send echo requests.
type ICMPMode uint8

// The kinds of sockets for echo requests.
const (
	// ICMPUnprivileged sockets are open to the groups of the sysctl
	// net.ipv4.ping_group_range (which governs IPv6 too).
	ICMPUnprivileged ICMPMode = iota
	// ICMPPrivileged sockets need CAP_NET_RAW.
	ICMPPrivileged
)

func (m ICMPMode) String() string {
	if m == ICMPPrivileged {
		return "privileged"
	}
	return "unprivileged"
}

// DetectICMP finds out how this process may send echo requests in a family:
// unprivileged if the system allows it, else privileged. The error says what to
// do where neither works. It costs two system calls and is asked for every
// probe, so that a change of the system's settings needs no restart.
func DetectICMP(family sites.Family) (ICMPMode, error) {
	return chooseICMP(func(m ICMPMode) error { return tryICMP(family, m) })
}

// chooseICMP decides by what came of opening each kind of socket.
func chooseICMP(try func(ICMPMode) error) (ICMPMode, error) {
	unprivileged := try(ICMPUnprivileged)
	if unprivileged == nil {
		return ICMPUnprivileged, nil
	}
	privileged := try(ICMPPrivileged)
	if privileged == nil {
		return ICMPPrivileged, nil
	}
	if !errors.Is(privileged, syscall.EPERM) && !errors.Is(privileged, syscall.EACCES) {
		return 0, fmt.Errorf("open a socket for echo requests: %w", privileged)
	}
	return 0, fmt.Errorf("open a socket for echo requests: neither unprivileged (%v) nor privileged (%w): "+
		"put this process's group into the sysctl net.ipv4.ping_group_range, or give it CAP_NET_RAW", unprivileged, privileged)
}

// Probe implements [Prober].
func (p ICMP) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	c := p.probe(ctx, addr.Unmap())
	c.Duration = time.Since(start)
	return c
}

func (p ICMP) probe(ctx context.Context, addr netip.Addr) sites.Check {
	at := newAttempt(ctx, addr)
	mode, err := DetectICMP(sites.FamilyOf(addr))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return unknown(CauseLocalPermission, "%v", err)
	}
	if err != nil {
		return at.failed(ctx, err)
	}
	if err := tryRoute(addr); err != nil {
		return at.failed(ctx, err)
	}
	e := echo{pinger: p.pinger(addr, mode, at.timeout), observer: watch(ctx)}
	e.pinger.OnRecv = e.received
	e.pinger.OnSendError = e.notSent
	e.pinger.SetLogger(sendWatch{e: &e})
	if e.observer != nil {
		e.pinger.Interval = min(e.pinger.Interval, 100*time.Millisecond)
	}
	err = e.pinger.RunWithContext(ctx)
	e.observer.sent(addr, e.pinger.PacketsSent)
	return e.judge(ctx, at, err)
}

func (p ICMP) pinger(addr netip.Addr, mode ICMPMode, timeout time.Duration) *probing.Pinger {
	const unlimited = 2 * time.Second // where the caller's context has no end
	if timeout <= 0 {
		timeout = unlimited
	}
	packets := p.Packets
	if packets <= 0 {
		packets = 3
	}
	pinger := probing.New("")
	pinger.SetIPAddr(&net.IPAddr{IP: addr.AsSlice(), Zone: addr.Zone()})
	pinger.SetPrivileged(mode == ICMPPrivileged)
	pinger.RecordRtts, pinger.RecordTTLs = false, false
	pinger.Count = packets
	pinger.Interval = max(timeout/time.Duration(packets), time.Millisecond)
	pinger.Timeout = timeout
	return pinger
}

// echo is one run of a pinger. Its fields belong to the goroutine that sends
// and receives until the run has ended.
type echo struct {
	pinger   *probing.Pinger
	observer *Observer
	sendErr  error
	refusals int // of sending, as forbidden
	answers  int
	rtt      time.Duration
}

// notSent takes the error of a packet that was not sent. Where the kernel has
// no buffers left, the pinger would try again at once and without an end: that
// takes the last of the processor as well, so the run ends instead.
func (e *echo) notSent(_ *probing.Packet, err error) {
	e.sendErr = err
	if errors.Is(err, syscall.ENOBUFS) {
		runtime.Goexit()
	}
}

// sendWatch is the pinger's log. Nothing is written, but the pinger says here,
// and nowhere else, that sending was forbidden (EACCES): it takes the address
// for a broadcast address then and tries again, without an end where a rule of
// this machine forbids it. The second time the run ends: the pinger stops when
// its goroutine has gone.
type sendWatch struct {
	probing.NoopLogger
	e *echo
}

// Infof implements [probing.Logger].
func (w sendWatch) Infof(format string, _ ...any) {
	if format != "Pinging a broadcast address" {
		return
	}
	if w.e.refusals++; w.e.refusals > 1 {
		w.e.sendErr = syscall.EACCES
		runtime.Goexit()
	}
}

func (e *echo) received(p *probing.Packet) {
	if e.answers == 0 {
		e.rtt = p.Rtt
	}
	e.answers++
	if e.observer != nil { // who wants to see them all
		e.observer.echo(SeenEcho{Sequence: p.Seq, RTT: p.Rtt, TTL: p.TTL})
		return
	}
	e.pinger.Stop()
}

func (e *echo) judge(ctx context.Context, at attempt, err error) sites.Check {
	if e.answers > 0 {
		return up(fmt.Sprintf("echo after %s", max(e.rtt, 0).Round(10*time.Microsecond)))
	}
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		err = e.sendErr
	}
	if err != nil {
		return at.failed(ctx, err)
	}
	c := at.failed(ctx, context.DeadlineExceeded)
	if c.Outcome == sites.Down {
		c.Text = fmt.Sprintf("no echo to %d packets within %s", e.pinger.PacketsSent, e.pinger.Timeout.Round(time.Millisecond))
	}
	return c
}
