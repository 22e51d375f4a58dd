package wake

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"
)

// A packet that is wrong by one octet wakes nobody up, and nobody sees why.
func TestSend(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	mac := net.HardwareAddr{0x52, 0x54, 0, 0x12, 0x34, 0x56}
	if err := Send(t.Context(), mac, netip.MustParseAddrPort(pc.LocalAddr().String())); err != nil {
		t.Fatal(err)
	}
	want := append(bytes.Repeat([]byte{0xff}, 6), bytes.Repeat(mac, 16)...)
	for range repeats {
		buf := make([]byte, 200)
		if err := pc.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, _, err := pc.ReadFrom(buf)
		if err != nil || !bytes.Equal(buf[:n], want) {
			t.Fatalf("got %x, %v", buf[:n], err)
		}
	}
	if _, err := Packet(mac[:5]); err == nil {
		t.Error("an address of five octets was taken")
	}
}
