//go:build unix

package probes

import (
	"bufio"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

func startAcceptor(b *testing.B) (port int) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), acceptorEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	if port, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		b.Fatal(err)
	}
	return port
}

// load is the schedule and the runner at work on many nodes in real time.
type load struct {
	schedule  *Schedule
	runner    *Runner
	now       func() time.Duration
	probers   []Prober
	done      chan Run
	runs      atomic.Int64
	bad       sync.Map // texts of what was not up
	badRuns   atomic.Int64
	latestRes atomic.Int64 // longest from due to result, in ns
}

func newLoad(n int, interval time.Duration, probers []Prober) *load {
	l := &load{schedule: NewSchedule(1), probers: probers, done: make(chan Run, 1024)}
	start := time.Now()
	l.now = func() time.Duration { return time.Since(start) }
	ts := make([]Task, n)
	for i := range ts {
		ts[i] = Task{Interval: interval, Timeout: 2 * time.Second, Subject: sites.Subject{
			Site: "s", Node: strconv.Itoa(i), Addr: netip.AddrFrom4([4]byte{127, 1, byte(i >> 8), byte(i)}),
		}}
	}
	l.schedule.Set(ts, 0)
	l.runner = NewRunner(RunnerConfig{Now: l.now, Limit: Limit(ts), Log: slog.Default(), Deliver: l.deliver})
	return l
}

func (l *load) deliver(r Run, res sites.Result) {
	l.runs.Add(1)
	if c := res.Checks[0]; c.Outcome != sites.Up && c.Cause != string(CauseCancelled) { // by the end
		l.bad.Store(res.Checks[0].Text, res.Checks[0].Cause)
		l.badRuns.Add(1)
	}
	for late := int64(res.Finish - r.Start); ; {
		most := l.latestRes.Load()
		if late <= most || l.latestRes.CompareAndSwap(most, late) {
			break
		}
	}
	l.done <- r
}

// run keeps the schedule for a time and gives the greatest lateness of a start.
func (l *load) run(d time.Duration) (latestStart time.Duration) {
	end := time.After(d)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-end:
			return latestStart
		case r := <-l.done:
			l.schedule.Done(r)
		case <-timer.C:
			due, _ := l.schedule.Next()
			now := l.now()
			if now >= due {
				latestStart = max(latestStart, now-due)
			}
			for _, r := range l.schedule.Due(now) {
				l.runner.Start(r, l.probers)
			}
			next, _ := l.schedule.Next()
			timer.Reset(next - l.now())
		}
	}
}

func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTCPNodes reports what probing nodes on loopback every 10 s costs:
// the share of one core, memory, and how late starts and results were. It runs
// for BENCH_SECONDS (10 if unset), whatever -benchtime says.
func BenchmarkTCPNodes(b *testing.B) {
	benchmarkNodes(b, func(port int) Prober { return TCP{Port: port} })
}

// BenchmarkICMPNodes does the same by ICMP. With BENCH_BLACK_HOLE it does not
// mind that nothing answers, as in a namespace of its own with the sysctl
// net.ipv4.icmp_echo_ignore_all.
func BenchmarkICMPNodes(b *testing.B) { benchmarkNodes(b, func(int) Prober { return ICMP{} }) }

func benchmarkNodes(b *testing.B, prober func(port int) Prober) {
	b.Helper()
	seconds, err := strconv.Atoi(os.Getenv("BENCH_SECONDS"))
	if err != nil {
		seconds = 10
	}
	for _, n := range []int{1000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			l := newLoad(n, 10*time.Second, []Prober{prober(startAcceptor(b))})
			b.ResetTimer()
			before, start := cpu(), time.Now()
			latest := l.run(time.Duration(seconds) * time.Second)
			used, took := cpu()-before, time.Since(start)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			go func() {
				for range l.done {
				}
			}()
			l.runner.Close()
			close(l.done)
			l.bad.Range(func(text, cause any) bool {
				if os.Getenv("BENCH_BLACK_HOLE") == "" {
					b.Errorf("not up: %v (%v)", text, cause)
				}
				return true
			})
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(100*used.Seconds()/took.Seconds(), "%core")
			b.ReportMetric(float64(used.Microseconds())/float64(l.runs.Load()), "µs/probe")
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB")
			b.ReportMetric(float64(l.runs.Load()), "probes")
			b.ReportMetric(float64(l.badRuns.Load()), "bad")
			b.ReportMetric(float64(latest.Microseconds())/1000, "ms-start-late")
			b.ReportMetric(float64(l.latestRes.Load())/1e6, "ms-result-late")
		})
	}
}
