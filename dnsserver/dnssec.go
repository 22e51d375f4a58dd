package dnsserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/miekg/dns"
)

// Signing says how a zone is signed (DNSSEC): when it is asked, with compact
// denial of existence (RFC 9824). Secondaries cannot take such a zone, so it has
// neither Transfer nor Notify.
type Signing struct {
	// Keys are all in the zone's DNSKEY set, which each of them signs. The first of
	// each algorithm signs all else. At least one is needed.
	Keys []SigningKey
	// Algorithm is that of a key that is still to be made (DNSSEC algorithm
	// number). The server makes none.
	Algorithm uint8
	// Validity is how long signatures are valid; 0 means two weeks. They are made
	// anew when a third of it is left.
	Validity time.Duration
	// CDS says what the parent zone is asked for.
	CDS CDS
}

// CDS says what a zone asks of its parent by CDS and CDNSKEY records.
type CDS uint8

// What a parent is asked for.
const (
	CDSKeys   CDS = iota // DS records of all keys (RFC 7344)
	CDSDelete            // to remove all DS records, before signing ends (RFC 8078 section 4)
	CDSNone              // nothing
)

// Bounds of the validity of signatures: short ones expire in caches, and long
// ones can be replayed for as long.
const (
	MinValidity     = 3 * 24 * time.Hour
	MaxValidity     = 90 * 24 * time.Hour
	defaultValidity = 14 * 24 * time.Hour
)

// SigningKey is a key that a zone is signed with, key- and zone-signing key in
// one. It prints without its private half.
type SigningKey struct {
	record *dns.DNSKEY
	// private gives the private half. It is a function so that no way of printing
	// the struct looks into it.
	private func() crypto.Signer
}

// NewSigningKey makes a key of its two halves, which must belong together: ECDSA
// P-256 with SHA-256 (RFC 6605) or Ed25519 (RFC 8080), with the flags of a zone
// key and of a secure entry point.
func NewSigningKey(record *dns.DNSKEY, private crypto.PrivateKey) (SigningKey, error) {
	const flags = dns.ZONE | dns.SEP
	if record.Flags != flags || record.Protocol != 3 {
		return SigningKey{}, fmt.Errorf("the key has the flags %d and the protocol %d, expected %d and 3: a key for both keys and zone", record.Flags, record.Protocol, flags)
	}
	k := SigningKey{record: dns.Copy(record).(*dns.DNSKEY)} //nolint:errcheck // a copy is of the same type
	switch p := private.(type) {
	case *ecdsa.PrivateKey:
		if record.Algorithm != dns.ECDSAP256SHA256 || p.Curve != elliptic.P256() {
			return SigningKey{}, errAlgorithm
		}
		k.private = func() crypto.Signer { return steady{p} }
	case ed25519.PrivateKey:
		if record.Algorithm != dns.ED25519 {
			return SigningKey{}, errAlgorithm
		}
		k.private = func() crypto.Signer { return p }
	default:
		return SigningKey{}, errAlgorithm
	}
	probe := []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: record.Hdr.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 1}, Txt: []string{"x"}}}
	sig := k.blank(record.Hdr.Name)
	if err := sig.Sign(k.private(), probe); err != nil {
		return SigningKey{}, fmt.Errorf("sign with key %d: %w", record.KeyTag(), err)
	}
	if err := sig.Verify(record, probe); err != nil {
		return SigningKey{}, fmt.Errorf("the private key is not that of the public key %d", record.KeyTag())
	}
	return k, nil
}

var errAlgorithm = errors.New("the key is of another algorithm, expected ECDSAP256SHA256 or ED25519")

// steady signs the same octets the same way each time (RFC 6979): no signature
// depends on a source of random numbers.
type steady struct{ *ecdsa.PrivateKey }

func (s steady) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.PrivateKey.Sign(nil, digest, opts)
}

// GenerateSigningKey makes a key for a zone.
func GenerateSigningKey(zone string, algorithm uint8) (SigningKey, crypto.PrivateKey, error) {
	record := &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: dns.CanonicalName(zone), Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: keyTTL},
		Flags: dns.ZONE | dns.SEP, Protocol: 3, Algorithm: algorithm,
	}
	if algorithm != dns.ECDSAP256SHA256 && algorithm != dns.ED25519 {
		return SigningKey{}, nil, errAlgorithm
	}
	private, err := record.Generate(256)
	if err != nil {
		return SigningKey{}, nil, fmt.Errorf("make a key for %s: %w", zone, err)
	}
	k, err := NewSigningKey(record, private)
	return k, private, err
}

// Record gives the DNSKEY record.
func (k SigningKey) Record() *dns.DNSKEY { return dns.Copy(k.record).(*dns.DNSKEY) } //nolint:errcheck // of the same type

// DS gives the record that the parent zone must hold (SHA-256, RFC 4509).
func (k SigningKey) DS() *dns.DS { return k.record.ToDS(dns.SHA256) }

// PrivateText gives the private half as it stands in a file of BIND's form. It is a secret.
func (k SigningKey) PrivateText() string {
	private := crypto.PrivateKey(k.private())
	if s, ok := private.(steady); ok {
		private = s.PrivateKey
	}
	return k.record.PrivateKeyString(private)
}

// Tag is the key's number in its signatures.
func (k SigningKey) Tag() uint16 { return k.record.KeyTag() }

// Format writes the key's name for every verb, never its private half.
func (k SigningKey) Format(f fmt.State, _ rune) {
	if k.record == nil {
		_, _ = io.WriteString(f, "no key") // the state keeps its error
		return
	}
	_, _ = fmt.Fprintf(f, "key %d of %s (%s)", k.Tag(), k.record.Hdr.Name, dns.AlgorithmToString[k.record.Algorithm])
}

// MarshalText gives what Format writes, for JSON and logs.
func (k SigningKey) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%v", k), nil }

// blank is a signature of the key that is still to be made.
func (k SigningKey) blank(zone string) *dns.RRSIG {
	return &dns.RRSIG{Algorithm: k.record.Algorithm, KeyTag: k.record.KeyTag(), SignerName: zone}
}
