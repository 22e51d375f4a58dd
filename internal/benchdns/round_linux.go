package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/internal/benchproc"
)

// How long a server may take to answer after its start, and to end.
const (
	startTimeout = 20 * time.Second
	endTimeout   = 5 * time.Second
)

// figures are those of one server in one round.
type figures struct {
	measured
	cpu    time.Duration // of all answers
	memory int64         // octets
}

func (f figures) perSecond() float64 { return float64(f.answered) / f.elapsed.Seconds() }

// perAnswer is the processor time of one answer in microseconds.
func (f figures) perAnswer() float64 {
	return f.cpu.Seconds() * 1e6 / float64(max(1, f.answered))
}

// mode is how the processors are shared.
type mode struct {
	name    string
	workers int
	pinned  bool // the server on the first processor, the load on the second
}

// bench measures servers.
type bench struct {
	dir    string
	list   []question
	time   time.Duration
	probed uint16
	word   string // in the names of what disturbs; all for none
}

// running is a server that has been started.
type running struct {
	server
	place
	cmd  *exec.Cmd
	pids []int
}

// begin starts a server and waits until it answers and is warm.
func (b *bench) begin(ctx context.Context, s server, m mode) (*running, error) {
	dir, err := os.MkdirTemp(b.dir, s.name+"-")
	if err != nil {
		return nil, err
	}
	r := &running{server: s, place: place{dir: dir, workers: m.workers, probed: b.probed}}
	if r.port, err = benchproc.FreePort(ctx, "127.0.0.1"); err != nil {
		return nil, err
	}
	if err := writeFiles(dir, s.files(r.place)); err != nil {
		return nil, err
	}
	if r.cmd, err = start(s, r.place, m); err != nil {
		return nil, err
	}
	if err := b.ready(ctx, r.place); err != nil {
		return nil, errors.Join(err, end(r))
	}
	r.pids = benchproc.Family(r.cmd.Process.Pid)
	if _, err := b.measure(r, m); err != nil { // warms it up
		return nil, errors.Join(err, end(r))
	}
	return r, nil
}

// measure drives a server once. The others that run have nothing to do meanwhile.
func (b *bench) measure(r *running, m mode) (f figures, err error) {
	before, err := benchproc.CPU(r.pids...)
	if err != nil {
		return f, err
	}
	if f.measured, err = b.drive(r.place, m, b.time, 0); err != nil {
		return f, err
	}
	after, err := benchproc.CPU(r.pids...)
	if err != nil {
		return f, err
	}
	f.cpu, f.memory = after-before, benchproc.Shared(r.pids...)
	switch {
	case f.wrong > 0:
		err = fmt.Errorf("%d of %d answers are not what the zone says", f.wrong, f.answered)
	case f.answered == 0:
		err = errors.New("nothing was answered")
	case f.cpu <= 0:
		err = errors.New("a part of it has ended")
	}
	return f, err
}

// drive asks for a time, at a rate a second or, for 0, as fast as is answered.
func (b *bench) drive(p place, m mode, d time.Duration, rate float64) (measured, error) {
	l, err := newLoad(p.port, b.list, m.pinned, rate)
	if err != nil {
		return measured{}, err
	}
	defer l.close()
	type result struct {
		measured
		err error
	}
	done := make(chan result)
	go func() {
		// The thread ends with the goroutine, and its place with it.
		runtime.LockOSThread()
		if m.pinned {
			only := unix.CPUSet{}
			only.Set(1)
			if err := unix.SchedSetaffinity(0, &only); err != nil {
				done <- result{err: fmt.Errorf("pin the load to a processor: %w", err)}
				return
			}
		}
		got, err := l.run(d)
		done <- result{got, err}
	}()
	r := <-done
	return r.measured, r.err
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// start runs a server's program in a process group of its own.
func start(s server, p place, m mode) (*exec.Cmd, error) {
	args := append([]string{s.program}, s.args(p)...)
	if m.pinned {
		args = append([]string{"taskset", "-c", "0"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // whose run is measured; end ends it
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", p.workers))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, benchproc.Start(cmd, filepath.Join(p.dir, "output"))
}

// end ends a server and its children, by force where it has to.
func end(r *running) error {
	pids := benchproc.Family(r.cmd.Process.Pid)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM) // may have ended
	}
	done := make(chan struct{})
	go func() {
		_ = r.cmd.Wait() // ended by a signal
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(endTimeout):
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // likewise
		}
		<-done
	}
	return os.RemoveAll(r.dir)
}

// ready waits until a server answers a record and a steered name.
func (b *bench) ready(ctx context.Context, p place) error {
	ctx, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.port).String()
	for _, name := range []string{"s0.", "f0."} {
		q := new(dns.Msg)
		q.SetQuestion(name+zoneName+".", dns.TypeA)
		for {
			c := dns.Client{Timeout: 300 * time.Millisecond}
			in, _, err := c.ExchangeContext(ctx, q, at)
			if err == nil && len(in.Answer) > 0 {
				break
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("it does not answer for %s%s: %s", name, zoneName, benchproc.Said(filepath.Join(p.dir, "output")))
			}
		}
	}
	return nil
}

// answerProbes accepts connections until ctx ends and gives the port.
func answerProbes(ctx context.Context) (uint16, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	a, err := netip.ParseAddrPort(l.Addr().String())
	return a.Port(), err
}
