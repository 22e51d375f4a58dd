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
	rounds := fs.Int("rounds", 6, "how many `rounds`")
	secs := fs.Duration("time", 2*time.Second, "how `long` each server is driven in a round")
	only := fs.String("servers", "", "`names` with commas; all that are installed unless given")
	modes := fs.String("modes", "free,pinned", "free: two workers, the kernel shares the processors out; pinned: one worker on the first processor, the load on the second")
	if err := fs.Parse(args); err != nil {
		return err
	}
	program, err := filepath.Abs(*ours)
	if err != nil {
		return err
	}
	list, names := installed(servers(program), *only, progress)
	if !slices.Contains(names, "dnsteer") {
		return fmt.Errorf("there is no %s: make build makes it", program)
	}
	b := &bench{time: *secs}
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
		default:
			return fmt.Errorf("mode %q: free or pinned", name)
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
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) && s.name != "dnsteer" {
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
func (b *bench) rounds(ctx context.Context, m mode, list []server, count int, progress io.Writer) ([]map[string]sample, error) {
	var out []map[string]sample
	for round := range count {
		samples := map[string]sample{}
		order := slices.Clone(list)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := b.measure(ctx, s, m)
			if err != nil {
				fmt.Fprintf(progress, "%s round %d: %s: %v\n", m.name, round+1, s.name, err)
				continue
			}
			fmt.Fprintf(progress, "%s round %d: %-8s %8.0f q/s %6.2f µs, %d lost\n", m.name, round+1, s.name, f.perSecond(), f.perAnswer(), f.lost)
			samples[s.name] = sample{f.perSecond(), f.perAnswer(), us(f.p50), us(f.p99), float64(f.memory) / (1 << 20)}
		}
		out = append(out, samples)
	}
	return out, nil
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
