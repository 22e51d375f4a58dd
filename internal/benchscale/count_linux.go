package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dnsteer/dnsteer/internal/plural"
)

// counted are the packages whose blocks are counted: ours, and those that look through
// lists for us.
const counted = "./...,slices,strings,maps"

// Where sites, nodes and names are doubled, what runs more often than this many times as
// often grows faster than they do; what runs seldom does not matter.
const (
	tooSteep = 2.6
	seldom   = 20_000
)

// block is a piece of the source that has no branch in it: "file:from,to".
type block string

// steep is a block whose runs grow too fast.
type steep struct {
	block
	small, large int64
}

// count has the program check a configuration and one of twice the sites, nodes and names
// (each target holds all names, so that there are as many in both), and
// names what runs more than twice as often in the last. It counts, so that another load
// of the machine makes no difference.
func count(ctx context.Context, s size, out io.Writer) error {
	dir, err := os.MkdirTemp("", "benchscale-count-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "dnsteer")
	build := exec.CommandContext(ctx, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+counted, "-o", program, "./cmd/dnsteer") // #nosec G204 -- a file of ours
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program that counts: %w: %s", err, text)
	}
	var runs []map[block]int64
	for _, times := range []int{1, 2} {
		s := size{nodes: s.nodes * times, sites: s.sites * times, names: s.names * times, targets: s.targets}
		r, err := checked(ctx, program, filepath.Join(dir, strconv.Itoa(times)), s)
		if err != nil {
			return fmt.Errorf("check %s: %w", plural.Of(s.sites, "site"), err)
		}
		runs = append(runs, r)
	}
	list := tooFast(runs[0], runs[1])
	for _, x := range list {
		fmt.Fprintf(out, "%s ran %d times, and %d times with twice as much\n", x.block, x.small, x.large)
	}
	if len(list) > 0 {
		return fmt.Errorf("a check grows faster than its configuration in %d places", len(list))
	}
	fmt.Fprintf(out, "A check of %s in %s with %s: nothing grows faster than its size.\n",
		plural.Of(2*s.nodes, "node"), plural.Of(2*s.sites, "site"), plural.Of(2*s.names, "name"))
	return nil
}

// checked counts what runs in the check of a world.
func checked(ctx context.Context, program, dir string, s size) (map[block]int64, error) {
	w := &world{size: s, dir: dir, nodePort: 80, dnsPort: 5353, httpPort: 9080, resolvers: 53}
	if err := w.write("60m"); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "counts")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	check := exec.CommandContext(ctx, program, "check", "--config", w.config()) // #nosec G204 -- it was built for this
	check.Env = append(os.Environ(), "GOCOVERDIR="+data)
	if text, err := check.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text[max(0, len(text)-600):])
	}
	list := filepath.Join(dir, "list")
	convert := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+data, "-o="+list) // #nosec G204 -- files of ours
	if text, err := convert.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("read what was counted: %w: %s", err, text)
	}
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return countsOf(f)
}

// countsOf reads lines such as "sites/site.go:10.2,12.3 2 17": a place, how many
// statements it has, and how often it ran. A place may have several lines.
func countsOf(r io.Reader) (map[block]int64, error) {
	runs := map[block]int64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 {
			continue // the mode
		}
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", lines.Text(), err)
		}
		runs[block(f[0])] += n
	}
	return runs, lines.Err()
}

// tooFast gives the blocks whose runs grow too fast, the worst first.
func tooFast(small, large map[block]int64) (list []steep) {
	for b, n := range large {
		if n > seldom && float64(n) > tooSteep*float64(small[b]) {
			list = append(list, steep{b, small[b], n})
		}
	}
	slices.SortFunc(list, func(a, b steep) int { return int(b.large - a.large) })
	return list
}
