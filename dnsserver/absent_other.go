//go:build !linux

package dnsserver

import (
	"net/netip"
	"syscall"
)

// bindsAbsent: elsewhere an address has to be there before it is opened.
const bindsAbsent = false

// bindAbsent is never called.
func bindAbsent(_, _ string, _ syscall.RawConn) error { return nil }

// routedHere: what could be bound is there.
func routedHere(netip.Addr) bool { return false }
