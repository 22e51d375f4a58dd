package dnsserver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tcpListen is a listening socket's state in /proc/net/tcp.
const tcpListen = "0A"

// boundSocket is a row of one of the /proc/net tables.
type boundSocket struct {
	local netip.AddrPort
	uid   string
	inode string // "" in a row that was not found
}

// portHolder says which program has a port, as far as /proc tells: the process
// where its descriptors may be read, else at least its user.
func portHolder(transport string, addr netip.AddrPort) holder {
	var s boundSocket
	for _, family := range []string{"", "6"} {
		b, err := os.ReadFile("/proc/net/" + transport + family)
		if err != nil {
			continue
		}
		if s = findSocket(b, transport == "tcp", addr); s.inode != "" {
			break
		}
	}
	if s.inode == "" {
		return holder{}
	}
	h := holder{who: ownerOf(s.inode), at: s.local}
	if h.who == "" {
		h.who = "a program of user " + userName(s.uid)
	}
	return h
}

// ownerOf names the process that has a socket, "" where its descriptors may not
// be read.
func ownerOf(inode string) string {
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, fd := range fds {
		link, err := os.Readlink(fd)
		if err != nil || link != "socket:["+inode+"]" {
			continue
		}
		pid := strings.Split(fd, "/")[2]
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			return "process " + pid
		}
		return fmt.Sprintf("%s (process %s)", bytes.TrimSpace(name), pid)
	}
	return ""
}

// userName gives the name of a user, or the number where it has none here.
func userName(uid string) string {
	if u, err := user.LookupId(uid); err == nil {
		return u.Username
	}
	return uid
}

// findSocket looks a socket up in one of the /proc/net tables: one that is
// bound to the address, or to the wildcard, or, when the address is the
// wildcard, to any.
func findSocket(table []byte, listening bool, addr netip.AddrPort) boundSocket {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || listening && f[3] != tcpListen {
			continue
		}
		local, ok := procAddr(f[1])
		if !ok || local.Port() != addr.Port() {
			continue
		}
		if a := local.Addr(); a == addr.Addr() || a.IsUnspecified() || addr.Addr().IsUnspecified() {
			return boundSocket{local: local, uid: f[7], inode: f[9]}
		}
	}
	return boundSocket{}
}

// procAddr reads an address of /proc/net: hexadecimal, in words of 4 octets in
// the machine's order.
func procAddr(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	if !ok {
		return netip.AddrPort{}, false
	}
	b, err := hex.DecodeString(host)
	if err != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	if one := binary.NativeEndian.AppendUint16(nil, 1); one[0] == 1 { // little-endian
		for i := 0; i < len(b); i += 4 {
			slices.Reverse(b[i : i+4])
		}
	}
	a, ok := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a, uint16(n)), true
}
