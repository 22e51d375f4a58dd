package realnet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// built is the folder of what this process has built, if it has.
func built() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("dnsteer-bin-%d", os.Getpid()))
}

// build builds the program, once for all tests of a process: with the race detector
// if the tests have it.
var build = sync.OnceValues(func() (string, error) {
	dir := built()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	args := []string{"build", "-o", filepath.Join(dir, "dnsteer")}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				args = append(args, "-race")
			}
		}
	}
	args = append(args, "github.com/dnsteer/dnsteer/cmd/dnsteer")
	if out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput(); err != nil { // #nosec G204 -- as above
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return filepath.Join(dir, "dnsteer"), nil
})

// Main runs the tests of a package, many at a time: they wait, most of the time.
// It takes away what was built for them.
func Main(m *testing.M) int {
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(built())
	return m.Run()
}

// Controller is the program on the controller's machine.
type Controller struct {
	w      *World
	config string
	env    []func() string
	client *api.Client
	cmd    *exec.Cmd // nil while it does not run
	said   *daemontest.Output
	killed time.Time // zero unless it was, and could not be asked since
	away   []Span    // it was killed, or stood still
}

// Serve starts the controller with a configuration. State, listeners and alerts are
// given to it: it answers DNS on its own address, and its alerts go to the world's
// receiver. env is asked for variables of its environment, "NAME=value", just before
// each start.
func (w *World) Serve(config string, env ...func() string) *Controller {
	w.t.Helper()
	config += fmt.Sprintf(`
state: {path: state}
http: {listen: "127.0.0.1:8053"}
alerts:
  webhooks: [{name: hook, url: "http://%s:%s/"}]
  group: 0s
  wait: 0s
  remind: off
`, coreAddr, hookPort)
	c := &Controller{
		w: w, config: daemontest.File(w.t, filepath.Join(w.dir, "dnsteer.yaml"), config), env: env,
		client: api.NewClient(filepath.Join(w.statedir(), api.SocketName)), said: &daemontest.Output{},
	}
	w.t.Cleanup(func() {
		c.client.Close()
		if w.t.Failed() {
			w.t.Logf("the configuration:\n%s\nthe program said:\n%s", config, c.said)
		}
	})
	w.t.Cleanup(func() {
		if w.t.Failed() && c.cmd != nil {
			w.t.Logf("the events:\n%s", strings.Join(Told(c.try()), "\n"))
		}
		c.end(syscall.SIGTERM)
	})
	c.Start()
	return c
}

// DNSListen is where the controller answers.
const DNSListen = controllerAddr + ":53"

// Start starts the program, and waits until it can be asked.
func (c *Controller) Start() {
	c.w.t.Helper()
	c.Launch()
	c.Asked()
}

// Launch starts the program.
func (c *Controller) Launch() {
	t := c.w.t
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--config", c.config}
	cmd := c.w.here.Command(context.WithoutCancel(t.Context()), program, args...)
	if c.w.disk != nil {
		cmd = c.w.disk.command(append([]string{program}, args...)...)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.w.dir, c.said, c.said
	// What the race detector finds ends the program in another way than SIGTERM does.
	cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1")
	for _, variable := range c.env {
		cmd.Env = append(cmd.Env, variable())
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.cmd = cmd
	c.w.note("the controller is started")
}

// Asked waits until the program can be asked.
func (c *Controller) Asked() {
	c.w.t.Helper()
	Until(c.w.t, "the controller can be asked", func() string {
		if _, err := c.client.Status(c.w.t.Context()); err != nil {
			return err.Error()
		}
		return ""
	})
	if !c.killed.IsZero() {
		c.away, c.killed = append(c.away, Span{c.killed, time.Now()}), time.Time{}
	}
}

// Kill is kill -9.
func (c *Controller) Kill() {
	c.w.t.Helper()
	c.w.note("the controller is killed")
	c.killed = time.Now()
	_ = c.cmd.Process.Kill() // it may have ended, which is found out elsewhere
	_ = c.cmd.Wait()         // says that it was killed
	c.cmd = nil
}

// Stop ends it as an operator does.
func (c *Controller) Stop() {
	c.w.t.Helper()
	c.w.note("the controller is stopped")
	c.end(syscall.SIGTERM)
}

func (c *Controller) end(s syscall.Signal) {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
	_ = c.cmd.Process.Signal(s) // it may have ended, which its exit code shows
	if err := c.cmd.Wait(); err != nil {
		c.w.t.Errorf("the controller ends: %v\n%s", err, c.said)
	}
	c.cmd = nil
}

// Events gives those that came after one, oldest first.
func (c *Controller) Events(after uint64) []sites.Event {
	c.w.t.Helper()
	list, err := c.events(after)
	if err != nil {
		c.w.t.Fatalf("ask for events: %v", err)
	}
	return list
}

// try gives what can be had of them.
func (c *Controller) try() []sites.Event {
	list, err := c.events(0)
	if err != nil {
		c.w.t.Logf("ask for events: %v", err)
	}
	return list
}

func (c *Controller) events(after uint64) (list []sites.Event, err error) {
	const page = 1000
	for {
		// The context of a test is over when its clean-up asks.
		got, err := c.client.Events(context.WithoutCancel(c.w.t.Context()), api.EventQuery{After: after, Ascending: true, Limit: page})
		if err != nil {
			return list, err
		}
		if list = append(list, got...); len(got) < page {
			return list, nil
		}
		after = got[len(got)-1].ID
	}
}

// Last gives the ID of the latest event.
func (c *Controller) Last() (id uint64) {
	c.w.t.Helper()
	for _, e := range c.Events(0) {
		id = e.ID
	}
	return id
}

// Await waits for events "kind subject" after one, in their order and with any
// between them, and gives the last of them.
func (c *Controller) Await(after uint64, names ...string) (last sites.Event) {
	c.w.t.Helper()
	Until(c.w.t, fmt.Sprintf("%v happens", names), func() string {
		rest := names
		list := c.Events(after)
		for i := range list {
			if len(rest) > 0 && Name(&list[i]) == rest[0] {
				last, rest = list[i], rest[1:]
			}
		}
		if len(rest) == 0 {
			return ""
		}
		return fmt.Sprintf("%v is missing among\n%s", rest, strings.Join(Told(list), "\n"))
	})
	return last
}

// Name of an event is "kind subject".
func Name(e *sites.Event) string { return strings.TrimSpace(string(e.Kind) + " " + e.Subject()) }

// Told writes events for people.
func Told(list []sites.Event) (lines []string) {
	for i := range list {
		e := &list[i]
		lines = append(lines, fmt.Sprintf("%4d %s %s: %s", e.ID, e.Time.UTC().Format(clock), Name(e), e.Text))
	}
	return lines
}

// Status gives everything that is known now.
func (c *Controller) Status() api.Status {
	c.w.t.Helper()
	s, err := c.client.Status(c.w.t.Context())
	if err != nil {
		c.w.t.Fatal(err)
	}
	return s
}

// Command has an operator say something.
func (c *Controller) Command(cmd sites.Command) sites.Reply {
	c.w.t.Helper()
	c.w.note("an operator says: %s %s %s", cmd.Verb, cmd.Site, cmd.Node)
	r, err := c.client.Command(c.w.t.Context(), cmd)
	if err != nil {
		c.w.t.Fatal(err)
	}
	return r
}

// Acquainted waits until the controller has met all that the world has.
func (c *Controller) Acquainted() {
	c.w.t.Helper()
	Until(c.w.t, "everything is up", func() string { return c.Amiss() })
}

// Amiss says what is not as in quiet times, "" for nothing.
func (c *Controller) Amiss() string {
	s, err := c.client.Status(c.w.t.Context())
	if err != nil {
		return err.Error()
	}
	var faults []error
	for i := range s.Sites {
		if site := &s.Sites[i]; site.Condition != sites.SiteIsUp {
			faults = append(faults, errors.New(site.Explain))
		}
		for j := range s.Sites[i].Nodes {
			if n := &s.Sites[i].Nodes[j]; n.Word != sites.WordUp {
				faults = append(faults, errors.New(n.Explain))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err.Error()
	}
	return ""
}
