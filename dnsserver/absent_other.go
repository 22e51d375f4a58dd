//go:build !linux

package dnsserver

import "syscall"

// bindsAbsent: elsewhere an address has to be there before it is opened.
const bindsAbsent = false

// bindAbsent is never called.
func bindAbsent(_, _ string, _ syscall.RawConn) error { return nil }
