package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/miekg/dns"
)

// name is what people call a site, a node, a pool, a probe or an instance:
// something that can be typed in a command and told apart in an event.
type name string

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func (n *name) form() form {
	return form{name: "name", pattern: `^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}$`, number: true}
}

func (n *name) UnmarshalText(text []byte) error {
	s := string(text)
	switch {
	case s == "" || len(s) > 63:
		return expected("a name of 1 to 63 characters")
	case strings.Trim(s, nameChars) != "" || strings.HasPrefix(s, "-"):
		return expected("a name of letters, digits, \"-\", \"_\" and \".\"")
	}
	*n = name(s)
	return nil
}

// host is a host's full name, in lower case and without the final dot.
type host string

func (h *host) form() form { return form{name: "host name", pattern: `^[A-Za-z0-9_.-]+$`} }

func (h *host) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.TrimSuffix(string(text), "."))
	*h = host(s)
	return checkHost(s, false)
}

// hosts is a host's name or a wildcard, in lower case and without the final
// dot.
type hosts string

func (h *hosts) form() form {
	return form{name: "host name or wildcard", pattern: `^(\*\.)?[A-Za-z0-9_.-]+$`}
}

func (h *hosts) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.TrimSuffix(string(text), "."))
	*h = hosts(s)
	return checkHost(s, true)
}

// domain is a zone's name, in lower case and without the final dot: not only what
// hosts are called, as in 64/26.2.0.192.in-addr.arpa (RFC 2317).
type domain string

func (d *domain) form() form { return form{name: "zone name", pattern: `^[A-Za-z0-9_./*-]+$`} }

func (d *domain) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.TrimSuffix(string(text), "."))
	*d = domain(s)
	if s == "" || len(s) > maxName {
		return expected(fmt.Sprintf("a zone's name of 1 to %d characters", maxName))
	}
	for i, label := range strings.Split(s, ".") {
		switch {
		case label == "*" && i == 0: // RFC 4592 section 4.1 has no zone that does what one would expect
			return expected("a name without a wildcard in front: it is a record of the zone above it")
		case label == "":
			return expected("a zone's name without an empty label between two dots")
		case len(label) > maxLabel:
			return expected(fmt.Sprintf("labels of at most %d characters", maxLabel))
		case strings.Trim(label, nameChars+"/*") != "":
			return expected("a zone's name of ASCII letters, digits, \"-\", \"_\", \"/\" and \"*\"; others in their IDNA form, xn--…")
		}
	}
	return nil
}

// Limits of a name (RFC 1035, section 2.3.4), without the final dot.
const (
	maxName  = 253
	maxLabel = 63
)

// checkHost refuses a name that DNS could not carry, or that no host has.
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
			case c > unicode.MaxASCII:
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

// mailbox is a mail address in the form of an SOA record: a name with the
// final dot (RFC 1035, section 3.3.13).
type mailbox string

func (m *mailbox) form() form { return form{name: "mail address", pattern: `^[^@]+@[A-Za-z0-9_.-]+$`} }

func (m *mailbox) UnmarshalText(text []byte) error {
	const chars = nameChars + "!#$%&'*+/=?^`{|}~"
	local, domain, ok := strings.Cut(string(text), "@")
	domain = strings.ToLower(domain)
	if !ok || local == "" || len(local) > maxLabel || strings.Trim(local, chars) != "" || checkHost(domain, false) != nil {
		return expected("a mail address such as admin@example.lan")
	}
	*m = mailbox(strings.ReplaceAll(local, ".", `\.`) + "." + dns.Fqdn(domain))
	return nil
}

// urlTemplate is an HTTP URL with {address} in it, or without.
type urlTemplate string

func (u *urlTemplate) form() form { return form{name: "URL", pattern: `^https?://`} }

func (u *urlTemplate) UnmarshalText(text []byte) error {
	const example = "a URL such as https://{address}/healthz"
	*u = urlTemplate(text)
	parsed, err := url.Parse(strings.ReplaceAll(string(text), "{address}", "192.0.2.1"))
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		return expected(example)
	case strings.ContainsAny(parsed.Host, "{}") || strings.Contains(parsed.Path, "{addr"):
		return expected(example + ": {address} is all that is replaced")
	case parsed.User != nil:
		// The URL is not quoted: there may be a password in it.
		return errors.New("a user stands in this URL, expected none: give the header Authorization under headers")
	}
	return nil
}

// method is an HTTP method.
type method string

func (m *method) form() form { return form{name: "HTTP method", pattern: `^[A-Z-]+$`} }

func (m *method) UnmarshalText(text []byte) error {
	*m = method(text)
	if len(text) == 0 || strings.Trim(string(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return expected("an HTTP method such as GET or HEAD")
	}
	return nil
}

// virtualHost is a host name with or without a port.
type virtualHost string

func (h *virtualHost) form() form {
	return form{name: "host name", pattern: `^[A-Za-z0-9_.-]+(:[0-9]+)?$`}
}

func (h *virtualHost) UnmarshalText(text []byte) error {
	*h = virtualHost(text)
	bare, port, found := strings.Cut(string(text), ":")
	if found && (port == "" || strings.Trim(port, "0123456789") != "") || checkHost(strings.ToLower(bare), false) != nil {
		return expected("a host name such as app.example.lan")
	}
	return nil
}

// headerValue is the value of an HTTP header.
type headerValue string

func (v *headerValue) form() form { return form{name: "text"} }

func (v *headerValue) UnmarshalText(text []byte) error {
	*v = headerValue(text)
	if strings.ContainsFunc(string(text), unicode.IsControl) {
		return expected("a value without control characters")
	}
	return nil
}

// inside says whether a name is the zone's apex or lies below it.
func inside(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}
