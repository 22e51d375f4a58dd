package realnet

import (
	"fmt"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// NodeFault is a way in which a node fails. Begin gives what ends it.
type NodeFault struct {
	Name  string
	Begin func(*Node) (end func())
	// Connects: connections to it still come about, so that it takes a probe that
	// wants to read something to see the fault.
	Connects bool
}

// NodeFaults are those that take a node out of DNS.
func NodeFaults() []NodeFault {
	return []NodeFault{
		{Name: "its port refuses", Begin: (*Node).refuse},
		{Name: "a black hole", Begin: (*Node).blackHole},
		{Name: "its answers are lost", Begin: (*Node).mute},
		{Name: "its link is down", Begin: (*Node).unplug},
		{Name: "its process stands still", Begin: (*Node).freeze, Connects: true},
		{Name: "only small packets come through", Begin: (*Node).smallPackets, Connects: true},
		{Name: "it takes for ever", Begin: (*Node).getStuck, Connects: true},
	}
}

// fault notes a fault and gives what notes its end too.
func (w *World) fault(end func(), format string, args ...any) func() {
	name := fmt.Sprintf(format, args...)
	w.note("begins: %s", name)
	return func() {
		w.t.Helper()
		end()
		w.note("ends: %s", name)
	}
}

// rules gives a machine rules of nft, in a table of their own, for a hook; it gives
// what takes them away.
func (w *World) rules(ns netnstest.Namespace, hook, rules string) (end func()) {
	w.t.Helper()
	w.faults++
	table := fmt.Sprintf("inet fault%d", w.faults)
	ns.NFT(w.t, fmt.Sprintf("table %s { chain c { type filter hook %s priority 0; %s; }; }", table, hook, rules))
	return func() { w.t.Helper(); ns.NFT(w.t, "delete table "+table) }
}

func (n *Node) refuse() func() {
	n.stop()
	return n.site.w.fault(func() { n.start(quick) }, "%s: its port refuses", n.Name)
}

func (n *Node) blackHole() func() {
	end := n.site.w.rules(n.site.router, "forward", "ip daddr "+n.Addr()+" drop")
	return n.site.w.fault(end, "%s: a black hole", n.Name)
}

// mute loses packets one way: the node hears what it is asked.
func (n *Node) mute() func() {
	end := n.site.w.rules(n.site.router, "forward", "ip saddr "+n.Addr()+" drop")
	return n.site.w.fault(end, "%s: its answers are lost", n.Name)
}

func (n *Node) unplug() func() {
	t := n.site.w.t
	n.machine.IP(t, "link set wire down")
	// With its link the machine has lost the route.
	return n.site.w.fault(func() { n.machine.IP(t, "link set wire up", defaultRoute) }, "%s: its link is down", n.Name)
}

func (n *Node) freeze() func() {
	n.signal(syscall.SIGSTOP)
	return n.site.w.fault(func() { n.signal(syscall.SIGCONT) }, "%s: its process stands still", n.Name)
}

// smallPackets is a path whose MTU is less than both ends believe, and which does not
// say so: what is large is lost.
func (n *Node) smallPackets() func() {
	end := n.site.w.rules(n.site.router, "forward", "ip saddr "+n.Addr()+" meta length > 576 drop")
	return n.site.w.fault(end, "%s: only small packets come through", n.Name)
}

func (n *Node) getStuck() func() {
	n.stop()
	n.start(stuck)
	return n.site.w.fault(func() { n.stop(); n.start(quick) }, "%s: it takes for ever", n.Name)
}

// Slow makes a node take its time, less than any timeout.
func (n *Node) Slow() func() {
	n.stop()
	n.start(slow)
	return n.site.w.fault(func() { n.stop(); n.start(quick) }, "%s: it is slow", n.Name)
}

// Cut cuts the site off at its router, without a word.
func (s *Site) Cut() (heal func()) {
	return s.w.fault(s.w.rules(s.router, "forward", "drop"), "%s is cut off", s.Name)
}

// Silence makes the site's resolver answer nobody.
func (s *Site) Silence() (end func()) {
	return s.w.fault(s.witness.silence(s), "%s: its resolver is silent", s.Name)
}

// Lossy loses packets by chance, so many of a hundred, between the controller and the
// site, one way and the other.
func (s *Site) Lossy(percent int) (end func()) {
	return s.w.fault(s.w.rules(s.router, "forward", fmt.Sprintf("numgen random mod 100 < %d drop", percent)),
		"%s: %d %% of the packets are lost", s.Name, percent)
}

// Lossy loses three packets of ten to the node, and as many of those that come back,
// never two in a row.
func (n *Node) Lossy() (end func()) { return n.site.lossy(n.Name, n.Addr()) }

// LossyResolver does that to the site's resolver.
func (s *Site) LossyResolver() (end func()) {
	return s.lossy("the resolver of "+s.Name, s.prefix+"0.1")
}

func (s *Site) lossy(name, addr string) func() {
	const lost = "numgen inc mod 10 { 0, 3, 7 } drop"
	return s.w.fault(s.w.rules(s.router, "forward", "ip daddr "+addr+" "+lost+"; ip saddr "+addr+" "+lost), "%s: three packets of ten are lost", name)
}

// CutOff cuts the controller's own line.
func (w *World) CutOff() (heal func()) {
	// In both directions, those to its own machine too.
	a := w.rules(w.core, "prerouting", `iifname "controller" drop`)
	b := w.rules(w.core, "postrouting", `oifname "controller" drop`)
	return w.fault(func() { a(); b() }, "the controller is cut off")
}

// HoldTarget makes the management of the site's RouterOS a black hole, while it
// answers DNS. A session that is open stays open, and nothing comes through.
func (s *Site) HoldTarget() (end func()) {
	end = s.w.rules(s.router, "forward", "tcp dport 8729 drop")
	return s.w.fault(end, "%s: its target is a black hole", s.Name)
}

// Freeze lets the process stand still until the end is called.
func (c *Controller) Freeze() (thaw func()) {
	c.w.t.Helper()
	from := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		c.w.t.Fatal(err)
	}
	return c.w.fault(func() {
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			c.w.t.Fatal(err)
		}
		c.away = append(c.away, Span{from, time.Now()})
	}, "the controller stands still")
}
