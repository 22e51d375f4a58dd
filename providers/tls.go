package providers

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
)

// TLS says how a target is known to be the right one.
type TLS struct {
	// Mode is how.
	Mode TLSMode
	// CA is a bundle of certificates in PEM that vouch for the target, in place
	// of the system's; nil for those.
	CA []byte
	// Fingerprint is the SHA-256 of the certificate in DER, for Pinned.
	Fingerprint [32]byte
	// ServerName is the name that the certificate must have; "" for the host
	// that is dialled.
	ServerName string
}

// TLSMode is how the target's certificate is judged.
type TLSMode uint8

// The modes.
const (
	// Verified: by a CA and the name.
	Verified TLSMode = iota
	// Pinned: by its fingerprint alone.
	Pinned
	// Insecure: not at all. Passwords and records can be read and changed by
	// whoever stands between.
	Insecure
	// Plain: there is no TLS.
	Plain
)

// Config gives what crypto/tls needs to know; nil for Plain. Errors name what is
// wrong with the CA.
func (t TLS) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	switch t.Mode {
	case Plain:
		return nil, nil //nolint:nilnil // no TLS is no configuration
	case Pinned:
		// The pin says more than any name or date does.
		c.InsecureSkipVerify = true
		c.VerifyConnection = t.matches
	case Insecure:
		c.InsecureSkipVerify = true
	case Verified:
		if t.CA == nil {
			break
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("the CA file holds no certificate in PEM")
		}
	}
	return c, nil
}

// PinError is a certificate other than the one that is pinned.
type PinError struct{ Got, Want [32]byte }

func (e *PinError) Error() string {
	return fmt.Sprintf("the certificate has the fingerprint sha256:%s, pinned is sha256:%s: somebody stands between, or the certificate is new (then \"dnsteer target pin\" shows what to write)",
		hex.EncodeToString(e.Got[:]), hex.EncodeToString(e.Want[:]))
}

func (t TLS) matches(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the other side showed no certificate")
	}
	if got := sha256.Sum256(state.PeerCertificates[0].Raw); got != t.Fingerprint {
		return &PinError{Got: got, Want: t.Fingerprint}
	}
	return nil
}
