package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// If this fails, the world that is measured is none that the program takes, or not of
// the size that the table says.
func TestWorld(t *testing.T) {
	s, err := parseSize("40x4", 80)
	if err != nil {
		t.Fatal(err)
	}
	s.targets = 2
	w, err := newWorld(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(w.config())
	if err != nil {
		t.Fatal(err)
	}
	nodes, hosts := 0, 0
	for i := range cfg.Sites.Sites {
		nodes += len(cfg.Sites.Sites[i].Nodes)
	}
	for i := range cfg.Sites.Services {
		hosts += len(cfg.Sites.Services[i].Hosts)
	}
	if nodes != 40 || len(cfg.Sites.Sites) != 4 || hosts != 80 || len(cfg.Targets) != 2 {
		t.Errorf("%d nodes, %d sites, %d names, %d targets", nodes, len(cfg.Sites.Sites), hosts, len(cfg.Targets))
	}
	if c, err := turns(w.config()); err != nil {
		t.Errorf("a result costs the rules %v, %v", c, err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

// If this fails, sizes that cannot be made are measured as others.
func TestSizesThatCannotBe(t *testing.T) {
	for _, text := range []string{"", "10", "10x3", "10x10", "x", "100x10x1", "1000000x10"} {
		if s, err := parseSize(text, 10_000); err == nil {
			t.Errorf("%q is %+v", text, s)
		}
	}
}

// If this fails, a node that is probed late counts as one that is not.
func TestLateness(t *testing.T) {
	const interval = 10 * time.Second
	l := newLateness(3, interval)
	now := time.Now()
	for i, after := range []time.Duration{0, interval - time.Second, 2*interval + time.Second} {
		l.seen(0, now.Add(after))
		if i == 0 {
			l.seen(1, now)
			l.seen(7, now) // nobody
		}
	}
	p99, most, overdue := l.worst(now.Add(3 * interval))
	if most != 2*time.Second || p99 != 0 || overdue != 2 {
		t.Errorf("p99 %v, most %v, overdue %d", p99, most, overdue)
	}
}

// If this fails, what grows faster than its configuration is not named, or what grows
// with it is.
func TestTooFast(t *testing.T) {
	small, err1 := countsOf(strings.NewReader("mode: atomic\na.go:1.2,3.4 2 10000\nb.go:1.2,3.4 1 9000\nb.go:1.2,3.4 1 1000\nc.go:5.1,6.2 1 100\n"))
	large, err2 := countsOf(strings.NewReader("mode: atomic\na.go:1.2,3.4 2 20500\nb.go:1.2,3.4 1 40000\nc.go:5.1,6.2 1 400\nd.go:1.1,2.2 1 30000\n"))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	want := []steep{{"b.go:1.2,3.4", 10000, 40000}, {"d.go:1.1,2.2", 0, 30000}}
	if got := tooFast(small, large); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := countsOf(strings.NewReader("a.go:1.2,3.4 2 many\n")); err == nil {
		t.Error("a count that is none was read")
	}
}
