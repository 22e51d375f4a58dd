package providers

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// shortSecret is the length up to which a secret is not looked for in texts: to hide
// it everywhere would make them unreadable.
const shortSecret = 3

// Hide gives what a device has said without secrets that it was sent: one that refuses
// something may quote it. Texts are to be cut after this, not before.
func Hide(text string, secrets ...Secret) string {
	for _, s := range secrets {
		plain := s.Reveal()
		if len(plain) <= shortSecret {
			continue
		}
		for _, form := range forms(plain) {
			text = strings.ReplaceAll(text, form, hidden)
		}
	}
	return text
}

// forms are the ways in which a secret may be quoted.
func forms(plain string) []string {
	list := []string{plain, url.QueryEscape(plain), url.PathEscape(plain), base64.StdEncoding.EncodeToString([]byte(plain))}
	if quoted, err := json.Marshal(plain); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	return list
}
