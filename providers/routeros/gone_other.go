//go:build !linux

package routeros

import "syscall"

// noticeGone does nothing: the limits of requests are left.
func noticeGone(_, _ string, _ syscall.RawConn) error { return nil }
