package dnsserver

import "net/netip"

// PortHolder says in words which program has a port of "tcp" or "udp", for the
// errors of others who cannot have it.
func PortHolder(transport string, addr netip.AddrPort) string { return portHolder(transport, addr) }
