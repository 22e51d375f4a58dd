package probes

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// listen serves connections on loopback until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (port int) { t.Helper(); return listenAt(t, 0, serve) }

// listenAt does that on a port, 0 for any.
func listenAt(t *testing.T, at int, serve func(net.Conn)) (port int) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	conns := make(chan net.Conn, 100)
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
			go serve(c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		close(conns)
		for c := range conns {
			_ = c.Close()
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// closedPort gives a port on which nothing listens, and which nobody is given by chance.
func closedPort(t *testing.T) int { t.Helper(); return int(daemontest.Port(t)) }

// acceptorEnv makes the test binary serve as the nodes of a benchmark, in a
// process of their own so that they do not count.
const acceptorEnv = "DNSTEER_TEST_ACCEPTOR"

// acceptor accepts on every loopback address until its standard input ends.
func acceptor() {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = l.Close()
}
