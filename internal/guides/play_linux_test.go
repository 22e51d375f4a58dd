package guides

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// patience is how long an output of a guide may take to come: the threshold, and
// what a loaded machine needs.
var patience = flag.Duration("patience", 3*time.Minute, "how long an output of a guide may take to come")

// built is the folder of what was built, "" for nothing.
var built string

// build builds the program, once for all tests.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dnsteer-bin-")
	if err != nil {
		return "", err
	}
	built = dir
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "dnsteer"), "github.com/dnsteer/dnsteer/cmd/dnsteer").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	// All guides at a time: they wait, most of the time.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// reader follows a guide.
type reader struct {
	*world
	page string
	dir  string // stands for / of the controller's machine
	path string // PATH
	// back turns what is here into what the guide shows.
	back *strings.Replacer
	// plays are the words of the story that a guide has beside the usual ones.
	plays map[string]func(args []string)
	// off switches the controller off.
	off func()
	log bytes.Buffer
	mu  sync.Mutex
}

// follow plays a guide in a world.
func follow(w *world, page string, plays map[string]func(r *reader, args []string)) {
	w.t.Helper()
	bin, err := build()
	if err != nil {
		w.t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "g-") // short, for the path of a socket
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &reader{world: w, page: page, dir: dir, plays: map[string]func([]string){
		"stop":  func(a []string) { w.set(a[0], false) },
		"start": func(a []string) { w.set(a[0], true) },
		"cut":   func(a []string) { w.cut(a[0]) },
		"heal":  func([]string) { w.heal() },
	}}
	r.plays["off"] = func([]string) { r.off() }
	for name, f := range plays {
		r.plays[name] = func(args []string) { f(r, args) }
	}
	var back []string
	for _, router := range w.router {
		back = append(back, fmt.Sprintf("%x", router.Fingerprint()), zeros)
	}
	r.back = strings.NewReplacer(back...)
	r.furnish()
	r.path = "PATH=" + bin + ":" + os.Getenv("PATH") + ":/usr/sbin:/sbin"
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("dnsteer said:\n%s", r.said())
		}
	})
	steps := guide(w.t, page)
	for i := range steps {
		r.take(&steps[i])
	}
}

// zeros is how the guides write the fingerprint that a reader has another of.
var zeros = strings.Repeat("0", 64)

func (r *reader) take(s *step) {
	r.t.Helper()
	switch {
	case s.play != nil:
		f, ok := r.plays[s.play[0]]
		if !ok {
			r.t.Fatalf("%s:%d: nobody can play %q", r.page, s.line, s.play[0])
		}
		f(s.play[1:])
	case s.file == "router":
		r.console(s)
	case s.file != "":
		r.write(s.file, s.text)
	case strings.HasPrefix(s.command, "dnsteer serve"):
		r.serve(s)
	default:
		r.ask(s)
	}
}

// write writes a file of the guide.
func (r *reader) write(name, text string) {
	r.t.Helper()
	path := r.dir + name
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if _, router, pinned := strings.Cut(line, " # router "); pinned {
			lines[i] = strings.ReplaceAll(line, zeros, fmt.Sprintf("%x", r.router[router].Fingerprint()))
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// furnish makes the /etc and the /var/lib of the machines: the first has what is
// in this machine's, as links to where that is mounted.
func (r *reader) furnish() {
	r.t.Helper()
	for _, name := range []string{"etc", "host", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(r.dir, name), 0o755); err != nil {
			r.t.Fatal(err)
		}
	}
	entries, err := os.ReadDir("/etc")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "dnsteer", "nsd", "knot", "keepalived":
		default:
			if err := os.Symlink(filepath.Join(r.dir, "host", e.Name()), filepath.Join(r.dir, "etc", e.Name())); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// furnished runs a program in the mount namespace that "ip netns exec" has made
// for it.
const furnished = `mount --bind /etc "$0/host" && mount --bind "$0/etc" /etc && mount --bind "$0/var/lib" /var/lib && exec "$@"`

// at makes a command in a namespace.
func (r *reader) at(ns netnstest.Namespace, args ...string) *exec.Cmd {
	cmd := ns.Command(context.Background(), "sh", append([]string{"-c", furnished, r.dir}, args...)...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), r.path)
	return cmd
}

// Write takes what the controller says.
func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(b)
}

func (r *reader) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// serve starts the controller, which serves from then on until the test ends.
func (r *reader) serve(s *step) {
	r.t.Helper()
	before := strings.Count(r.said(), "dnsteer serves")
	cmd := r.at(r.here, strings.Fields(s.command)...)
	cmd.Stdout, cmd.Stderr = r, r
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	r.off = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case err := <-ended:
			if err != nil {
				r.t.Errorf("%s ends: %v", s.command, err)
			}
		case <-time.After(*patience):
			_ = cmd.Process.Kill()
			r.t.Errorf("%s does not end", s.command)
		}
	})
	r.t.Cleanup(r.off)
	r.until(func() string {
		if strings.Count(r.said(), "dnsteer serves") > before {
			return ""
		}
		return fmt.Sprintf("%s:%d: %s does not serve:\n%s", r.page, s.line, s.command, r.said())
	})
	r.acquainted()
}

// acquainted waits until the controller has met the nodes, as it has long since
// when something happens to people's. What does not answer yet is not waited for
// longer.
func (r *reader) acquainted() {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); <-tick.C {
		out, err := r.at(r.here, "dnsteer", "status", "-o", "json").CombinedOutput()
		if err == nil && !strings.Contains(string(out), " is new and ") {
			return
		}
	}
}

// looks says whether a command changes nothing, and is repeated until it prints
// what the guide shows.
func looks(command string) bool {
	for _, prefix := range []string{
		"dig ", "dnsteer explain", "dnsteer events", "dnsteer status", "dnsteer check", "dnsteer plan",
		"dnsteer target list", "dnsteer target show", "dnsteer target pin", "dnsteer healthcheck", "dnsteer alert list", "dnsteer rehearse", "dnsteer probe",
	} {
		if strings.HasPrefix(command, prefix) {
			return true
		}
	}
	return false
}

// ask runs a command of the guide.
func (r *reader) ask(s *step) {
	r.t.Helper()
	ns := r.here
	if s.place != "" && s.place != "world" { // whose way leads past the site
		ns = r.there
	}
	// A command that fails says so in its last line.
	fails := len(s.output) > 0 && strings.HasPrefix(s.output[len(s.output)-1], "dnsteer: ")
	want := form(s.output)
	r.until(func() string {
		out, err := r.at(ns, "sh", "-c", s.command).CombinedOutput()
		got := r.back.Replace(string(out))
		if (err != nil) == fails && want.MatchString(flat(strings.Split(got, "\n"))) {
			r.t.Logf("%s$ %s\n%s", s.place, s.command, got)
			return ""
		}
		fault := fmt.Sprintf("%s:%d: %s\nprints (%v)\n%s\nand not what the guide shows:\n%s", r.page, s.line, s.command, cmp.Or(err, errNone), got, strings.Join(s.output, "\n"))
		if !looks(s.command) {
			r.t.Error(fault)
			return ""
		}
		return fault
	})
}

var errNone = errors.New("exit code 0")

// until waits until there is no fault any more.
func (r *reader) until(fault func() string) {
	r.t.Helper()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(*patience)
	for {
		f := fault()
		if f == "" {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			r.t.Error(f)
			return
		}
	}
}
