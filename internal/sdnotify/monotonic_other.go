//go:build !linux

package sdnotify

// monotonicLine is empty: the service managers of other systems that know this
// protocol do not ask for the time.
func monotonicLine() string { return "" }
