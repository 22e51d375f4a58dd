//go:build !linux

package clock

// KernelSync is SyncUnknown: this system has no portable way to ask.
func KernelSync() Sync { return SyncUnknown }
