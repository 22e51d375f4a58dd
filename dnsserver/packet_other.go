//go:build !linux

package dnsserver

import "syscall"

// sharesPorts: elsewhere one socket serves a port.
const sharesPorts = false

// setPacketOptions has nothing to set that all systems know.
func setPacketOptions(syscall.RawConn, bool, bool, bool) error { return nil }

// turnSource lets the system choose the source: on a host with several
// addresses list them one by one in place of a wildcard.
func turnSource([]byte) bool { return true }
