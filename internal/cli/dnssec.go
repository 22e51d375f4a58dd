package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

func (c *commands) dnssecCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dnssec",
		Short: "Show what a signed zone's parent must hold, and make keys",
		Long: `Zones with the key "dnssec" are signed. Validators believe them once the parent
zone holds their DS records.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.dsCommand(), c.keygenCommand())
	return cmd
}

// delegation is a DS record for a parent zone.
type delegation struct {
	Zone      string `json:"zone"`
	Tag       uint16 `json:"tag"`
	Algorithm string `json:"algorithm"`
	DS        string `json:"ds"`
}

func newDelegation(zone string, ds *dns.DS) delegation {
	return delegation{zone, ds.KeyTag, dns.AlgorithmToString[ds.Algorithm], keyfile.DSText(ds)}
}

func (c *commands) dsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ds [ZONE]",
		Short: "Print the DS records that the parents of signed zones must hold",
		Long: `Print the DS records (SHA-256) of all signed zones of the configuration, or of
one, for the parent zone: one for each key. Keys that the controller makes by
itself are there after its first start; reading their public halves is enough.`,
		Example: "  dnsteer dnssec ds example.lan",
		Args:    takes(0, 1, ""), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := config.Load(c.config)
			if err != nil {
				return err
			}
			zone := ""
			if len(args) > 0 {
				zone = strings.TrimSuffix(dns.CanonicalName(args[0]), ".")
			}
			list, err := delegations(cfg, zone)
			if err != nil {
				return err
			}
			return c.print(list, func(p *printer) {
				for _, d := range list {
					p.line("%s", d.DS)
				}
			})
		},
	}
}

// delegations gives the DS records of a zone, or of all for "".
func delegations(cfg *config.Config, zone string) ([]delegation, error) {
	var list []delegation
	var zones []dnsserver.Zone
	if cfg.DNS != nil {
		zones = cfg.DNS.Zones
	}
	folder := keyfile.Look(cfg.KeyFolder())
	for i := range zones {
		z := &zones[i]
		if z.DNSSEC == nil || zone != "" && z.Name != zone {
			continue
		}
		for _, k := range z.DNSSEC.Keys {
			list = append(list, newDelegation(z.Name, k.DS()))
		}
		if len(z.DNSSEC.Keys) > 0 {
			continue
		}
		found, err := folder.Find(z.Name, z.DNSSEC.Algorithm)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("zone %s has no key in %s yet: `dnsteer serve` makes it at its start", z.Name, folder.Path)
		}
		for _, base := range found {
			k, err := keyfile.ReadPublic(base)
			if err != nil {
				return nil, err
			}
			list = append(list, newDelegation(z.Name, k.ToDS(dns.SHA256)))
		}
	}
	switch {
	case len(list) == 0 && zone != "":
		return nil, fmt.Errorf("zone %s is not signed by this configuration: give it the key \"dnssec\"", zone)
	case len(list) == 0:
		return nil, errNothingSigned
	}
	return list, nil
}

var errNothingSigned = errors.New("no zone of this configuration is signed: give one the key \"dnssec\"")

func (c *commands) keygenCommand() *cobra.Command {
	algorithm, dir := "", ""
	cmd := &cobra.Command{
		Use:   "keygen ZONE",
		Short: "Make a key for a zone, in the files that BIND makes too",
		Long: `Make a key for a zone and write its two files into a folder: .key for the public
half and .private for the other, which nobody else may read. Name them in the
zone's dnssec.keys. It is needed for a change of keys; the first one is made by
"dnsteer serve" where the configuration names none.`,
		Example: "  dnsteer dnssec keygen example.lan --dir /etc/dnsteer/keys",
		Args:    takes(1, 1, "ZONE"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			number, known := dns.StringToAlgorithm[strings.ToUpper(algorithm)]
			if !known || number != dns.ECDSAP256SHA256 && number != dns.ED25519 {
				return &exit{wrongUse, fmt.Errorf("--algorithm is ecdsap256sha256 or ed25519, not %q", algorithm)}
			}
			if _, ok := dns.IsDomainName(args[0]); !ok {
				return &exit{wrongUse, fmt.Errorf("%q is no name of a zone", args[0])}
			}
			m, err := keyfile.New(args[0], number)
			if err != nil {
				return err
			}
			base, err := m.Write(dir)
			if err != nil {
				return err
			}
			made := struct {
				Files string `json:"files"`
				delegation
			}{base, newDelegation(strings.TrimSuffix(dns.CanonicalName(args[0]), "."), m.DS())}
			return c.print(made, func(p *printer) {
				p.line("%s", base)
				p.line("%s", made.DS)
			})
		},
	}
	cmd.Flags().StringVar(&algorithm, "algorithm", "ecdsap256sha256", "`algorithm` of the key: ecdsap256sha256 or ed25519")
	cmd.Flags().StringVar(&dir, "dir", ".", "`folder` for the files")
	_ = cmd.RegisterFlagCompletionFunc("algorithm", cobra.FixedCompletions([]string{"ecdsap256sha256", "ed25519"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}
