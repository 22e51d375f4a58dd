package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/support"
)

func (c *commands) supportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "support [FILE]",
		Short: "Pack what one needs to look into a fault, without secrets",
		Long: `Write a support bundle: a tar file in gzip with the status, the last events,
targets, alerts, metrics, what the program does at this moment, and the
configuration without its secrets. FILE must not be there yet; without it the
file is named for the time, and - is the standard output. It names sites, nodes,
addresses and people: look through it before you send it to others.

When no controller answers at the socket, the file has its configuration alone
and what is wrong with it, and the exit code is 4.`,
		Example: `  dnsteer support
  dnsteer support bundle.tar.gz`,
		Args: takes(0, 1, ""),
		RunE: c.asking(func(ctx context.Context, client *api.Client, args []string) error {
			now := time.Now()
			data, asked := client.Support(ctx)
			if _, gone := errors.AsType[*api.UnreachableError](asked); gone && c.remote.url == "" {
				var own bytes.Buffer
				if err := support.Write(ctx, &own, now, c.withoutController(now, asked)); err != nil {
					return err
				}
				data, asked = own.Bytes(), &exit{unhealthy, asked}
			}
			if len(data) == 0 {
				return asked
			}
			path := support.Name(now) + ".tar.gz"
			if len(args) > 0 {
				path = args[0]
			}
			return cmp.Or(c.bundle(path, data), asked)
		}),
	}
}

// written is what was written.
type written struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// bundle writes a support bundle to a file that is not there yet, for its owner alone.
func (c *commands) bundle(path string, data []byte) error {
	if path == "-" {
		_, err := c.Out.Write(data)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: name another file", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return c.print(written{path, len(data)}, func(p *printer) {
		p.para("", fmt.Sprintf("%s has %d bytes. It names sites, nodes, addresses and people: look through it before you send it to others.", path, len(data)))
	})
}

// withoutController are the parts of a bundle that no controller is needed for; asked
// is why there is none.
func (c *commands) withoutController(now time.Time, asked error) []support.Part {
	said := func(name, text string) support.Part {
		return support.Part{Name: name, Content: func(context.Context) ([]byte, error) { return []byte(text), nil }}
	}
	parts := []support.Part{support.Program(now, time.Time{}), said("controller.error.txt", asked.Error()+"\n")}
	cfg, err := config.Load(c.config)
	if err != nil {
		return append(parts, said("check.error.txt", err.Error()+"\n"))
	}
	var check strings.Builder
	for _, w := range cfg.Warnings {
		fmt.Fprintf(&check, "warning: %s\n", w.String())
	}
	check.WriteString(checkText(c.config, cfg))
	parts = append(parts, said("check.txt", check.String()))
	list, err := cfg.Shown()
	if err != nil {
		return append(parts, said("configuration.error.txt", err.Error()+"\n"))
	}
	return append(parts, support.Configuration(list)...)
}
