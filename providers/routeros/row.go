package routeros

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// row is one line of /ip/dns/static with its fields as the router gives them, to
// the octet.
type row struct {
	id, name, regexp, kind, address, target, ttl, comment string
	disabled, dynamic, below                              bool // below: it stands for all names below its own, too
}

// fields are asked of the router; on the left its name for each.
const fields = "=.proplist=.id,name,regexp,type,address,cname,forward-to,ttl,comment,disabled,dynamic,match-subdomain"

// parseRow reads a row. What is missing is as the router means it: without a
// type it is A, or AAAA by its address.
func parseRow(m map[string]string) row {
	is := func(field string) bool { return m[field] == "true" || m[field] == "yes" }
	r := row{
		id: m[".id"], name: m["name"], regexp: m["regexp"], kind: strings.ToUpper(m["type"]), address: m["address"],
		target: m["cname"] + m["forward-to"], ttl: m["ttl"], comment: m["comment"],
		disabled: is("disabled"), dynamic: is("dynamic"), below: is("match-subdomain"),
	}
	if r.kind == "" {
		r.kind = "A"
		if strings.Contains(r.address, ":") {
			r.kind = "AAAA"
		}
	}
	return r
}

// canonical is a name in lower case without the final dot.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// addr is the row's address, if it is an A or AAAA row with one that fits.
func (r row) addr() (netip.Addr, bool) {
	a, err := netip.ParseAddr(r.address)
	fits := err == nil && a.Zone() == "" && (r.kind == "A" && a.Is4() || r.kind == "AAAA" && !a.Is4())
	return a, fits
}

// unknownTTL is that of a row whose own cannot be read, or that must be written
// anew: it is none that anybody wants.
const unknownTTL = -time.Second

func (r row) entry(name string, mark string) (providers.Entry, bool) {
	addr, ok := r.addr()
	if !ok {
		return providers.Entry{}, false
	}
	ttl, ok := parseTTL(r.ttl)
	if !ok {
		ttl = unknownTTL
	}
	return providers.Entry{
		Record: providers.Record{Name: name, Addr: addr, TTL: ttl},
		ID:     r.id, Marked: marked(r.comment, mark), Disabled: r.disabled, Fixed: r.dynamic, Text: r.String(),
	}, true
}

// String is the row for people: "*1F app.lan A 192.0.2.1 ttl=30s".
func (r row) String() string {
	var b strings.Builder
	name := r.name
	if r.regexp != "" {
		name = fmt.Sprintf("regexp=%q", r.regexp)
	}
	value := r.address + r.target
	fmt.Fprintf(&b, "%s %s %s %s ttl=%s", r.id, name, r.kind, value, r.ttl)
	if r.below {
		b.WriteString(" match-subdomain")
	}
	if r.disabled {
		b.WriteString(" disabled")
	}
	if r.dynamic {
		b.WriteString(" dynamic")
	}
	if r.comment != "" {
		fmt.Fprintf(&b, " comment=%q", r.comment)
	}
	return strings.ToValidUTF8(b.String(), "�")
}

// markOf is what stands at the beginning of the comment of all that is ours.
func markOf(instance string) string { return "managed-by=dnsteer/" + instance }

// marked says whether a comment begins with the mark; what people write after it
// is theirs.
func marked(comment, mark string) bool {
	rest, ok := strings.CutPrefix(comment, mark)
	if !ok || rest == "" {
		return ok
	}
	c := rest[0] // another instance's name may begin as ours does
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
	return !letter && !strings.ContainsRune("-_./", rune(c))
}

// remark puts the mark before what people wrote.
func remark(comment, mark string) string {
	if comment == "" {
		return mark
	}
	return mark + " " + comment
}
