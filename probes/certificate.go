package probes

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// certificate judges the certificate that a server shows during one probe, and
// keeps its expiry for the check's text.
type certificate struct {
	verify      Verify
	fingerprint string
	roots       *x509.CertPool
	observer    *Observer

	// mu: a handshake may go on for a moment after the probe was given up.
	mu       sync.Mutex
	notAfter time.Time // zero: none was seen
}

// ends is when the certificate that was seen expires; zero if none was.
func (c *certificate) ends() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notAfter
}

// handshake speaks TLS over conn, which it closes where that fails. Chain and
// name are verified by crypto/tls unless another way was chosen.
func (c *certificate) handshake(ctx context.Context, conn net.Conn, name string) (net.Conn, error) {
	t := tls.Client(conn, &tls.Config{
		ServerName:         name,
		RootCAs:            c.roots,
		InsecureSkipVerify: c.verify != VerifyName, //nolint:gosec // chosen in the configuration; see look
		VerifyConnection:   c.look,
	})
	step := c.observer.begin("tls")
	err := t.HandshakeContext(ctx)
	step.end(err)
	if v, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(v.UnverifiedCertificates) > 0 {
		cs := t.ConnectionState()
		c.seen(&cs, v.UnverifiedCertificates[0])
	}
	if err != nil {
		_ = conn.Close() // the handshake's error says why
		return nil, &handshakeError{err}
	}
	return t, nil
}

// errFingerprint: another certificate than the pinned one.
var errFingerprint = errors.New("the certificate is not the pinned one")

// look is called after the chain has been verified, if it has to be.
func (c *certificate) look(cs tls.ConnectionState) error {
	leaf := cs.PeerCertificates[0] // crypto/tls refuses a server without one
	c.seen(&cs, leaf)
	if c.verify != VerifyFingerprint {
		return nil
	}
	sum := sha256.Sum256(leaf.Raw)
	if got := hex.EncodeToString(sum[:]); got != normalFingerprint(c.fingerprint) {
		return fmt.Errorf("%w (it has sha256:%s)", errFingerprint, got)
	}
	return nil
}

// seen notes the certificate of a connection, be it accepted or not.
func (c *certificate) seen(cs *tls.ConnectionState, leaf *x509.Certificate) {
	c.mu.Lock()
	c.notAfter = leaf.NotAfter
	c.mu.Unlock()
	c.observer.certificate(cs, leaf)
}

// normalFingerprint takes away what people write around the digits.
func normalFingerprint(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.ReplaceAll(strings.TrimPrefix(s, "sha256:"), ":", "")
}

// nearExpiry is how long before its end a certificate's expiry is told.
const nearExpiry = 21 * 24 * time.Hour

// note says when the certificate expires, where that is near or past.
func (c *certificate) note(now time.Time, near time.Duration) string {
	ends := c.ends()
	left := ends.Sub(now)
	switch {
	case ends.IsZero() || left > near:
		return ""
	case left < 0:
		return "the certificate expired " + days(-left) + " ago"
	default:
		return "the certificate expires in " + days(left)
	}
}

func days(d time.Duration) string {
	switch n := int(d.Hours() / 24); n {
	case 0:
		return d.Round(time.Minute).String()
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}

// handshakeError: a TLS handshake failed.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "TLS handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// check names the fault, where the kernel and the clock had no word for it.
func (e *handshakeError) check() sites.Check {
	if errors.Is(e.err, errFingerprint) {
		return down(CauseTLSFingerprint, "%v", e.err)
	}
	if inv, ok := errors.AsType[x509.CertificateInvalidError](e.err); ok && inv.Reason == x509.Expired {
		return expired(inv.Cert, time.Now())
	}
	if h, ok := errors.AsType[x509.HostnameError](e.err); ok {
		return down(CauseTLSName, "the certificate is not for %s", h.Host)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](e.err); ok {
		return down(CauseTLSUntrusted, "the certificate is from an unknown authority")
	}
	if r, ok := errors.AsType[x509.SystemRootsError](e.err); ok {
		return unknown(CauseLocalConfig, "this machine's certificate authorities cannot be read: %v", r)
	}
	if v, ok := errors.AsType[*tls.CertificateVerificationError](e.err); ok {
		return down(CauseTLSUntrusted, "the certificate cannot be verified: %v", v.Err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](e.err); ok {
		return down(CauseTLS, "no TLS is spoken on this port")
	}
	return down(CauseTLS, "the TLS handshake failed: %v", e.err)
}

// expired tells a certificate (of the chain) that is too old from one that is
// too young.
func expired(cert *x509.Certificate, now time.Time) sites.Check {
	if cert != nil && now.Before(cert.NotBefore) {
		return down(CauseTLSNotYet, "the certificate is valid only from %s", cert.NotBefore.UTC().Format(time.RFC3339))
	}
	if cert == nil {
		return down(CauseTLSExpired, "the certificate has expired")
	}
	return down(CauseTLSExpired, "the certificate expired %s ago", days(now.Sub(cert.NotAfter)))
}
