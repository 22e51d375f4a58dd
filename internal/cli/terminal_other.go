//go:build !linux

package cli

import "os"

// hideTyping leaves the terminal as it is.
func hideTyping(*os.File) (restore func()) { return func() {} }
