package config

import (
	"fmt"
	"strings"
)

// Limits of a name (RFC 1035, section 2.3.4), without the final dot.
const (
	maxName  = 253
	maxLabel = 63
)

// hostName gives a host in lower case without the final dot and refuses one
// that DNS could not carry. A wildcard is allowed where the caller says so.
func (b *builder) hostName(v Value[string], wildcard bool) string {
	host := strings.ToLower(strings.TrimSuffix(v.V, "."))
	if err := checkHost(host, wildcard); err != nil {
		b.fault(v.At, "found %q, %s", clip(v.V), err)
	}
	return host
}

func checkHost(host string, wildcard bool) error {
	labels := strings.Split(host, ".")
	if host == "" || len(host) > maxName {
		return expected(fmt.Sprintf("a host name of 1 to %d characters", maxName))
	}
	for i, label := range labels {
		switch {
		case label == "*" && i == 0 && wildcard && len(labels) > 1:
			continue
		case strings.Contains(label, "*") && !wildcard:
			return expected("a name without a wildcard")
		case strings.Contains(label, "*"):
			return expected("a wildcard as the whole leftmost label, such as *.apps.example.lan")
		case label == "":
			return expected("a host name without an empty label between two dots")
		case len(label) > maxLabel:
			return expected(fmt.Sprintf("labels of at most %d characters", maxLabel))
		}
		for _, c := range label {
			switch {
			case c > 127:
				return expected("ASCII letters: write the name in its IDNA form, xn--…")
			case !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", c):
				return expected("a host name of letters, digits, \"-\" and \"_\"")
			}
		}
		if strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return expected("labels that neither begin nor end with \"-\"")
		}
	}
	return nil
}

// inside says whether a name is the zone's apex or lies below it.
func inside(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}
