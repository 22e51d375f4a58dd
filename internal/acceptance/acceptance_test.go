// Package acceptance runs the program that is built as people run it.
package acceptance

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// patience bounds each wait for the program, on a machine that is busy too. How soon it
// ends after SIGTERM is held in virtual time, by internal/app.
const patience = 2 * time.Minute

// built is the folder of what was built, "" for nothing.
var built string

// build builds the program, once for all tests.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dnsteer-bin-")
	if err != nil {
		return "", err
	}
	built = dir
	program := filepath.Join(dir, "dnsteer")
	out, err := exec.Command("go", "build", "-o", program, "github.com/dnsteer/dnsteer/cmd/dnsteer").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// program is the program under way.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan error

	mu   sync.Mutex
	said bytes.Buffer
	more chan struct{}
}

// command makes a run of the program in a folder.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

func run(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, cmd: cmd, ended: make(chan error, 1), more: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p
	}
	cmd.Stderr = p
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			t.Logf("the program said:\n%s", p.said.String())
		}
	})
	return p
}

// Write takes what the program says.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.said.Write(b)
}

// await waits until the program has said something of a form, and gives its
// groups.
func (p *program) await(form string) []string {
	p.t.Helper()
	re, limit := regexp.MustCompile(form), time.After(patience)
	for {
		p.mu.Lock()
		found, more := re.FindStringSubmatch(p.said.String()), p.more
		p.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-more:
		case <-limit:
			p.t.Fatalf("the program does not say %q", form)
		}
	}
}

// stopped waits for the end of the program, which is a good one.
func (p *program) stopped() {
	p.t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Errorf("the end: %v", err)
		}
	case <-time.After(patience):
		p.t.Fatal("the program does not end in time")
	}
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// folder gives a temporary folder with a short path, for sockets.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dnsteer-acc-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// addresses asks a server for a name's addresses.
func addresses(t *testing.T, at string, host string) (list []string) {
	t.Helper()
	client := dns.Client{Timeout: patience}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(host+".", dns.TypeA), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range reply.Answer {
		if a, ok := rr.(*dns.A); ok {
			list = append(list, a.A.String())
		}
	}
	return list
}

// If this fails, the first command of the documentation does not work on a new
// machine.
func TestDemo(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			dir := folder(t)
			p := run(t, command(t, dir, "demo", "--dns", "127.0.0.1:0"))
			found := p.await(`dig @(\S+) -p (\d+) (\S+)`)
			if got := addresses(t, net.JoinHostPort(found[1], found[2]), found[3]); len(got) != 2 {
				t.Errorf("%s has the addresses %v, want both nodes of berlin", found[3], got)
			}
			socket := p.await(`status --socket (\S+)`)[1]
			if out, err := command(t, dir, "status", "--socket", socket).CombinedOutput(); err != nil || !strings.Contains(string(out), "berlin") {
				t.Errorf("the second command: %v\n%s", err, out)
			}
			p.await("until it is sent SIGINT or SIGTERM")
			p.signal(s)
			p.stopped()
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// If this fails, the example that everybody starts from does not run.
func TestServeTheExample(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir, port := folder(t), fmt.Sprint(daemontest.Port(t))
	// Its state lies beside the file; only the port may be in use on this machine.
	text := strings.ReplaceAll(string(example), ":5353", ":"+port)
	path := filepath.Join(dir, "dnsteer.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	p := run(t, command(t, dir, "serve", "--config", path))
	p.await("dnsteer serves")
	at := "127.0.0.1:" + port
	if got := strings.Join(addresses(t, at, "app.example.lan"), " "); !strings.Contains(got, "127.0.1.11") || !strings.Contains(got, "127.0.1.12") {
		t.Errorf("app.example.lan has the addresses %q", got)
	}
	ask := func(args ...string) string {
		t.Helper()
		out, err := command(t, dir, append(args, "--config", path)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ask("healthcheck")
	if out := ask("explain", "app.example.lan"); !strings.Contains(out, "berlin") {
		t.Errorf("explain says %q", out)
	}
	write(strings.ReplaceAll(text, "tv.example.lan", "video.example.lan"))
	ask("reload")
	if got := addresses(t, at, "video.example.lan"); len(got) == 0 {
		t.Error("a name that the reload has brought is not answered")
	}
	ask("maintenance", "berlin/a", "--reason", "test")
	if got := strings.Join(addresses(t, at, "app.example.lan"), " "); got != "127.0.1.12" {
		t.Errorf("a is in maintenance, and the addresses are %q", got)
	}
	p.signal(syscall.SIGTERM)
	p.stopped()
	p = run(t, command(t, dir, "serve", "--config", path))
	p.await("dnsteer serves")
	if got := strings.Join(addresses(t, at, "app.example.lan"), " "); got != "127.0.1.12" {
		t.Errorf("after a restart the addresses are %q", got)
	}
	p.signal(syscall.SIGTERM)
	p.stopped()
}
