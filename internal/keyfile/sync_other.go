//go:build !unix

package keyfile

// syncDir does nothing: folders cannot be synced here.
func syncDir(string) error { return nil }
