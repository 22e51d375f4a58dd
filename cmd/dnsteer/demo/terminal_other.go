//go:build !linux

package demo

import "io"

// takeKeys leaves the terminal as it is: keys come with Enter.
func takeKeys(io.Reader) (restore func(), direct bool) { return func() {}, false }
