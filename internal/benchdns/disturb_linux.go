package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how many questions a second are asked while delays are measured: they
// come whether or not the last ones have been answered.
const pace = 20_000

// What happens beside the questions.
const (
	swapsApart   = 10 * time.Millisecond
	reloadsApart = time.Second
	idle         = 5000 // TCP connections
	floodTimes   = 3    // as many as the server answers
)

// calmly begins the names of rows without a disturbance.
const calmly = "nothing"

// disturbance is something that goes on while a server is measured.
type disturbance struct {
	name   string
	swaps  bool // of the server that swaps by itself, else of the program
	signed bool // of the program with a signed zone
	begin  func(ctx context.Context, r *running, calm float64) (end func() error, err error)
}

func disturbances() []disturbance {
	nothing := func(context.Context, *running, float64) (func() error, error) {
		return func() error { return nil }, nil
	}
	return []disturbance{
		{calmly, false, false, nothing},
		{"a reload every second", false, false, reloads},
		{"5,000 idle TCP connections", false, false, connections},
		{"a flood of three times the capacity", false, false, flood},
		{calmly + ", where answers can be swapped", true, false, nothing},
		{"100 swaps a second", true, false, swaps},
		{calmly + ", zone signed", false, true, nothing},
		{"a flood of made-up names with DO", false, true, madeUp},
	}
}

// disturbed measures our program with and without disturbances, in rounds.
func (b *bench) disturbed(ctx context.Context, ours server, count int, out, progress io.Writer) (err error) {
	m := mode{"disturbed", max(2, runtime.NumCPU()), false}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	swapping := server{"swapping", self, func(place) map[string]string { return nil }, func(p place) []string {
		return []string{serveFlag, fmt.Sprintf("127.0.0.1:%d", p.port)}
	}}
	signed := ours
	signed.name, signed.files = "signed", signedFiles
	var all []*running
	defer func() {
		for _, r := range all {
			err = errors.Join(err, end(r))
		}
	}()
	for _, s := range []server{ours, swapping, signed} {
		r, err := b.begin(ctx, s, m)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, r)
	}
	list := chosen(disturbances(), b.word)
	if len(list) == 0 {
		return fmt.Errorf("nothing that disturbs is called %q", b.word)
	}
	var rounds []map[string]disturbedSample
	for n := range count {
		samples := map[string]disturbedSample{}
		order := slices.Clone(list)
		if n%2 == 1 { // what is compared stays together, and each comes first at times
			slices.Reverse(order)
		}
		for _, d := range order {
			r := all[0]
			switch {
			case d.swaps:
				r = all[1]
			case d.signed:
				r = all[2]
			}
			s, err := b.beside(ctx, r, m, d)
			if err != nil {
				fmt.Fprintf(progress, "%s is left out of a round: %v\n", d.name, err)
				continue
			}
			samples[d.name] = s
		}
		rounds = append(rounds, samples)
	}
	return reportDisturbed(out, list, rounds)
}

// chosen gives the disturbances whose names hold a word, each behind the calm that it
// is compared with.
func chosen(list []disturbance, word string) (out []disturbance) {
	var calm disturbance
	for _, d := range list {
		switch {
		case strings.HasPrefix(d.name, calmly):
			calm = d
		case strings.Contains(d.name, word):
			if !slices.ContainsFunc(out, func(o disturbance) bool { return o.name == calm.name }) {
				out = append(out, calm)
			}
			out = append(out, d)
		}
	}
	return out
}

// beside measures a server while something else happens: how much it answers, and
// how soon when it is asked at a pace.
func (b *bench) beside(ctx context.Context, r *running, m mode, d disturbance) (s disturbedSample, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	calm, err := b.drive(r.place, m, b.time/4, 0) // what it can, just before
	if err != nil {
		return s, err
	}
	finish, err := d.begin(ctx, r, float64(calm.answered)/calm.elapsed.Seconds())
	if err != nil {
		return s, err
	}
	defer func() {
		stop()
		err = errors.Join(err, finish())
	}()
	full, err := b.drive(r.place, m, b.time, 0)
	if err != nil {
		return s, err
	}
	paced, err := b.drive(r.place, m, b.time, pace)
	if err != nil {
		return s, err
	}
	if n := full.wrong + paced.wrong; n > 0 {
		return s, fmt.Errorf("%d answers are not what the zone says", n)
	}
	asked := max(1, paced.answered+paced.lost)
	return disturbedSample{
		perSecond: float64(full.answered) / full.elapsed.Seconds(), p50: us(paced.p50), p99: us(paced.p99),
		lost: 100 * float64(paced.lost) / float64(asked),
	}, nil
}

// every does something at intervals until ctx ends.
func every(ctx context.Context, interval time.Duration, do func(n int) error) (end func() error) {
	done := make(chan error, 1)
	go func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				done <- nil
				return
			case <-t.C:
			}
			if err := do(n); err != nil {
				done <- err
				return
			}
		}
	}()
	return func() error { return <-done }
}

// reloads changes a line of the configuration each time.
func reloads(ctx context.Context, r *running, _ float64) (func() error, error) {
	path := filepath.Join(r.dir, "dnsteer.yaml")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return every(ctx, reloadsApart, func(n int) error {
		text := strings.Replace(string(b), "ttl: 30s", fmt.Sprintf("ttl: %ds", 31+n%2), 1)
		return errors.Join(os.WriteFile(path, []byte(text), 0o644), syscall.Kill(r.cmd.Process.Pid, syscall.SIGHUP))
	}), nil
}

// connections opens TCP connections, of many addresses, and says nothing on them.
func connections(ctx context.Context, r *running, _ float64) (func() error, error) {
	var open []net.Conn
	finish := func() error {
		for _, c := range open {
			_ = c.Close() // most are closed by the other side
		}
		return nil
	}
	for n := range idle {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 3, byte(n%200), byte(1+n/200%8))}}
		c, err := d.DialContext(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", r.port))
		if err != nil {
			return nil, errors.Join(err, finish())
		}
		open = append(open, c)
	}
	return finish, nil
}

// swaps tells the server to swap answers; once more ends it.
func swaps(_ context.Context, r *running, _ float64) (func() error, error) {
	toggle := func() error { return syscall.Kill(r.cmd.Process.Pid, syscall.SIGUSR1) }
	return toggle, toggle()
}

// flood asks the questions of the load, and reads no answer.
func flood(ctx context.Context, r *running, calm float64) (func() error, error) {
	list, err := makeQuestions()
	if err != nil {
		return nil, err
	}
	return pour(ctx, r.port, floodTimes*calm, func(n int) []byte { return list[n%len(list)].wire })
}

// madeUp asks for names that nobody asked for before, with proof.
func madeUp(ctx context.Context, r *running, calm float64) (func() error, error) {
	wire, at, err := madeUpQuestion()
	if err != nil {
		return nil, err
	}
	return pour(ctx, r.port, calm/4, func(n int) []byte {
		for i := range 8 {
			wire[at+i] = 'a' + byte(n>>(4*i)&0xf)
		}
		return wire
	})
}

// pour sends questions at a rate until ctx ends.
func pour(ctx context.Context, port uint16, rate float64, next func(n int) []byte) (func() error, error) {
	var socks []int
	for range flows {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			socks = append(socks, fd)
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})
		}
		if err != nil {
			return nil, fmt.Errorf("open a socket for the flood: %w", err)
		}
	}
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread() // ends with the goroutine
		start, sent := time.Now(), 0
		for ctx.Err() == nil {
			for due := int(rate * time.Since(start).Seconds()); sent < due && ctx.Err() == nil; sent++ {
				_, _ = unix.Write(socks[sent/8%len(socks)], next(sent)) // what does not fit is lost, as in any flood
			}
			time.Sleep(200 * time.Microsecond)
		}
	})
	return func() error {
		done.Wait()
		for _, fd := range socks {
			_ = unix.Close(fd) // nothing could be done about it
		}
		return nil
	}, nil
}
