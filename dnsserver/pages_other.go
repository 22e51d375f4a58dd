//go:build !linux

package dnsserver

// hugePages does nothing: only Linux is asked.
func hugePages[T any]([]T) {}
