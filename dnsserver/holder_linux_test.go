package dnsserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// If this fails, the wrong program is named as the one that has the port.
func TestFindSocket(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 3500007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 1001 1 0
   1: 0100007F:0035 0200007F:D431 01 00000000:00000000 00:00000000 00000000   101        0 1002 1 0
   2: 0100007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 1003 1 0
   3: 00000000:0036 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 1004 1 0
   4: nonsense:0037 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 1005 1 0
`
	for addr, want := range map[string]string{
		"127.0.0.53:53": "1001", "127.0.0.1:53": "1003", "0.0.0.0:53": "1001", "127.0.0.1:54": "1004", "127.0.0.2:53": "", "127.0.0.1:55": "",
	} {
		if binary.NativeEndian.AppendUint16(nil, 1)[0] != 1 {
			t.Skip("the table is of a little-endian machine")
		}
		if got := findSocket([]byte(table), true, netip.MustParseAddrPort(addr)).inode; got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}

// holdVariable tells this test's program, started again, which port to hold.
const holdVariable = "DNSTEER_TEST_HOLD"

// If this fails, someone whose port 53 is taken has to guess by whom, and what
// to do about it: here another process really has it.
func TestAnotherProcessHasThePort(t *testing.T) {
	if network := os.Getenv(holdVariable); network != "" {
		hold(t, network)
		return
	}
	for _, tt := range []struct{ name, network, listen, want string }{
		{"UDP, on an address", "udp 127.0.0.1:0", "127.0.0.1", "choose another address or port in dns.listen, or stop that program"},
		{"TCP, on an address", "tcp 127.0.0.1:0", "127.0.0.1", "choose another address or port in dns.listen, or stop that program"},
		{"an address where all are wanted", "udp 127.0.0.53:0", "0.0.0.0", "write into dns.listen, in place of the wildcard, the addresses"},
		{"all where an address is wanted", "udp 0.0.0.0:0", "127.0.0.1", "which covers all addresses: have it listen on others than 127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessHasThePort$")
			cmd.Env = append(os.Environ(), holdVariable+"="+tt.network)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close(); _ = cmd.Wait() }() // it ends with its input
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			taken := netip.MustParseAddrPort(strings.TrimSpace(line))
			want := netip.AddrPortFrom(netip.MustParseAddr(tt.listen), taken.Port())
			_, err = openListener(want, 2)
			if err == nil {
				t.Fatal("the port is taken and was opened")
			}
			for _, part := range []string{"the port is taken by ", fmt.Sprintf("(process %d)", cmd.Process.Pid), tt.want} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// holdUDP takes a port that is free over TCP: connections of others have many.
func holdUDP(t *testing.T, address string) net.PacketConn {
	for {
		c, err := net.ListenPacket("udp4", address)
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := net.SplitHostPort(address)
		_, port, _ := net.SplitHostPort(c.LocalAddr().String())
		if l, err := net.Listen("tcp4", net.JoinHostPort(host, port)); err == nil {
			_ = l.Close() // nothing was connected
			return c
		}
		_ = c.Close()
	}
}

// hold has a port until the standard input ends.
func hold(t *testing.T, how string) {
	network, address, _ := strings.Cut(how, " ")
	if network == "udp" {
		c := holdUDP(t, address)
		defer c.Close()
		fmt.Println(c.LocalAddr())
	} else {
		l, err := net.Listen("tcp4", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		fmt.Println(l.Addr())
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
