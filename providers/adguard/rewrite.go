package adguard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/dnsteer/dnsteer/providers"
)

// rewrite is a rewrite as it is listed: the server knows it by its text alone.
type rewrite struct {
	Domain string `json:"domain"`
	Answer string `json:"answer"`
}

// row is a rewrite with its switch.
type row struct {
	rewrite
	// off: it is there and is not answered.
	off bool
}

// parseRows reads the list of rewrites. What is no whole list is an error: an
// empty one would have everything added again.
func parseRows(data []byte) ([]row, error) {
	var raw []struct {
		Domain  *string `json:"domain"`
		Answer  *string `json:"answer"`
		Enabled *bool   `json:"enabled"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("decode the list of rewrites: %w", err)
	}
	if raw == nil {
		return nil, errors.New("decode the list of rewrites: there is none in the answer")
	}
	rows := make([]row, 0, len(raw))
	for i, r := range raw {
		if r.Domain == nil || r.Answer == nil {
			return nil, fmt.Errorf("decode the list of rewrites: number %d has no domain or no answer", i+1)
		}
		rows = append(rows, row{rewrite{*r.Domain, *r.Answer}, r.Enabled != nil && !*r.Enabled})
	}
	return rows, nil
}

// name is the rewrite's domain as a record has it.
func (r rewrite) name() string { return strings.ToLower(r.Domain) }

// addr is its address; false for a CNAME and for what sends a type upstream. An
// IPv4 address in IPv6 form counts as IPv6 there.
func (r rewrite) addr() (netip.Addr, bool) {
	a, err := netip.ParseAddr(r.Answer)
	return a, err == nil
}

// id names the rewrite, as it was listed.
func (r rewrite) id() string { return r.Domain + "\n" + r.Answer }

func (r rewrite) text() string { return fmt.Sprintf("rewrite %s → %s", r.Domain, r.Answer) }

// parseID gives the rewrite back that an entry was made of.
func parseID(id string) (rewrite, error) {
	domain, answer, ok := strings.Cut(id, "\n")
	if !ok {
		return rewrite{}, errors.New("the entry is not of this server")
	}
	return rewrite{domain, answer}, nil
}

// entry makes an entry of a rewrite that has an address.
func (r row) entry(addr netip.Addr) providers.Entry {
	e := providers.Entry{Record: providers.Record{Name: r.name(), Addr: addr}, ID: r.id(), Disabled: r.off, Text: r.text()}
	if r.off {
		e.Text += " (disabled)"
	}
	return e
}

// of makes a rewrite of a record.
func of(r providers.Record) rewrite { return rewrite{r.Name, r.Addr.String()} }
