package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchscale:", err)
		stop()
		os.Exit(1)
	}
}

// run measures as the arguments say. Tables go to out, progress to progress.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("benchscale", flag.ContinueOnError)
	ours := fs.String("ours", "bin/dnsteer", "the `program`")
	list := fs.String("sizes", "100x10,1000x100,10000x10,10000x100,10000x1000", "`nodes x sites`, with commas")
	names := fs.Int("names", 10_000, "how many `names` are served, at any size")
	targets := fs.Int("targets", 0, "how many sites have a target (that refuses, and is asked again)")
	counting := fs.Bool("count", false, "count what a check runs, at a size and at twice that, and name what grows faster")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *counting {
		return count(ctx, size{nodes: 400, sites: 100, names: 400, targets: 5}, out)
	}
	program, err := filepath.Abs(*ours)
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w: make build makes it", err)
	}
	var all []figures
	for text := range strings.SplitSeq(*list, ",") {
		s, err := parseSize(text, *names)
		if err != nil {
			return err
		}
		s.targets = min(*targets, s.sites)
		begun := time.Now()
		f, err := measure(ctx, program, s)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		fmt.Fprintf(progress, "%s: measured in %s\n", text, time.Since(begun).Round(time.Second))
		all = append(all, f)
	}
	return report(out, all)
}

// size is how much there is to steer.
type size struct{ nodes, sites, names, targets int }

func parseSize(text string, names int) (s size, err error) {
	n, m, _ := strings.Cut(text, "x")
	nodes, err1 := strconv.Atoi(n)
	sites, err2 := strconv.Atoi(m)
	s = size{nodes: nodes, sites: sites, names: names}
	if err := errors.Join(err1, err2); err != nil {
		return s, fmt.Errorf("size %q is not like 1000x10: %w", text, err)
	}
	if sites < 1 || nodes%sites != 0 || nodes/sites < 2 || nodes > 60_000 || names < nodes {
		return s, fmt.Errorf("size %q: the sites must have the same number of nodes, two at least, 60,000 together at most, and there must be a name for each node", text)
	}
	return s, nil
}

// interval is how often each node is probed. Small worlds are measured at a faster
// pace, which takes less time and has no part in what is reported.
func (s size) interval() time.Duration {
	if s.nodes > 1000 {
		return 10 * time.Second
	}
	return 2 * time.Second
}
