package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// If this fails, every restart makes all clients' DNS cookies invalid, or a
// damaged secret is used as if it were one.
func TestCookieSecretIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := cookieSecret(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cookieSecret(dir)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second start has another secret (%v)", err)
	}
	if info, err := os.Stat(filepath.Join(dir, secretName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, secretName), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if secret, err := cookieSecret(dir); err == nil || secret != nil {
		t.Errorf("a damaged secret is used: %v", err)
	}
	if _, err := cookieSecret(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a secret that cannot be kept is not told")
	}
}
