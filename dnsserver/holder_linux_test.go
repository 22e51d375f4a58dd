package dnsserver

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// If this fails, the wrong program is named as the one that has the port.
func TestSocketInode(t *testing.T) {
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
		if got := socketInode([]byte(table), true, netip.MustParseAddrPort(addr)); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}
