package routersim

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is one line of /ip/dns/static. Its fields are as a print gives them; those
// that are false or empty are not there.
type row struct {
	id      uint64
	fields  map[string]string
	dynamic bool
	key     string // of keyOf
}

// Record is a row as somebody at the router sees it.
type Record struct {
	// ID is "*1F".
	ID string
	// Fields as a print gives them, without the ID.
	Fields map[string]string
}

// values are the fields that each type has of its own.
var values = map[string][]string{
	"A": {"address"}, "AAAA": {"address"}, "CNAME": {"cname"}, "NS": {"ns"}, "TXT": {"text"},
	"MX":  {"mx-exchange", "mx-preference"},
	"SRV": {"srv-port", "srv-priority", "srv-target", "srv-weight"},
	"FWD": {"forward-to"}, "NXDOMAIN": {},
}

// order is that of a print.
var order = []string{
	".id", "name", "regexp", "type", "address", "cname", "ns", "text", "forward-to", "mx-exchange", "mx-preference",
	"srv-port", "srv-priority", "srv-target", "srv-weight", "ttl", "match-subdomain", "address-list", "comment", "disabled", "dynamic",
}

func formatID(id uint64) string { return "*" + strings.ToUpper(strconv.FormatUint(id, 16)) }

func parseID(s string) (uint64, bool) {
	id, err := strconv.ParseUint(strings.TrimPrefix(s, "*"), 16, 64)
	return id, err == nil && strings.HasPrefix(s, "*")
}

func (r *row) kind() string {
	if t := r.fields["type"]; t != "" {
		return t
	}
	return "A"
}

func (r *row) enabled() bool { return r.fields["disabled"] != "true" }

// keyOf is what no two enabled rows share: the name with its letters as they are,
// the type and the whole value. TTL, comment and match-subdomain are no part of
// it.
func keyOf(r *row) string {
	parts := []string{r.fields["name"], r.fields["regexp"], r.kind()}
	for _, f := range values[r.kind()] {
		parts = append(parts, r.fields[f])
	}
	return strings.Join(parts, "\x00")
}

// show gives the row as a print of that version does.
func (r *row) show(p profile) map[string]string {
	out := maps.Clone(r.fields)
	out[".id"] = formatID(r.id)
	out["dynamic"] = strconv.FormatBool(r.dynamic)
	if !p.types || !p.showTypeA && out["type"] == "A" {
		delete(out, "type")
	}
	return out
}

// knows says whether a version takes an argument.
func (p profile) knows(arg string) bool {
	switch arg {
	case "name", "address", "ttl", "comment", "disabled", "regexp":
		return true
	case "match-subdomain", "address-list":
		return p.matchSub
	case ".id", "dynamic":
		return false
	default:
		return p.types && slices.Contains(order, arg)
	}
}

// with gives the row that arguments make of another (nil for a new one), or the
// router's message.
func (r *row) with(args []pair, p profile) (*row, string) {
	next := &row{fields: map[string]string{"type": "A", "ttl": "1d", "disabled": "false"}}
	if r != nil {
		next = &row{id: r.id, fields: maps.Clone(r.fields), dynamic: r.dynamic}
	}
	for _, a := range args {
		if !p.knows(a.key) {
			return nil, "unknown parameter " + a.key
		}
		if why := next.put(a.key, a.value, r == nil); why != "" {
			return nil, why
		}
	}
	why := next.check()
	next.key = keyOf(next)
	return next, why
}

// put sets one field to what was typed, in the form that is kept.
func (r *row) put(key, value string, fresh bool) string {
	set := func(v string) { r.fields[key] = v }
	switch key {
	case "name":
		set(strings.TrimSuffix(value, "."))
	case "type":
		if _, ok := values[value]; !ok {
			return "input does not match any value of type"
		}
		if !fresh && value != r.kind() {
			return "invalid value for argument address"
		}
		set(value)
	case "address":
		addr, err := netip.ParseAddr(value)
		if err != nil || addr.Zone() != "" {
			return "invalid value for argument address:\n    invalid value of mac-address, mac address required\n    invalid value for argument ipv6-address\n    invalid value for argument ip-address"
		}
		set(addr.String())
	case "ttl":
		ttl, ok := parseTTL(value)
		if !ok {
			return "invalid value for argument ttl"
		}
		set(formatTTL(ttl))
	case "disabled", "match-subdomain":
		on := value == "yes" || value == "true"
		if !on && value != "no" && value != "false" {
			return fmt.Sprintf("input does not match any value of %s", key)
		}
		set(strconv.FormatBool(on))
	case "regexp":
		// A star that repeats nothing stands for itself in the older syntax.
		if _, err := regexp.Compile(strings.TrimLeft(value, "*")); err != nil || value == "" && fresh {
			return "failure: expected regexp value"
		}
		set(value)
	case "cname", "srv-target":
		if strings.HasSuffix(value, ".") {
			return "failure: bad " + strings.ToUpper(strings.TrimSuffix(key, "-target")) + " data"
		}
		set(value)
	default:
		set(value)
	}
	return ""
}

// check looks at the whole row, and drops what its type does not have.
func (r *row) check() string {
	if r.fields["name"] != "" && r.fields["regexp"] != "" {
		return "failure: only name or regexp allowed"
	}
	if r.fields["name"] == "" && r.fields["regexp"] == "" {
		return "failure: name or regexp must be specified"
	}
	if r.kind() == "A" && strings.Contains(r.fields["address"], ":") {
		r.fields["type"] = "AAAA" // as versions without types have it
	}
	own := values[r.kind()]
	for t, fields := range values {
		for _, f := range fields {
			if t != r.kind() && !slices.Contains(own, f) {
				delete(r.fields, f)
			}
		}
	}
	for _, f := range own {
		if r.fields[f] != "" {
			continue
		}
		if f == "address" {
			return "failure: bad address"
		}
		if f == "cname" || f == "forward-to" || f == "ns" || f == "text" || f == "mx-exchange" || f == "srv-target" {
			return "failure: bad " + r.kind() + " data"
		}
	}
	if r.kind() == "AAAA" && !strings.Contains(r.fields["address"], ":") {
		return "invalid value for argument address"
	}
	for _, f := range []string{"name", "regexp", "comment", "address-list", "match-subdomain"} {
		if v := r.fields[f]; v == "" || v == "false" {
			delete(r.fields, f)
		}
	}
	return ""
}
