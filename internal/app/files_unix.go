//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package app

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return noBound
	}
	return int(min(uint64(limit.Cur), noBound)) //nolint:unconvert // some systems count with a sign
}
