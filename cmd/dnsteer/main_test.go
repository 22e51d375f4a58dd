package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dnsteer": func() { os.Exit(run()) }})
}

// The program as people run it: a real controller with real nodes, asked and
// told by the real commands. If this fails nothing else matters.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			// The path of a socket may have few bytes.
			dir, err := os.MkdirTemp("", "dnst")
			if err != nil {
				return err
			}
			env.Defer(func() { os.RemoveAll(dir) })
			env.Setenv("TZ", "UTC")
			// The race detector waits for a second at the end of each command otherwise.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("STATE", dir)
			env.Setenv("DNSTEER_CONFIG", "dnsteer.yaml")
			env.Values[nodes{}] = map[string]*node{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"ports": ports(t), "node": startNode, "halt": haltNode, "until": until, "answers": answers, "exits": exits,
		},
	})
}

// patience is how long a script waits for something that must come, on a machine that
// is busy too.
const patience = 2 * time.Minute

// poll asks until it is told true.
func poll(ts *testscript.TestScript, what func() (string, bool)) {
	got := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var ok bool
		if got, ok = what(); ok {
			return
		}
	}
	ts.Fatalf("it does not come; at last it was %s", got)
}

// ports: ports NAME... sets variables to ports that are free for UDP and TCP.
func ports(t *testing.T) func(ts *testscript.TestScript, _ bool, names []string) {
	return func(ts *testscript.TestScript, _ bool, names []string) {
		for _, name := range names {
			ts.Setenv(name, fmt.Sprint(daemontest.Port(t)))
		}
	}
}

type nodes struct{}

// node takes connections and ends them at once.
type node struct {
	net.Listener
	done chan struct{}
}

// startNode: node ADDRESS lets a node answer.
func startNode(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", args[0])
	ts.Check(err)
	n := &node{l, make(chan struct{})}
	go func() {
		defer close(n.done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	all(ts)[args[0]] = n
	ts.Defer(func() { n.Close(); <-n.done })
}

// haltNode: halt ADDRESS lets it answer no more.
func haltNode(ts *testscript.TestScript, _ bool, args []string) {
	n := all(ts)[args[0]]
	if n == nil {
		ts.Fatalf("there is no node %s", args[0])
	}
	ts.Check(n.Close())
	<-n.done
}

func all(ts *testscript.TestScript) map[string]*node {
	m, ok := ts.Value(nodes{}).(map[string]*node)
	if !ok {
		ts.Fatalf("no nodes")
	}
	return m
}

// until: until TEXT COMMAND... runs a command until it prints a text.
func until(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, func() (string, bool) {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		return fmt.Sprint(out, ts.ReadFile("stderr"), err), strings.Contains(out, args[0])
	})
}

// answers: answers NAME ADDRESS... waits until the controller's DNS server, on
// $DNS, gives these addresses.
func answers(ts *testscript.TestScript, _ bool, args []string) {
	want := slices.Sorted(slices.Values(args[1:]))
	poll(ts, func() (string, bool) {
		m := new(dns.Msg).SetQuestion(dns.Fqdn(args[0]), dns.TypeA)
		c := dns.Client{Timeout: 5 * time.Second} // one that a controller takes with it to its end is asked again
		res, _, err := c.Exchange(m, "127.0.0.1:"+ts.Getenv("DNS"))
		if err != nil {
			return err.Error(), false
		}
		var got []string
		for _, rr := range res.Answer {
			if a, ok := rr.(*dns.A); ok {
				got = append(got, a.A.String())
			}
		}
		slices.Sort(got)
		return fmt.Sprint(got), slices.Equal(got, want)
	})
}

// exits: exits CODE COMMAND... runs a command and holds its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
