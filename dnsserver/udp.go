package dnsserver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// packetSocket is one UDP socket with its loop. How messages get from and to
// the system is its concern alone; answering them is the worker's.
type packetSocket struct {
	conn *net.UDPConn
	// sources: the socket takes packets for several addresses, and each answer
	// must leave from the one that was asked.
	sources bool
	// wake ends what waits for packets, by a deadline that has passed.
	wake interface{ SetReadDeadline(t time.Time) error }
}

// oobLen is room for the control messages of one packet.
const oobLen = 128

// openPacket opens one UDP socket. shared: others have the same port. absent: no
// interface has the address yet.
func openPacket(addr netip.AddrPort, shared, absent bool) (*packetSocket, error) {
	sources := addr.Addr().IsUnspecified()
	lc := net.ListenConfig{Control: func(network, address string, c syscall.RawConn) error {
		if absent {
			if err := bindAbsent(network, address, c); err != nil {
				return err
			}
		}
		return setPacketOptions(c, addr.Addr().Is4(), shared, sources)
	}}
	pc, err := lc.ListenPacket(context.Background(), "udp"+family(addr), addr.String())
	if err != nil {
		return nil, err
	}
	conn, ok := pc.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(errors.New("not a UDP socket"), pc.Close())
	}
	return &packetSocket{conn: conn, sources: sources, wake: conn}, nil
}

// servePlain answers packets until stop, and closes the socket. It takes one at a
// time, as every system can. What the system does not take at once is lost:
// clients ask again, a queue would only be late.
func (p *packetSocket) servePlain(w *worker, done <-chan struct{}) {
	defer func() { _ = p.conn.Close() }() // every answer has been handed over
	in, out, oob := make([]byte, maxUDP+1), make([]byte, maxUDP), make([]byte, oobLen)
	if !p.sources {
		oob = nil
	}
	var wait time.Duration
	for {
		n, oobn, _, from, err := p.conn.ReadMsgUDPAddrPort(in, oob)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) || !w.server.pause(&wait, done, err) {
				return
			}
			continue
		}
		wait = 0
		w.signs.renewAt(time.Now())
		if n = w.respond(out, in[:n], from.Addr(), false); n == 0 {
			continue
		}
		source := oob[:oobn]
		if p.sources && !turnSource(source) {
			w.count.drop(dropNoSource)
			continue
		}
		if _, _, err := p.conn.WriteMsgUDPAddrPort(out[:n], source, from); err != nil {
			w.count.drop(dropSend)
		}
	}
}

// stop lets serving end after the messages that are in hand.
func (p *packetSocket) stop() {
	_ = p.wake.SetReadDeadline(time.Unix(1, 0)) // fails only where it has ended
}
