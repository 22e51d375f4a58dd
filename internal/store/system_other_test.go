//go:build !linux

package store

// systemRoles of other processes are played on Linux alone.
func systemRoles() map[string]func(dir string) error { return nil }
