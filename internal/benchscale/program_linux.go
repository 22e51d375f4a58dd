package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/benchproc"
)

// patience is how long the program is waited for.
const patience = 5 * time.Minute

// program is the controller at work.
type program struct {
	cmd   *exec.Cmd
	began time.Time
	log   string
}

func (w *world) start(ctx context.Context, path string) (*program, error) {
	p := &program{log: filepath.Join(w.dir, "output")}
	p.cmd = exec.CommandContext(ctx, path, "serve", "--config", w.config()) // #nosec G204 -- the user names the program
	p.began = time.Now()
	return p, benchproc.Start(p.cmd, p.log)
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
		return fmt.Errorf("%w: %s", err, benchproc.Said(p.log))
	}
	return nil
}

// cpu is the time that it has had a processor.
func (p *program) cpu() (time.Duration, error) { return benchproc.CPU(p.cmd.Process.Pid) }

// share gives how much of a processor a program takes for some time.
func (p *program) share(ctx context.Context, d time.Duration) (float64, error) {
	before := time.Now()
	used, err := p.cpu()
	if err != nil {
		return 0, err
	}
	if err := sleep(ctx, d); err != nil {
		return 0, err
	}
	after, err := p.cpu()
	return (after - used).Seconds() / time.Since(before).Seconds(), err
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
