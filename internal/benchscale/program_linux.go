package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// patience is how long the program is waited for.
const patience = 60 * time.Second

// program is the controller at work.
type program struct {
	cmd   *exec.Cmd
	began time.Time
	log   string
}

func (w *world) start(ctx context.Context, path string) (*program, error) {
	p := &program{log: filepath.Join(w.dir, "output")}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.CommandContext(ctx, path, "serve", "--config", w.config()) // #nosec G204 -- the user names the program
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.began = time.Now()
	return p, p.cmd.Start()
}

// stop ends the program, by SIGTERM or, where kill is set, at once.
func (p *program) stop(kill bool) error {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	if err := p.cmd.Process.Signal(sig); err != nil {
		return err
	}
	err := p.cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && kill {
		return nil
	}
	if err != nil {
		out, _ := os.ReadFile(p.log) // as much as there is
		return fmt.Errorf("%w: %s", err, out[max(0, len(out)-600):])
	}
	return nil
}

// cpu is the time that it has had a processor, in the kernel or not.
func (p *program) cpu() (time.Duration, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		return 0, errors.New("read the processor time: it has ended, or the kernel has no schedstat")
	}
	var sum time.Duration
	for _, path := range tasks {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		first, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", path, err)
		}
		sum += time.Duration(n)
	}
	return sum, nil
}

// memory is what it holds, in octets: now, and at most until now.
func (p *program) memory() (now, most int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		switch {
		case err != nil:
		case f[0] == "VmRSS:":
			now = n << 10
		case f[0] == "VmHWM:":
			most = n << 10
		}
	}
	return now, most, nil
}

// asker asks the program for an address of a name, again and again.
type asker struct {
	conn net.Conn
	buf  []byte
	id   uint16 // of the questions for one name: late answers to others do not count
}

func (w *world) asker() (*asker, error) {
	conn, err := net.Dial("udp4", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), w.dnsPort).String()) //nolint:noctx // nothing is waited for
	if err != nil {
		return nil, err
	}
	return &asker{conn: conn, buf: make([]byte, 1500)}, nil
}

// until asks until the answer has an address, or has it no more.
func (a *asker) until(ctx context.Context, name string, addr netip.Addr, has bool) error {
	a.id++
	q := new(dns.Msg).SetQuestion(name+".", dns.TypeA)
	q.Id = a.id
	query, err := q.Pack()
	if err != nil {
		return err
	}
	for limit := time.Now().Add(patience); ; {
		if now := time.Now(); now.After(limit) || ctx.Err() != nil {
			return fmt.Errorf("the answer for %s does not come to be as it should", name)
		}
		_, _ = a.conn.Write(query) // nobody may listen yet
		if err := a.conn.SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
			return err
		}
		n, err := a.conn.Read(a.buf)
		if err != nil {
			time.Sleep(time.Millisecond / 2)
			continue
		}
		if n > 12 && binary.BigEndian.Uint16(a.buf) == a.id && a.buf[7] > 0 && bytes.Contains(a.buf[:n], addr.AsSlice()) == has {
			return nil
		}
	}
}
