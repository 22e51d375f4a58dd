package app

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

// withKeys gives the DNS server's configuration with the keys of signed zones that
// are kept in the state folder. Those that are missing are made.
func withKeys(cfg *config.Config, log *slog.Logger) (*dnsserver.Config, error) {
	c := *cfg.DNS
	c.Zones = slices.Clone(c.Zones)
	for i := range c.Zones {
		z := &c.Zones[i]
		if z.DNSSEC == nil || len(z.DNSSEC.Keys) > 0 {
			continue
		}
		k, made, err := keyfile.Kept(cfg.KeyFolder(), z.Name, z.DNSSEC.Algorithm)
		if err != nil {
			return nil, fmt.Errorf("sign zone %s: %w", z.Name, err)
		}
		if made {
			log.Warn("a key was made to sign a zone: keep a copy of it, and have the parent zone take its DS record", "zone", z.Name, "folder", cfg.KeyFolder(), "ds", keyfile.DSText(k.DS()))
		}
		signing := *z.DNSSEC
		signing.Keys = []dnsserver.SigningKey{k}
		z.DNSSEC = &signing
	}
	return &c, nil
}
