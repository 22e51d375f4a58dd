package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// TokenPrefix begins every token, so that searches for lost secrets find it.
const TokenPrefix = "dnst_"

// secretLen is how many random bytes tokens and sessions have.
const secretLen = 32

// hashPrefix begins a written hash of a token.
const hashPrefix = "sha256:"

// Token is what a program says to be let in.
type Token struct {
	Name string
	Role Role
	Hash SecretHash
	// Expires is when it ends; zero for never.
	Expires time.Time
}

// SecretHash is the SHA-256 of a secret that nobody can guess.
type SecretHash [sha256.Size]byte

// Format writes "<secret>" for every verb.
func (SecretHash) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

// MarshalText writes "<secret>".
func (SecretHash) MarshalText() ([]byte, error) { return []byte("<secret>"), nil }

// Reveal gives the hash as it is written in a configuration.
func (h SecretHash) Reveal() string { return hashPrefix + hex.EncodeToString(h[:]) }

// HashSecret gives the hash of a secret.
func HashSecret(secret string) SecretHash { return sha256.Sum256([]byte(secret)) }

// Is says whether it is the hash of a secret, in the same time for each.
func (h SecretHash) Is(secret string) bool {
	got := HashSecret(secret)
	return subtle.ConstantTimeCompare(got[:], h[:]) == 1
}

// NewToken makes a token's secret.
func NewToken() string { return TokenPrefix + random() }

// random gives a secret of secretLen bytes as text that URLs, headers and
// cookies take.
func random() string {
	b := make([]byte, secretLen)
	_, _ = rand.Read(b) // it does not fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseSecretHash reads a hash as [SecretHash.Reveal] writes it. The error does
// not quote what it was given.
func ParseSecretHash(text string) (h SecretHash, err error) {
	digits, ok := strings.CutPrefix(text, hashPrefix)
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != len(h) {
		return h, errors.New("this is no hash of a token, expected one such as `dnsteer token` prints (sha256: and 64 hexadecimal digits)")
	}
	return SecretHash(b), nil
}
