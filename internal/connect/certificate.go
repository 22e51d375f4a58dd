package connect

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/providers/outbound"
)

// Certificate is what a server shows of itself.
type Certificate struct {
	// Fingerprint is "sha256:…", as the key tls_fingerprint takes it.
	Fingerprint string    `json:"fingerprint"`
	Subject     string    `json:"subject"`
	Issuer      string    `json:"issuer"`
	Names       []string  `json:"names"`
	NotBefore   time.Time `json:"not_before"`
	NotAfter    time.Time `json:"not_after"`
	// Verified: the system's certificates vouch for it, by the name that was
	// dialled. Reason says why not.
	Verified bool   `json:"verified"`
	Reason   string `json:"reason,omitempty"`
}

// Ask has a server at host:port show its certificate. It is not verified: that
// is left to who reads it. Nothing is sent beside the handshake.
func Ask(ctx context.Context, addr string) (Certificate, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return Certificate{}, fmt.Errorf("%q is not HOST:PORT: %w", addr, err)
	}
	d := tls.Dialer{NetDialer: outbound.Guard{}.Over(addr, net.Dialer{}), Config: &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // it is shown, and nothing is sent
		MinVersion:         tls.VersionTLS12, ServerName: host,
	}}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return Certificate{}, fmt.Errorf("ask %s for its certificate: %w", addr, remedied(err))
	}
	defer conn.Close()
	c, ok := conn.(*tls.Conn)
	if !ok || len(c.ConnectionState().PeerCertificates) == 0 {
		return Certificate{}, fmt.Errorf("ask %s for its certificate: it shows none", addr)
	}
	return describe(host, c.ConnectionState().PeerCertificates), nil
}

// remedied says what helps where a server speaks, but no TLS.
func remedied(err error) error {
	switch text := err.Error(); {
	case errors.As(err, new(tls.RecordHeaderError)):
		return fmt.Errorf("it does not speak TLS there (%w): RouterOS does so on the port of api-ssl, 8729", err)
	case strings.Contains(text, "handshake failure"), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%w: a router without a certificate cannot be connected to; give its service one (/ip service set api-ssl certificate=NAME), and let it be reached from here", err)
	}
	return err
}

func describe(host string, chain []*x509.Certificate) Certificate {
	leaf := chain[0]
	sum := sha256.Sum256(leaf.Raw)
	c := Certificate{
		Fingerprint: "sha256:" + hex.EncodeToString(sum[:]), Subject: leaf.Subject.String(), Issuer: leaf.Issuer.String(),
		Names: leaf.DNSNames, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
	}
	for _, ip := range leaf.IPAddresses {
		c.Names = append(c.Names, ip.String())
	}
	between := x509.NewCertPool()
	for _, x := range chain[1:] {
		between.AddCert(x)
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Intermediates: between})
	if c.Verified = err == nil; err != nil {
		c.Reason = err.Error()
	}
	return c
}
