package routeros

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// nobody is the ID of a row that no router has.
const nobody = "*FFFFFFFE"

// Inspect implements [providers.Provider]. What it says of AAAA records is about
// the names of the last listing.
func (p *Provider) Inspect(ctx context.Context) (providers.Inspection, error) {
	end, err := p.begin(ctx)
	if err != nil {
		return providers.Inspection{}, p.explain("inspect", err)
	}
	defer end()
	in, err := p.inspect(ctx)
	return in, p.explain("inspect", err)
}

func (p *Provider) inspect(ctx context.Context) (in providers.Inspection, err error) {
	start := time.Now()
	identity, err := p.single(ctx, "/system/identity", "name")
	if err != nil {
		return in, err
	}
	took := time.Since(start)
	v := p.session.version
	in.Product = "RouterOS"
	if v.text != "" {
		in.Product += " " + v.text
	}
	if name := strings.ToValidUTF8(identity["name"], "�"); name != "" {
		in.Product += fmt.Sprintf(" %q", name)
	}
	say := func(s sites.Severity, format string, args ...any) {
		in.Findings = append(in.Findings, providers.Finding{Severity: s, Text: fmt.Sprintf(format, args...)})
	}
	dns, err := p.single(ctx, "/ip/dns", "allow-remote-requests")
	if err != nil {
		return in, err
	}
	refused, err := p.mayWrite(ctx)
	if err != nil {
		return in, err
	}
	if refused != nil {
		say(sites.Critical, "the user %s may not write (%v): "+groupCommand, p.config.Username, refused, p.config.Username)
	}
	if on := dns["allow-remote-requests"]; on == "false" || on == "no" {
		say(sites.Critical, "the router answers no client: /ip dns set allow-remote-requests=yes")
	}
	if n := len(p.last.onlyA); n > 0 {
		names := strings.Join(p.last.onlyA[:min(n, 3)], ", ")
		if n > 3 {
			names += fmt.Sprintf(" and %d more", n-3)
		}
		say(sites.Warning, "AAAA queries for %s go upstream, as there are only A records: where the public zone has AAAA records, clients prefer those; give the nodes IPv6 addresses, or keep the names out of the public zone", names)
	}
	if !v.subdomains() {
		say(sites.Info, "wildcards are regular expressions before RouterOS 7.5, and are tried before single names")
	}
	say(sites.Info, "a request took %v; routers make about 150 changes at once and then 50 a second, so that 1,000 changed records take about 20 s", took.Round(time.Millisecond))
	return in, nil
}

// single reads fields of a menu with one row.
func (p *Provider) single(ctx context.Context, menu, fields string) (map[string]string, error) {
	reply, err := p.print(ctx, menu, "=.proplist="+fields)
	if err != nil || len(reply.Re) == 0 {
		return nil, err
	}
	return reply.Re[0].Map, nil
}

// mayWrite asks for a change of nothing in a row that is not there, and gives
// the router's refusal for want of rights. Users and their groups cannot be
// asked for: a user may be known to a RADIUS server alone.
func (p *Provider) mayWrite(ctx context.Context) (refused *trapError, err error) {
	err = p.write(ctx, table+"/set", "=.id="+nobody)
	if trap, ok := errors.AsType[*trapError](err); ok {
		if strings.Contains(strings.ToLower(trap.message), "permission") {
			return trap, nil
		}
		return nil, nil //nolint:nilnil // that there is no such row is what a router says to who may write
	}
	return nil, err
}
