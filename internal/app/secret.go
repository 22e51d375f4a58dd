package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

// secretName is the file in the state folder that keeps what DNS cookies are
// made with. Servers that share an address share a copy of it.
const secretName = "cookie.secret"

// cookieSecret gives the kept secret of DNS cookies, and makes one where there
// is none, so that clients' cookies outlive a restart (RFC 9018 section 5).
func cookieSecret(dir string) (dnsserver.Secret, error) {
	path := filepath.Join(dir, secretName)
	secret, err := os.ReadFile(path)
	switch {
	case err == nil && len(secret) == dnsserver.CookieSecretLen:
		return secret, nil
	case err == nil:
		return nil, fmt.Errorf("read the secret of DNS cookies: %s has %d bytes, expected %d; remove it to have one made", path, len(secret), dnsserver.CookieSecretLen)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the secret of DNS cookies: %w", err)
	}
	secret = make([]byte, dnsserver.CookieSecretLen)
	_, _ = rand.Read(secret) // it does not fail
	return secret, keepSecret(dir, secret)
}

func keepSecret(dir string, secret dnsserver.Secret) error {
	if err := keyfile.WriteNew(filepath.Join(dir, secretName), secret, 0o600); err != nil {
		return fmt.Errorf("keep the secret of DNS cookies: %w", err)
	}
	return nil
}
