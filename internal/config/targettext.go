package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// hiding is a scalar type whose values are never quoted.
type hiding interface{ hides() }

// password is a secret as people write it. Faults do not quote it, and it
// prints as <secret>.
type password string

func (*password) hides() {}

func (p *password) form() form { return form{name: "text", number: true} }

// Format writes "<secret>" for every verb.
func (password) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

func (p *password) UnmarshalText(text []byte) error {
	*p = password(text)
	if len(text) == 0 || strings.ContainsFunc(string(text), unicode.IsControl) {
		return errors.New("this is no password, expected a text without control characters")
	}
	return nil
}

// share is a percentage up to all.
type share int

func (s *share) form() form { return form{name: "percentage", pattern: `^([1-9][0-9]?|100) ?%$`} }

func (s *share) UnmarshalText(text []byte) error {
	digits, ok := strings.CutSuffix(string(text), "%")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	switch {
	case err != nil || n < 1 || n > 100:
		return expected("a percentage from 1% to 100%")
	case !ok:
		return expected("a percentage with its sign: write " + strconv.Itoa(n) + "%")
	}
	*s = share(n)
	return nil
}

// machine is an address or a host name, with the port that was written, 0 for
// none.
type machine struct {
	host string
	port uint16
}

func (m machine) String() string { return net.JoinHostPort(m.host, strconv.Itoa(int(m.port))) }

const machinePattern = `^[A-Za-z0-9_.:\[\]-]+$`

func parseMachine(text, example string) (machine, error) {
	if a, err := parseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return machine{host: a.String()}, nil
	} else if _, isAddr := netip.ParseAddr(text); isAddr == nil {
		return machine{}, err
	}
	host, port, err := net.SplitHostPort(text)
	var m machine
	if err != nil {
		m.host = text
	} else {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return m, expected("a port from 1 to 65535")
		}
		m = machine{host, uint16(n)}
		if a, err := netip.ParseAddr(host); err == nil {
			_, err = parseAddr(host)
			m.host = a.String()
			return m, err
		}
	}
	m.host = strings.ToLower(strings.TrimSuffix(m.host, "."))
	if checkHost(m.host, false) != nil || strings.Trim(m.host, "0123456789.") == "" {
		return m, expected(example)
	}
	return m, nil
}

// apiAddress is where a router's API is.
type apiAddress struct{ machine }

func (a *apiAddress) form() form { return form{name: "address[:port]", pattern: machinePattern} }

func (a *apiAddress) UnmarshalText(text []byte) (err error) {
	a.machine, err = parseMachine(string(text), "an address or a host name such as 10.1.0.1 or router.lan:8729")
	return err
}

// updateAddress is where a zone's primary server is.
type updateAddress struct{ machine }

func (a *updateAddress) form() form { return form{name: "address[:port]", pattern: machinePattern} }

func (a *updateAddress) UnmarshalText(text []byte) (err error) {
	a.machine, err = parseMachine(string(text), "an address or a host name such as 10.3.0.1 or ns1.example.lan:53")
	if a.port == 0 {
		a.port = 53
	}
	return err
}

// baseURL is where a server's pages are, without the final slash.
type baseURL string

func (u *baseURL) form() form { return form{name: "URL", pattern: `^https?://`} }

func (u *baseURL) UnmarshalText(text []byte) error {
	s := strings.TrimRight(string(text), "/")
	*u = baseURL(s)
	parsed, err := url.Parse(s)
	switch {
	case err == nil && parsed.User != nil:
		// The URL is not quoted: there may be a password in it.
		*u = ""
		return errors.New("a user stands in this URL, expected none: use the keys username and password_file")
	case err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		return expected("a URL such as https://10.2.0.1")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return expected("a URL without \"?\" and \"#\"")
	case strings.HasSuffix(parsed.Path, "/control"):
		return expected("the URL of its pages: without /control")
	}
	return nil
}

// plainURL says whether a URL is one without TLS.
func plainURL(u string) bool { return strings.HasPrefix(u, "http://") }

// hostOf gives the host of a URL that was checked.
func hostOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}
