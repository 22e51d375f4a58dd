package adguard

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// ttlKey is the setting that gives all rewrites, and blocked names, their TTL.
const ttlKey = "blocked_response_ttl"

// The versions that let anybody in who asks for an upgrade to HTTP/2 without TLS
// (CVE-2026-32136): from bypassFirst, mended in bypassMended.
const (
	bypassFirst  = 14
	bypassMended = 73
)

// Inspect reads the version, the switches and the TTL. It changes nothing.
func (p *Provider) Inspect(ctx context.Context) (providers.Inspection, error) {
	var status struct {
		Version    string   `json:"version"`
		Addresses  []string `json:"dns_addresses"`
		Port       uint16   `json:"dns_port"`
		Running    *bool    `json:"running"`
		Protection *bool    `json:"protection_enabled"`
	}
	if err := p.get(ctx, "/status", &status); err != nil {
		return providers.Inspection{}, err
	}
	in := providers.Inspection{Product: "AdGuard Home " + status.Version, DNS: addresses(status.Addresses, status.Port)}
	find := func(s sites.Severity, format string, args ...any) {
		in.Findings = append(in.Findings, providers.Finding{Severity: s, Text: fmt.Sprintf(format, args...)})
	}
	if status.Running != nil && !*status.Running {
		find(sites.Critical, "its DNS server is not running: start it, or look at its log")
	}
	if status.Protection != nil && !*status.Protection {
		find(sites.Info, "its protection is switched off; rewrites are answered all the same")
	}
	if bypass(status.Version) {
		find(sites.Warning, "%s lets in whoever asks for an upgrade to HTTP/2 without TLS, with no password (CVE-2026-32136): everybody who reaches its web interface can change the records; update it to v0.107.%d or later", in.Product, bypassMended)
	}
	if err := p.inspectSwitches(ctx, find); err != nil {
		return in, err
	}
	ttl, err := p.ttl(ctx)
	if err != nil {
		return in, err
	}
	in.TTL = ttl
	if want := p.cfg.TTL; want > 0 && ttl > want && !p.cfg.ManageTTL {
		find(sites.Warning, "it gives all rewrites a TTL of %s, longer than the %s of a service: clients hold an old address for so long. Set %s there to %d, or manage_ttl: true here", ttl, want, ttlKey, int(want/time.Second))
	}
	rows, err := p.rows(ctx)
	if err != nil {
		return in, err
	}
	if text := doubles(rows); text != "" {
		find(sites.Info, "%s", text)
	}
	worst := []sites.Severity{sites.Critical, sites.Warning, sites.Info}
	slices.SortStableFunc(in.Findings, func(a, b providers.Finding) int {
		return slices.Index(worst, a.Severity) - slices.Index(worst, b.Severity)
	})
	return in, nil
}

func (p *Provider) inspectSwitches(ctx context.Context, find func(sites.Severity, string, ...any)) error {
	var filtering, rewrites struct {
		Enabled *bool `json:"enabled"`
	}
	if err := p.get(ctx, "/filtering/status", &filtering); err != nil {
		return err
	}
	if filtering.Enabled != nil && !*filtering.Enabled {
		find(sites.Critical, "\"Block domains using filters and hosts files\" (filtering_enabled) is switched off: no rewrite is answered; switch it on in its filter settings")
	}
	a, err := p.client.do(ctx, http.MethodGet, "/rewrite/settings", nil)
	if err != nil {
		return err
	}
	if a.status == http.StatusNotFound {
		return nil // before v0.107.68 there is no such switch
	}
	if err := a.json(&rewrites); err != nil {
		return fmt.Errorf("read the switch of rewrites: %w", err)
	}
	if rewrites.Enabled != nil && !*rewrites.Enabled {
		find(sites.Critical, "DNS rewrites are switched off (rewrites_enabled): none is answered; switch them on in its page of DNS rewrites")
	}
	return nil
}

func (p *Provider) get(ctx context.Context, path string, into any) error {
	a, err := p.client.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := a.json(into); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(path, "/"), err)
	}
	return nil
}

// ttl reads the TTL of all rewrites.
func (p *Provider) ttl(ctx context.Context) (time.Duration, error) {
	var info struct {
		TTL *uint32 `json:"blocked_response_ttl"`
	}
	if err := p.get(ctx, "/dns_info", &info); err != nil {
		return 0, err
	}
	if info.TTL == nil {
		return 0, permanent("dns_info: the answer has no %s", ttlKey)
	}
	return time.Duration(*info.TTL) * time.Second, nil
}

// bypass says whether a version lets anybody in.
func bypass(version string) bool {
	rest, ok := strings.CutPrefix(version, "v0.107.")
	if !ok {
		return false
	}
	rest, _, _ = strings.Cut(rest, "-")
	n, err := strconv.Atoi(rest)
	return err == nil && n >= bypassFirst && n < bypassMended
}

// addresses are those that it answers DNS on: "192.0.2.1", or with a port, or as
// the URL of an encrypted service, which is none of ours.
func addresses(texts []string, port uint16) (list []netip.AddrPort) {
	for _, text := range texts {
		at, err := netip.ParseAddrPort(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil || port == 0 {
				continue
			}
			at = netip.AddrPortFrom(addr, port)
		}
		if !at.Addr().IsUnspecified() && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// doubles tells of rewrites that are there more than once.
func doubles(rows []row) string {
	count := map[rewrite]int{}
	var names []string
	for _, r := range rows {
		if count[r.rewrite]++; count[r.rewrite] == 2 {
			names = append(names, fmt.Sprintf("%s → %s", r.Domain, r.Answer))
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names[:min(len(names), most)], ", ")
	return fmt.Sprintf("%d rewrites are there more than once, such as %s: the address is answered twice. They are left as they are, for deleting one deletes all", len(names), text)
}
