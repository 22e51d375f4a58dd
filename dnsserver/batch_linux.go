package dnsserver

import (
	"errors"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batchLen is how many packets go through one system call.
const batchLen = touchLen

// bufferLen is room for one packet, and for one octet more of those that are too
// long. The multiple of a cache line is odd, so that the beginnings of buffers,
// which are all that most packets use, lie in different lines of the cache.
const bufferLen = 21 * 64

// message is the system's struct mmsghdr.
type message struct {
	hdr unix.Msghdr
	n   uint32 // octets received or sent
}

// batch is packets on their way in and their answers on their way out. It is
// large and points into itself: it stays where it was made.
type batch struct {
	in, out       [batchLen]message
	inVec, outVec [batchLen]unix.Iovec
	inBuf, outBuf [batchLen][bufferLen]byte
	from          [batchLen]unix.RawSockaddrInet6 // or a RawSockaddrInet4
	control       [batchLen][oobLen]byte
	sources       bool // control messages are wanted
	used          int  // of in, since the last receive
	answers       int  // of out
	msgs          [batchLen][]byte
	touched       touched
}

func newBatch(sources bool) *batch {
	b := &batch{sources: sources, used: batchLen}
	for i := range batchLen {
		b.inVec[i].Base, b.outVec[i].Base = &b.inBuf[i][0], &b.outBuf[i][0]
		b.inVec[i].SetLen(maxUDP + 1)
		in, out := &b.in[i].hdr, &b.out[i].hdr
		in.Name = (*byte)(unsafe.Pointer(&b.from[i]))
		in.Iov, out.Iov = &b.inVec[i], &b.outVec[i]
		in.SetIovlen(1)
		out.SetIovlen(1)
		if sources {
			in.Control = &b.control[i][0]
		}
	}
	return b
}

// busyAt is from how many packets on that came together more are expected at once.
const busyAt = 8

// serving gives the loop that answers packets until stop, and closes the socket.
func (p *packetSocket) serving() func(w *worker, done <-chan struct{}) {
	watch, err := newWatch(p.conn)
	if err != nil {
		return p.servePlain
	}
	p.wake = watch.file
	return func(w *worker, done <-chan struct{}) { serveBatches(w, watch, p.sources, done) }
}

// serveBatches takes what has come in and hands over the answers, each in one call,
// without telling the scheduler: the calls never wait. It waits in the runtime's
// poller for more. What the system does not take at once is lost, as in servePlain.
func serveBatches(w *worker, in *watch, sources bool, done <-chan struct{}) {
	defer func() { _ = in.close() }() // every answer has been handed over
	b := newBatch(sources)
	var wait time.Duration
	for {
		var fault error
		err := in.raw.Read(func(uintptr) bool {
			for {
				select {
				case <-done:
					return true
				default:
				}
				var took int
				if took, fault = b.round(w, in.fd); fault != nil {
					return true
				}
				wait = 0
				if took >= busyAt {
					in.leave()
				}
				if took == 0 || took < batchLen && in.in {
					fault = in.enter()
					return fault != nil
				}
				runtime.Gosched() // a flood leaves room for decisions
			}
		})
		switch {
		case err == nil && fault == nil: // done
			return
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
			return
		case !w.server.pause(&wait, done, errors.Join(err, fault)):
			return
		}
	}
}

// round answers what has come in, a batch at most, and gives how much that was.
func (b *batch) round(w *worker, fd int) (took int, err error) {
	n, errno := b.receive(fd)
	for errno == unix.EINTR {
		n, errno = b.receive(fd)
	}
	switch errno {
	case 0:
	case unix.EAGAIN:
		return 0, nil
	default:
		return 0, os.NewSyscallError("recvmmsg", errno)
	}
	b.answer(w, n)
	b.send(w, fd)
	return n, nil
}

// receive takes in what waits at the socket.
func (b *batch) receive(fd int) (int, syscall.Errno) {
	for i := range b.in[:b.used] { // what the last one wrote
		h := &b.in[i].hdr
		h.Namelen = unix.SizeofSockaddrInet6
		if b.sources {
			h.SetControllen(oobLen)
		}
	}
	b.used = 1 // at most, should it fail
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.in[0])), batchLen, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	b.used = int(n)
	return b.used, 0
}

// answer prepares the answers to the first n packets.
func (b *batch) answer(w *worker, n int) {
	b.answers = 0
	w.signs.renew(n == batchLen)
	b.touch(w, n)
	for i := range n {
		in := &b.in[i]
		size := w.respond(b.outBuf[b.answers][:maxUDP], b.inBuf[i][:in.n], sender(&b.from[i]), false)
		if size == 0 {
			continue
		}
		out := &b.out[b.answers].hdr
		if b.sources {
			control := b.control[i][:in.hdr.Controllen]
			if !turnSource(control) {
				w.count.drop(dropNoSource)
				continue
			}
			out.Control = &control[0]
			out.SetControllen(len(control))
		}
		out.Name, out.Namelen = in.hdr.Name, in.hdr.Namelen
		b.outVec[b.answers].SetLen(size)
		b.answers++
	}
}

// touch looks ahead at the memory that the answers will need, where that is much.
func (b *batch) touch(w *worker, n int) {
	names := &w.server.snap.Load().names
	if n == 1 || !names.large() {
		return
	}
	for i := range n {
		b.msgs[i] = b.inBuf[i][:b.in[i].n]
	}
	names.touch(&b.touched, b.msgs[:n])
}

// send hands the answers over. One that the system refuses is left out; when it
// has no room, all that follow are, too.
func (b *batch) send(w *worker, fd int) {
	for at := 0; at < b.answers; {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.out[at])), uintptr(b.answers-at), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			at += int(n)
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS:
			for range b.answers - at {
				w.count.drop(dropSend)
			}
			return
		default:
			w.count.drop(dropSend)
			at++
		}
	}
}

// sender reads the address of a packet's sender.
func sender(a *unix.RawSockaddrInet6) netip.Addr {
	if a.Family == unix.AF_INET {
		return netip.AddrFrom4(inet4(a).Addr)
	}
	return netip.AddrFrom16(a.Addr)
}

// inet4 sees an address as one of IPv4, which is shorter.
func inet4(a *unix.RawSockaddrInet6) *unix.RawSockaddrInet4 {
	return (*unix.RawSockaddrInet4)(unsafe.Pointer(a))
}
