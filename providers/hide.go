package providers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strings"
)

// shortSecret is the length up to which a secret is not looked for in texts: to hide
// it everywhere would make them unreadable.
const shortSecret = 3

// Hide gives what a device has said without secrets that it was sent: one that refuses
// something may quote it. Texts are to be cut after this, not before.
func Hide(text string, secrets ...Secret) string {
	var secret []bool // the octets of the text that are of one
	for _, s := range secrets {
		plain := s.Reveal()
		if len(plain) <= shortSecret {
			continue
		}
		for _, form := range forms(plain) {
			for from := 0; ; {
				i := strings.Index(text[from:], form)
				if i < 0 {
					break
				}
				if secret == nil {
					secret = make([]bool, len(text))
				}
				for j := range len(form) {
					secret[from+i+j] = true
				}
				from += i + 1 // it may overlap itself
			}
		}
	}
	if secret == nil {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			b.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			b.WriteString(hidden)
		}
	}
	return b.String()
}

// HideIn is Hide for an error, which remains what it is.
func HideIn(err error, secrets ...Secret) error {
	if err == nil {
		return nil
	}
	if text := Hide(err.Error(), secrets...); text != err.Error() {
		return &hiding{text, err}
	}
	return err
}

// hiding is an error in other words.
type hiding struct {
	text string
	err  error
}

func (h *hiding) Error() string { return h.text }
func (h *hiding) Unwrap() error { return h.err }

// forms are the ways in which a secret may be quoted.
func forms(plain string) []string {
	query, path := url.QueryEscape(plain), url.PathEscape(plain)
	list := []string{
		plain, query, path, lowerHex(query), lowerHex(path), html.EscapeString(plain),
		base64.StdEncoding.EncodeToString([]byte(plain)), base64.RawStdEncoding.EncodeToString([]byte(plain)),
		base64.RawURLEncoding.EncodeToString([]byte(plain)),
	}
	for _, escapes := range []bool{true, false} { // <, > and &, as not all do
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escapes)
		if e.Encode(plain) == nil {
			list = append(list, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`))
		}
	}
	return list
}

// lowerHex writes the digits behind each percent sign in lower case.
func lowerHex(escaped string) string {
	text := []byte(escaped)
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' {
			copy(text[i+1:], bytes.ToLower(text[i+1:i+3]))
			i += 2
		}
	}
	return string(text)
}
