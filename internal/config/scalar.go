package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// expected is the error of a scalar's parser: it names what was expected.
type expected string

func (e expected) Error() string { return "expected " + string(e) }

// textual is a scalar type of this package: UnmarshalText gives an expected
// error, form describes it in the schema and in the reference.
type textual interface {
	UnmarshalText(text []byte) error
	form() form
}

// form describes how a scalar is written.
type form struct {
	name    string   // in the reference
	pattern string   // in the schema, "" for any text
	kind    string   // JSON type, "" means string
	number  bool     // may also be a whole number
	words   []string // permitted words beside it
}

var errNotScalar = errors.New("not a scalar type")

// parseScalar parses text into the plain type that dst points to.
func parseScalar(text string, dst any) error {
	var err error
	switch dst := dst.(type) {
	case *string:
		*dst = text
	case *bool:
		switch text {
		case "true", "false":
			*dst = text == "true"
		default:
			return expected("true or false")
		}
	case *int:
		if *dst, err = strconv.Atoi(text); err != nil {
			return expected("a whole number")
		}
	case *time.Duration:
		*dst, err = ParseDuration(text)
	case *time.Time:
		if *dst, err = time.Parse(time.RFC3339, text); err != nil {
			return expected("a time such as 2026-03-01T12:00:00Z")
		}
	case *netip.Addr:
		*dst, err = parseAddr(text)
	case *netip.Prefix:
		*dst, err = parsePrefix(text)
	case *netip.AddrPort:
		*dst, err = parseAddrPort(text)
	case interface{ UnmarshalText(text []byte) error }:
		err = dst.UnmarshalText([]byte(text))
	default:
		return errNotScalar
	}
	return err
}

// scalarForm describes a plain scalar type, given a pointer to it.
func scalarForm(ptr any) (form, bool) {
	switch v := ptr.(type) {
	case *string:
		return form{name: "text"}, true
	case *bool:
		return form{name: "true or false", kind: "boolean"}, true
	case *int:
		return form{name: "number", kind: "integer"}, true
	case *time.Duration:
		return form{name: "duration", pattern: `^([0-9]+(\.[0-9]+)?(d|h|m|s|ms|us|µs|ns))+$`}, true
	case *time.Time:
		return form{name: "time", pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T`}, true
	case *netip.Addr:
		return form{name: "address", pattern: `^[0-9a-fA-F.:]+$`}, true
	case *netip.Prefix:
		return form{name: "prefix", pattern: `^[0-9a-fA-F.:]+(/[0-9]+)?$`}, true
	case *netip.AddrPort:
		return form{name: "address:port", pattern: `^[0-9a-fA-F.:\[\]]+:[0-9]+$`}, true
	case textual:
		return v.form(), true
	}
	return form{}, false
}

// ParseDuration reads Go's durations with "d" for days of 24 hours: "90s",
// "1d12h". A bare number and a negative duration are refused.
func ParseDuration(text string) (time.Duration, error) {
	const (
		maxDays = 36500
		example = "a duration such as 30s, 5m or 1d"
		longest = "a duration of at most 36500d"
	)
	if n, err := strconv.Atoi(text); err == nil {
		return 0, expected(fmt.Sprintf("a duration with its unit: write %ds", max(n, -n)))
	}
	rest, total := text, time.Duration(0)
	if before, after, ok := strings.Cut(text, "d"); ok {
		days, err := strconv.ParseFloat(before, 64)
		switch {
		case err != nil || strings.Trim(before, "0123456789.") != "":
			return 0, expected(example)
		case days > maxDays:
			return 0, expected(longest)
		}
		total, rest = time.Duration(days*float64(24*time.Hour)), after
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	switch {
	case err != nil:
		return 0, expected(example)
	case d < 0:
		return 0, expected("a duration that is not negative")
	case total+d < 0 || total+d > maxDays*24*time.Hour:
		return 0, expected(longest)
	}
	return total + d, nil
}

// formatDuration writes a duration as people write it in a configuration:
// "5m", not "5m0s".
func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseAddr(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil && strings.Contains(text, "/"):
		return a, expected("a single address, without /length")
	case err != nil:
		return a, expected(`an IP address such as 10.1.0.11 or "fd00:1::11"`)
	case a.Zone() != "":
		return a, expected("an address without a zone: a zone such as %eth0 means something on one machine only")
	case a.Is4In6():
		return a, expected("an IPv4 address in its plain form: write " + a.Unmap().String())
	case a.IsUnspecified() || a.IsMulticast():
		return a, expected("the address of one machine")
	}
	return a, nil
}

// parsePrefix reads a prefix; an address alone is that address.
func parsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" && !a.Is4In6() {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || p.Addr().Is4In6():
		return p, expected(`a prefix such as 10.1.0.0/16 or "fd00:1::/48"`)
	case p != p.Masked():
		return p, expected("a prefix without bits behind its length: write " + p.Masked().String())
	}
	return p, nil
}

func parseAddrPort(text string) (netip.AddrPort, error) {
	ap, err := netip.ParseAddrPort(text)
	if err != nil || ap.Addr().Is4In6() {
		return ap, expected(`an address with a port such as 127.0.0.1:5353 or "[::1]:5353"`)
	}
	return ap, nil
}
