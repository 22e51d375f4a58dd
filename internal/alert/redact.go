package alert

import (
	"net/url"
	"strings"
)

// shortSecret is the length up to which a part of a URL is no secret: to hide it
// everywhere would make errors unreadable.
const shortSecret = 4

// SecretsOf gives the parts of a URL that may be secret: all of it, its user and
// password, the parts of its path, and the values of its query.
func SecretsOf(s Secret) []Secret {
	list := []Secret{s}
	add := func(text string) {
		if len(text) <= shortSecret {
			return
		}
		list = append(list, Secret(text))
		if escaped := url.QueryEscape(text); escaped != text {
			list = append(list, Secret(escaped))
		}
		if escaped := url.PathEscape(text); escaped != text {
			list = append(list, Secret(escaped))
		}
	}
	u, err := url.Parse(s.Reveal())
	if err != nil {
		return list
	}
	if u.User != nil {
		add(u.User.Username())
		password, _ := u.User.Password()
		add(password)
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		add(part)
	}
	for _, values := range u.Query() {
		for _, v := range values {
			add(v)
		}
	}
	return list
}
