package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// What a new password hash costs: 19 MiB and two passes, some 20 ms of one
// processor. It is bounded by what a small machine can bear while it also
// answers DNS.
const (
	argonMemory = 19 << 10 // KiB
	argonPasses = 2
	argonLanes  = 1
	saltLen     = 16
	argonKeyLen = 32
)

// What a hash from elsewhere may cost at most, so that nobody's login takes the
// machine.
const (
	maxMemory     = 128 << 10 // KiB
	maxPasses     = 10
	maxLanes      = 8
	maxBcryptCost = 13
)

// Lengths of passwords in bytes. bcrypt takes no more than 72.
const (
	MinPassword = 8
	MaxPassword = 256
	bcryptMax   = 72
)

// PasswordHash is the hash of a password. The zero value is that of none.
type PasswordHash struct {
	text           string
	memory, passes uint32
	lanes          uint8
	salt, key      []byte
	bcrypt         []byte
}

// Format writes "<secret>" for every verb.
func (PasswordHash) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

// MarshalText writes "<secret>".
func (PasswordHash) MarshalText() ([]byte, error) { return []byte("<secret>"), nil }

// Reveal gives the hash as it is written in a configuration.
func (h PasswordHash) Reveal() string { return h.text }

// HashPassword makes the hash of a password. Too short and too long ones are
// errors.
func HashPassword(password []byte) (PasswordHash, error) {
	switch {
	case len(password) < MinPassword:
		return PasswordHash{}, fmt.Errorf("the password has %d bytes, expected at least %d", len(password), MinPassword)
	case len(password) > MaxPassword:
		return PasswordHash{}, fmt.Errorf("the password has %d bytes, expected at most %d", len(password), MaxPassword)
	}
	salt := make([]byte, saltLen)
	_, _ = rand.Read(salt) // it does not fail
	key := argon2.IDKey(password, salt, argonPasses, argonMemory, argonLanes, argonKeyLen)
	b64 := base64.RawStdEncoding.EncodeToString
	return ParsePasswordHash(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, argonMemory, argonPasses, argonLanes, b64(salt), b64(key)))
}

// errHash does not quote what it was given.
var errHash = errors.New("this is no hash of a password, expected one such as `dnsteer hash-password` prints (argon2id; bcrypt is taken too)")

// ParsePasswordHash reads a hash of argon2id or bcrypt. One that would cost too
// much is an error.
func ParsePasswordHash(text string) (PasswordHash, error) {
	h := PasswordHash{text: text}
	if strings.HasPrefix(text, "$2") {
		cost, err := bcrypt.Cost([]byte(text))
		switch {
		case err != nil:
			return PasswordHash{}, errHash
		case cost > maxBcryptCost:
			return PasswordHash{}, fmt.Errorf("the hash has the cost %d, expected at most %d: each login would take seconds", cost, maxBcryptCost)
		}
		h.bcrypt = []byte(text)
		return h, nil
	}
	if !h.argon(text) {
		return PasswordHash{}, errHash
	}
	if h.memory > maxMemory || h.passes > maxPasses || h.lanes > maxLanes {
		return PasswordHash{}, fmt.Errorf("the hash costs %d KiB, %d passes and %d lanes, expected at most %d, %d and %d",
			h.memory, h.passes, h.lanes, maxMemory, maxPasses, maxLanes)
	}
	return h, nil
}

// argon reads $argon2id$v=19$m=…,t=…,p=…$salt$key and says whether it is that.
func (h *PasswordHash) argon(text string) bool {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false
	}
	version := 0
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &h.memory, &h.passes, &h.lanes); err != nil || version != argon2.Version {
		return false
	}
	var badSalt, badKey error
	h.salt, badSalt = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.key, badKey = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	return badSalt == nil && badKey == nil && len(h.salt) >= 8 && len(h.salt) <= 64 && len(h.key) >= 16 && len(h.key) <= 64 &&
		h.memory > 0 && h.passes > 0 && h.lanes > 0
}

// verify says whether it is the hash of the password. It costs what the hash
// says.
func (h *PasswordHash) verify(password []byte) bool {
	if len(password) > MaxPassword {
		return false
	}
	if h.bcrypt != nil {
		return len(password) <= bcryptMax && bcrypt.CompareHashAndPassword(h.bcrypt, password) == nil
	}
	got := argon2.IDKey(password, h.salt, h.passes, h.memory, h.lanes, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(got, h.key) == 1
}
