package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == serveFlag {
		if err := serveSwapping(ctx, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "benchdns:", err)
			stop()
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchdns:", err)
		stop()
		os.Exit(1)
	}
}

// run measures as the arguments say. Tables go to out, progress to progress.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("benchdns", flag.ContinueOnError)
	ours := fs.String("ours", "bin/dnsteer", "our `program`")
	before := fs.String("before", "", "another build of our `program`, to be measured beside it")
	rounds := fs.Int("rounds", 40, "how many `rounds`")
	each := fs.Duration("time", 250*time.Millisecond, "how `long` each server is driven in a round")
	only := fs.String("servers", "", "`names` with commas; all that are installed unless given")
	modes := fs.String("modes", "free,pinned", "free: two workers, the kernel shares the processors out; pinned: one worker on the first processor, the load on the second; disturbed: ours alone, with and without what could disturb it (give -time 2s)")
	beside := fs.String("beside", "", "in the mode disturbed: `word` that the names of what disturbs hold, such as swaps; all unless given")
	if err := fs.Parse(args); err != nil {
		return err
	}
	program, err := filepath.Abs(*ours)
	if err != nil {
		return err
	}
	all := servers(program)
	if *before != "" {
		other := all[0]
		other.name = "before"
		if other.program, err = filepath.Abs(*before); err != nil {
			return err
		}
		all = append(all, other)
	}
	list, names := installed(all, *only, progress)
	if !slices.Contains(names, "dnsteer") {
		return fmt.Errorf("there is no %s: make build makes it", program)
	}
	b := &bench{time: *each, word: *beside}
	if b.list, err = makeQuestions(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "benchdns-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.probed, err = answerProbes(ctx); err != nil {
		return err
	}
	for name := range strings.SplitSeq(*modes, ",") {
		var m mode
		switch name {
		case "free":
			m = mode{name, 2, false}
		case "pinned":
			m = mode{name, 1, true}
		case "disturbed":
			if err := b.disturbed(ctx, list[0], *rounds, out, progress); err != nil {
				return err
			}
			continue
		default:
			return fmt.Errorf("mode %q: free, pinned or disturbed", name)
		}
		if m.pinned && runtime.NumCPU() < 2 {
			return errors.New("pinned: it takes two processors")
		}
		samples, err := b.rounds(ctx, m, list, *rounds, progress)
		if err != nil {
			return err
		}
		if err := report(out, name, "dnsteer", names, samples); err != nil {
			return err
		}
	}
	return nil
}

// installed leaves out the servers that are not asked for or not here.
func installed(all []server, only string, progress io.Writer) (list []server, names []string) {
	for _, s := range all {
		if only != "" && !slices.Contains(append(strings.Split(only, ","), "dnsteer", "before"), s.name) {
			continue
		}
		path, err := exec.LookPath(s.program)
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
			if err != nil {
				path, err = exec.LookPath(filepath.Join(dir, s.program))
			}
		}
		if err != nil {
			fmt.Fprintf(progress, "%s is not installed and is left out\n", s.name)
			continue
		}
		s.program = path
		list, names = append(list, s), append(names, s.name)
	}
	return list, names
}

// rounds measures every server once a round, in turns forwards and backwards.
func (b *bench) rounds(ctx context.Context, m mode, list []server, count int, progress io.Writer) (out []map[string]sample, err error) {
	var all []*running
	defer func() {
		for _, r := range all {
			err = errors.Join(err, end(r))
		}
	}()
	for _, s := range list {
		r, err := b.begin(ctx, s, m)
		if err != nil {
			fmt.Fprintf(progress, "%s: %s is left out: %v\n", m.name, s.name, err)
			continue
		}
		all = append(all, r)
	}
	for range count {
		samples := map[string]sample{}
		for _, r := range all {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := b.measure(r, m)
			if err != nil {
				fmt.Fprintf(progress, "%s: %s is left out of a round: %v\n", m.name, r.name, err)
				continue
			}
			samples[r.name] = sample{f.perSecond(), f.perAnswer(), us(f.p50), us(f.p99), float64(f.memory) / (1 << 20)}
		}
		slices.Reverse(all)
		out = append(out, samples)
	}
	return out, nil
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
