package dnsserver

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, a question that comes alone after many that came together is not
// answered before the next one comes, or one of the many is lost.
func TestQuestionsAfterRushes(t *testing.T) {
	s := lanServer(t)
	at := serving(t, s, "127.0.0.1:0")[0]
	c := socket(t, at)
	q, buf := ask("app.example.lan.", dns.TypeA, 1232), make([]byte, maxUDP)
	for round := range 400 {
		together := []int{1, busyAt - 1, busyAt, 1, 2 * busyAt, batchLen, 1, 1, batchLen + 1}[round%9]
		for id := range together {
			binary.BigEndian.PutUint16(q, uint16(id))
			if _, err := c.Write(q); err != nil {
				t.Fatal(err)
			}
		}
		for n := range together {
			if _, err := c.Read(buf); err != nil {
				t.Fatalf("round %d, %d answers of %d: %v", round, n, together, err)
			}
		}
	}
}

// If this fails, packets that came while nobody waited for them wake nobody, or
// whoever waits cannot be told to end.
func TestWatch(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	c := socket(t, netip.MustParseAddrPort(conn.LocalAddr().String()))
	w, err := newWatch(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	b, one := newBatch(false), &worker{server: lanServer(t), count: new(counters)}
	for _, left := range []bool{false, true, true, false} {
		if _, err := c.Write([]byte("a packet")); err != nil {
			t.Fatal(err)
		}
		if left {
			w.leave()
			if err := w.enter(); err != nil {
				t.Fatal(err)
			}
		}
		took := 0
		if err := w.raw.Read(func(uintptr) bool {
			took, err = b.round(one, w.fd)
			return took > 0 || err != nil
		}); err != nil || took != 1 {
			t.Fatalf("took %d packets: %v", took, err)
		}
	}
	if err := w.file.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := w.raw.Read(func(uintptr) bool { return false }); !os.IsTimeout(err) {
		t.Errorf("it waits on: %v", err)
	}
}

// If this fails, a socket that cannot be watched is lost with its descriptors.
func TestWatchOfAClosedSocket(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := newWatch(conn); err == nil {
		t.Error("a closed socket is watched")
	}
	p := &packetSocket{conn: conn, wake: conn}
	p.serving()(&worker{server: lanServer(t), count: new(counters)}, nil) // ends at once
}
