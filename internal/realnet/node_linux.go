package realnet

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// Node is a proxy: HAProxy, which answers on port 443 in plain HTTP with a page of
// several packets that ends with [LastWords].
type Node struct {
	Name    string // "site/node"
	addr    netip.Addr
	site    *Site
	link    string // at the site's router
	machine netnstest.Namespace
	cmd     *exec.Cmd // nil while it does not run
	said    bytes.Buffer
}

// LastWords end the page of a node, so that who has read them has got all of it.
const LastWords = "and this is the end of it"

// How long a node keeps everybody waiting before it answers.
const (
	quick = time.Duration(0)
	// slow is less than any timeout here, stuck is more.
	slow  = 200 * time.Millisecond
	stuck = time.Hour
)

// Addr of the node.
func (n *Node) Addr() string { return n.addr.String() }

// start starts its HAProxy, and waits until its port is open.
func (n *Node) start(wait time.Duration) {
	t := n.site.w.t
	t.Helper()
	dir := filepath.Join(n.site.w.dir, strings.ReplaceAll(n.Name, "/", "-"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	page := daemontest.File(t, filepath.Join(dir, "page"), strings.Repeat("a page of some length\n", 300)+LastWords)
	load, delay := "", ""
	if wait > 0 {
		script := daemontest.File(t, filepath.Join(dir, "delay.lua"), fmt.Sprintf(
			`core.register_action("delay", {"http-req"}, function(txn) core.msleep(%d) end)`, wait.Milliseconds()))
		load, delay = "  lua-load "+script+"\n", "  http-request lua.delay\n"
	}
	conf := daemontest.File(t, filepath.Join(dir, "haproxy.cfg"), fmt.Sprintf(`global
  nbthread 1
  maxconn 1000
%sdefaults
  mode http
  timeout client 1m
  timeout connect 1m
  timeout server 1m
frontend node
  bind %s:443
%s  http-request return status 200 content-type text/plain file %s
`, load, n.addr, delay, page))
	n.said.Reset()
	cmd := n.machine.Command(context.WithoutCancel(t.Context()), daemontest.Path(t, "haproxy"), "-db", "-f", conf)
	cmd.Stdout, cmd.Stderr = &n.said, &n.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.cmd = cmd
	Until(t, n.Name+" listens", func() string { return n.machine.Listens(":443") })
}

// stop ends its HAProxy.
func (n *Node) stop() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()         // says that it was killed
	n.cmd = nil
}

func (n *Node) signal(s syscall.Signal) {
	n.site.w.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		n.site.w.t.Fatalf("%s: %v: %s", n.Name, err, n.said.String())
	}
}
