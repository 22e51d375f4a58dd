package config

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode"
)

// secretText is a secret in base64. Faults do not quote it, and it prints as
// <secret>.
type secretText []byte

func (s *secretText) form() form { return form{name: "secret", pattern: `^[A-Za-z0-9+/]+=*$`} }

func (*secretText) hides() {}

// Format writes "<secret>" for every verb.
func (secretText) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

func (s *secretText) UnmarshalText(text []byte) error {
	out, err := base64.StdEncoding.DecodeString(string(bytes.TrimFunc(text, unicode.IsSpace)))
	if err != nil || len(out) == 0 {
		return errors.New("this is not a secret in base64, expected one such as \"openssl rand -base64 32\" makes")
	}
	*s = out
	return nil
}

// shown is text that clients of the server may see in one record.
type shown string

func (s *shown) form() form { return form{name: "text", pattern: `^[ -~]{1,255}$`} }

func (s *shown) UnmarshalText(text []byte) error {
	*s = shown(text)
	if len(text) == 0 || len(text) > 255 || bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return expected("1 to 255 printable ASCII characters")
	}
	return nil
}
