//go:build !linux

package dnsserver

import "net/netip"

// portHolder needs /proc.
func portHolder(string, netip.AddrPort) holder { return holder{} }
