package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The load: this many sockets with this many questions under way on each.
const (
	flows  = 24
	window = 8
	paced  = 2 // questions at once on a socket where there is a rate
)

// lostAfter is when a question is given up.
const lostAfter = time.Second

// packet is the system's struct mmsghdr.
type packet struct {
	hdr unix.Msghdr
	n   uint32
}

// flow is one socket. The low bits of a question's ID are its slot.
type flow struct {
	fd        int
	idle      []int // slots without a question
	ids       [window]uint16
	asked     [window]*question
	at        [window]time.Time
	in, out   [window]packet
	inv, outv [window]unix.Iovec
	inb       [window][1500]byte
	outb      [window][512]byte
}

// load asks questions as fast as they are answered.
type load struct {
	flows []*flow
	polls []unix.PollFd
	list  []question
	next  int
	spin  bool // never sleep: the generator has a processor of its own
	// rate is how many questions are asked a second, due at their times whether or
	// not the last ones have been answered; 0 for as many as are answered.
	rate  float64
	start time.Time
	asked int

	answered, lost, wrong int
	delays                []time.Duration // of some; at a rate, of all
}

// measured is what came of a load.
type measured struct {
	answered, lost, wrong int
	elapsed               time.Duration
	p50, p99              time.Duration
}

func newLoad(port uint16, list []question, spin bool, rate float64) (*load, error) {
	l := &load{list: list, spin: spin, rate: rate}
	for range flows {
		f, err := newFlow(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
		if err != nil {
			l.close()
			return nil, err
		}
		l.flows = append(l.flows, f)
		l.polls = append(l.polls, unix.PollFd{Fd: int32(f.fd), Events: unix.POLLIN})
	}
	return l, nil
}

func newFlow(to netip.AddrPort) (*flow, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a socket: %w", err)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}); err != nil {
		_ = unix.Close(fd) // the first error is the one to tell
		return nil, fmt.Errorf("connect a socket to %s: %w", to, err)
	}
	f := &flow{fd: fd}
	for i := range window {
		f.idle = append(f.idle, i)
		f.inv[i].Base, f.outv[i].Base = &f.inb[i][0], &f.outb[i][0]
		f.inv[i].SetLen(len(f.inb[i]))
		f.in[i].hdr.Iov, f.out[i].hdr.Iov = &f.inv[i], &f.outv[i]
		f.in[i].hdr.SetIovlen(1)
		f.out[i].hdr.SetIovlen(1)
	}
	return f, nil
}

func (l *load) close() {
	for _, f := range l.flows {
		_ = unix.Close(f.fd) // nothing could be done about it
	}
}

// run drives the server for a time. It wants a thread of its own.
func (l *load) run(d time.Duration) (measured, error) {
	start := time.Now()
	sweep := start
	l.start = start
	for {
		now := time.Now()
		if now.Sub(start) >= d {
			break
		}
		moved := 0
		for _, f := range l.flows {
			got, err := l.receive(f)
			if err != nil {
				return measured{}, err
			}
			sent, err := l.ask(f)
			if err != nil {
				return measured{}, err
			}
			moved += got + sent
		}
		if moved == 0 && !l.spin {
			timeout := 20
			if l.rate > 0 {
				timeout = 1
			}
			if _, err := unix.Poll(l.polls, timeout); err != nil && err != unix.EINTR {
				return measured{}, fmt.Errorf("wait for answers: %w", err)
			}
		}
		if now.Sub(sweep) > lostAfter/4 {
			sweep = now
			l.giveUp(now)
		}
	}
	m := measured{answered: l.answered, elapsed: time.Since(start)}
	if err := l.await(); err != nil {
		return measured{}, err
	}
	m.lost, m.wrong = l.lost, l.wrong
	if n := len(l.delays); n > 0 {
		slices.Sort(l.delays)
		m.p50, m.p99 = l.delays[n/2], l.delays[n*99/100]
	}
	return m, nil
}

// await waits for the answers that are still under way; those that do not come are
// lost.
func (l *load) await() error {
	waiting := func() bool {
		return slices.ContainsFunc(l.flows, func(f *flow) bool { return len(f.idle) < window })
	}
	for end := time.Now().Add(lostAfter); waiting() && time.Now().Before(end); {
		if _, err := unix.Poll(l.polls, 20); err != nil && err != unix.EINTR {
			return fmt.Errorf("wait for answers: %w", err)
		}
		for _, f := range l.flows {
			if _, err := l.receive(f); err != nil {
				return err
			}
		}
	}
	l.giveUp(time.Now().Add(lostAfter))
	return nil
}

// receive takes answers in.
func (l *load) receive(f *flow) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&f.in[0])), window, unix.MSG_DONTWAIT, 0, 0)
	switch errno {
	case 0:
	case unix.EAGAIN, unix.EINTR, unix.ECONNREFUSED:
		return 0, nil
	default:
		return 0, fmt.Errorf("receive answers: %w", errno)
	}
	now := time.Now()
	for i := range int(n) {
		l.take(f, f.inb[i][:f.in[i].n], now)
	}
	return int(n), nil
}

// take judges an answer.
func (l *load) take(f *flow, b []byte, now time.Time) {
	if len(b) < 12 {
		l.wrong++
		return
	}
	id := binary.BigEndian.Uint16(b)
	slot := int(id) % window
	q := f.asked[slot]
	if q == nil || f.ids[slot] != id {
		return // it had been given up
	}
	if b[2]&0x82 != 0x80 || b[3]&0xf != q.rcode || (b[6]|b[7] != 0) != q.filled {
		l.wrong++
	}
	if l.rate > 0 || l.answered%16 == 0 {
		l.delays = append(l.delays, now.Sub(f.at[slot]))
	}
	l.answered++
	f.asked[slot] = nil
	f.idle = append(f.idle, slot)
}

// ask fills the window, when it is worth a call.
func (l *load) ask(f *flow) (int, error) {
	now := time.Now()
	idle := f.idle
	if l.rate > 0 {
		due := int(l.rate*now.Sub(l.start).Seconds()) - l.asked
		idle = idle[:max(0, min(due, len(idle), paced))]
		if len(idle) == 0 {
			return 0, nil
		}
	} else if len(idle) < window/2 {
		return 0, nil
	}
	for i, slot := range idle {
		q := &l.list[l.next]
		if l.next++; l.next == len(l.list) {
			l.next = 0
		}
		f.ids[slot] = (f.ids[slot]/window+1)*window + uint16(slot)
		f.asked[slot], f.at[slot] = q, now
		if l.rate > 0 { // a question that is late was to be asked before
			f.at[slot] = l.start.Add(time.Duration(float64(l.asked+i) / l.rate * float64(time.Second)))
		}
		f.outv[i].SetLen(copy(f.outb[i][:], q.wire))
		binary.BigEndian.PutUint16(f.outb[i][:], f.ids[slot])
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&f.out[0])), uintptr(len(idle)), unix.MSG_DONTWAIT, 0, 0)
	switch errno {
	case 0:
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ECONNREFUSED:
		n = 0
	default:
		return 0, fmt.Errorf("send questions: %w", errno)
	}
	for _, slot := range idle[n:] {
		f.asked[slot] = nil
	}
	l.asked += int(n)
	f.idle = append(f.idle[:0], f.idle[n:]...)
	return int(n), nil
}

// giveUp frees the slots of questions that nobody answers.
func (l *load) giveUp(now time.Time) {
	for _, f := range l.flows {
		for slot, q := range f.asked {
			if q != nil && now.Sub(f.at[slot]) > lostAfter {
				l.lost++
				f.asked[slot] = nil
				f.idle = append(f.idle, slot)
			}
		}
	}
}
