package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
)

// pinTime bounds how long a server may take to show its certificate.
const pinTime = 10 * time.Second

// pinned is a certificate and whose it is.
type pinned struct {
	Server string `json:"server"`
	connect.Certificate
}

func (c *commands) targetPinCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pin TARGET|HOST:PORT",
		Short: "Show a target's certificate, and the line that pins it",
		Long: `Show the certificate of a target of the configuration, or of any server, and the
line for the configuration that takes it, and no other, for the right one.
Compare the fingerprint with what the device itself shows before you write that
line. Nothing but a TLS handshake is sent.`,
		Example: `  dnsteer target pin router-berlin
  dnsteer target pin 10.1.0.1:8729`,
		Args: takes(1, 1, "TARGET or HOST:PORT"), ValidArgsFunction: c.completeTargets(),
		RunE: func(cmd *cobra.Command, args []string) error {
			servers, err := c.pinServers(args[0])
			if err != nil {
				return err
			}
			var list []pinned
			for _, s := range servers {
				ctx, cancel := context.WithTimeout(cmd.Context(), pinTime)
				cert, err := connect.Ask(ctx, s)
				cancel()
				if err != nil {
					return err
				}
				list = append(list, pinned{s, cert})
			}
			return c.print(list, func(p *printer) {
				for i := range list {
					if i > 0 {
						p.line("")
					}
					pinTable(p, &list[i])
				}
			})
		},
	}
}

// pinServers gives what is to be asked: the servers of a target, or what was
// named.
func (c *commands) pinServers(arg string) ([]string, error) {
	if strings.Contains(arg, ":") {
		return []string{arg}, nil
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range cfg.Targets {
		t := &cfg.Targets[i]
		names = append(names, t.Name)
		if t.Name != arg {
			continue
		}
		return connect.Certified(t)
	}
	return nil, errors.New(noTarget(arg, names))
}

func pinTable(p *printer, c *pinned) {
	trust := "Vouched for by the certificates of this system: no pin is needed."
	if !c.Verified {
		trust = "Not vouched for by the certificates of this system: " + c.Reason + "."
	}
	names := strings.Join(c.Names, ", ")
	if names == "" {
		names = "none"
	}
	p.line("%s", p.paint(bold, c.Server))
	p.table("  ", [][]cell{
		{{"subject", dim}, {c.Subject, plain}},
		{{"issuer", dim}, {c.Issuer, plain}},
		{{"names", dim}, {names, plain}},
		{{"valid", dim}, {c.NotBefore.UTC().Format(time.DateOnly) + " to " + c.NotAfter.UTC().Format(time.DateOnly), plain}},
	})
	p.para("  ", trust)
	p.line("\nThe line for its target:\n\n  tls_fingerprint: %q", c.Fingerprint)
}
