package dnsserver

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"net/netip"
)

// Secret is octets that two servers share. It prints as <secret>, whatever the
// verb and the encoding.
type Secret []byte

const hidden = "<secret>"

// String is "<secret>".
func (Secret) String() string { return hidden }

// Format writes "<secret>" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) } // the state keeps its error

// MarshalText gives "<secret>", for JSON and logs.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Algorithm is one of TSIG (RFC 8945 section 6).
type Algorithm string

// The algorithms that are known.
const (
	HMACSHA256 Algorithm = "hmac-sha256"
	HMACSHA512 Algorithm = "hmac-sha512"
)

// Key is one that messages are signed with (TSIG, RFC 8945). Both sides know it
// by its name.
type Key struct {
	Name      string
	Algorithm Algorithm
	Secret    Secret
}

// Transfer says who may take a zone as a whole (AXFR, RFC 5936) and its changes
// (IXFR, RFC 1995).
type Transfer struct {
	// Allow lists the addresses that may.
	Allow []netip.Prefix
	// Keys names those of [Config.Keys], one of which must have signed the
	// request. Without any, the address is enough.
	Keys []string
	// Site is the one whose answers secondaries get; "" gets what clients of no
	// site get.
	Site string
}

// Secondary is a server that is told of changes (NOTIFY, RFC 1996).
type Secondary struct {
	Addr netip.AddrPort
	// Key names the one of [Config.Keys] that signs; "" signs nothing.
	Key string
}

// tsigKey is a key, ready for use.
type tsigKey struct {
	name      string // lower-cased wire form
	algorithm string // likewise
	secret    Secret
	hash      func() hash.Hash
	size      int // octets of a MAC
}

// newKey checks a key.
func newKey(k *Key) (*tsigKey, error) {
	name, err := wireName(k.Name)
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", k.Name, err)
	}
	out := &tsigKey{name: name, secret: k.Secret}
	switch k.Algorithm {
	case HMACSHA256:
		out.hash, out.size = sha256.New, sha256.Size
	case HMACSHA512:
		out.hash, out.size = sha512.New, sha512.Size
	default:
		return nil, fmt.Errorf("algorithm %q is not known: use %s or %s", k.Algorithm, HMACSHA256, HMACSHA512)
	}
	if out.algorithm, err = wireName(string(k.Algorithm)); err != nil {
		return nil, err
	}
	if len(k.Secret) == 0 {
		return nil, errors.New("the secret is empty")
	}
	return out, nil
}

// same says whether two keys sign alike; nil is for none.
func (k *tsigKey) same(o *tsigKey) bool {
	if k == nil || o == nil {
		return k == o
	}
	return k.name == o.name && k.algorithm == o.algorithm && bytes.Equal(k.secret, o.secret)
}

// mac begins a MAC.
func (k *tsigKey) mac() hash.Hash { return hmac.New(k.hash, k.secret) }

// room is how many octets a signature by this key takes, the time of a BADTIME
// answer included.
func (k *tsigKey) room() int {
	return len(k.name) + rrFixed - 2 + len(k.algorithm) + tsigFixed + k.size + timeLen
}
