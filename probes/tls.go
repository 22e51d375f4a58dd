package probes

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// TLS asks for a TLS handshake on a port and judges the certificate. Nothing
// is sent after it.
type TLS struct {
	Port int // 1 to 65535
	// Host is the name that is asked for (SNI) and verified. "" means the
	// probed address.
	Host string
	// Verify says how the certificate is judged; "" means VerifyOff where there
	// is no Host, VerifyName otherwise.
	Verify Verify
	// Fingerprint is the SHA-256 of the certificate in hexadecimal, with or
	// without "sha256:" and colons, for VerifyFingerprint.
	Fingerprint string
	// ExpiresWithin makes the probe fail that long before the certificate ends,
	// whatever Verify says; 0 leaves that to Verify.
	ExpiresWithin time.Duration
	// Roots are the authorities that are trusted; nil means the system's.
	Roots *x509.CertPool
}

// Probe implements [Prober].
func (p TLS) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	cert := &certificate{verify: p.verify(), fingerprint: p.Fingerprint, roots: p.Roots, observer: watch(ctx)}
	c := p.probe(ctx, addr, cert)
	c.Duration, c.Expires = time.Since(start), cert.ends()
	return c
}

func (p TLS) probe(ctx context.Context, addr netip.Addr, cert *certificate) sites.Check {
	at := newAttempt(ctx, addr)
	name := p.Host
	if name == "" {
		name = addr.WithZone("").String()
	}
	d := net.Dialer{KeepAlive: -1}
	to := netip.AddrPortFrom(addr, uint16(p.Port))
	step := cert.observer.connect(to)
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, to)
	step.end(err)
	if err != nil {
		return at.failed(ctx, err)
	}
	_ = conn.SetLinger(0) // leaves no port waiting; nothing is lost by it
	defer conn.Close()
	if _, err := cert.handshake(ctx, conn, name); err != nil {
		return at.handshakeFailed(ctx, err)
	}
	now := time.Now()
	if left := cert.ends().Sub(now); p.ExpiresWithin > 0 && left < p.ExpiresWithin {
		return down(CauseTLSExpiring, "%s, less than the %s that are asked for", cert.note(now, p.ExpiresWithin), days(p.ExpiresWithin))
	}
	text := "TLS handshake done"
	if note := cert.note(now, nearExpiry); note != "" {
		text += "; " + note
	}
	return up(text)
}

// verify resolves VerifyDefault.
func (p TLS) verify() Verify {
	switch {
	case p.Verify != VerifyDefault:
		return p.Verify
	case p.Host == "":
		return VerifyOff
	default:
		return VerifyName
	}
}

// handshakeFailed gives the check of a connection on which TLS may have failed.
func (at attempt) handshakeFailed(ctx context.Context, err error) sites.Check {
	c := at.failed(ctx, err)
	if c.Cause != string(CauseFailed) {
		return c
	}
	if e, ok := errors.AsType[*handshakeError](err); ok {
		return e.check()
	}
	return c
}
