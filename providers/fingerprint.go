package providers

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
)

// FetchFingerprint gives the SHA-256 of the certificate that host:port shows, for
// [TLS.Fingerprint]. Nothing vouches for it: whoever wants to rely on it compares
// it with what the server itself says. An error names why none came.
func FetchFingerprint(ctx context.Context, addr string) ([32]byte, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fetch the certificate: %q is not HOST:PORT: %w", addr, err)
	}
	d := tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // what is shown is the question, and nothing is sent
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		if NoCertificate(err) {
			return [32]byte{}, fmt.Errorf("fetch the certificate of %s: the server has none to show (on RouterOS, assign one: /ip service set api-ssl certificate=NAME): %w", addr, err)
		}
		return [32]byte{}, fmt.Errorf("fetch the certificate of %s: %w", addr, err)
	}
	defer conn.Close()
	secure, ok := conn.(*tls.Conn)
	if !ok || len(secure.ConnectionState().PeerCertificates) == 0 {
		return [32]byte{}, fmt.Errorf("fetch the certificate of %s: none was shown", addr)
	}
	return sha256.Sum256(secure.ConnectionState().PeerCertificates[0].Raw), nil
}

// NoCertificate says whether the error of a handshake is the refusal of a server
// that shares no cipher with us, as one does that has no certificate.
func NoCertificate(err error) bool {
	// The alert's own type is not exported; its text is that of RFC 8446.
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" && strings.HasSuffix(op.Err.Error(), "handshake failure")
}
