package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/version"
)

func (c *commands) checkCommand() *cobra.Command {
	dial := false
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is wrong in a configuration, and how fast it fails over",
		Long: `Read a configuration, a file or a folder, without touching the network. Faults
are listed with file, line and column, and the exit code is 3. Where there are
none, the worst case from a failure to empty caches is added up for each site.

With --online, nodes and resolvers are probed once as well, and targets are
logged in to and read: whether they can be reached, the login and its rights,
their switches and TTLs, and records of others that stand in the way. Nothing is
changed. The exit code is 1 if something would not work.`,
		Example: `  dnsteer check config.example.yaml
  dnsteer check --online`,
		Args: takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := c.config
			if len(args) > 0 {
				path = args[0]
			}
			cfg, err := config.Load(path)
			if err != nil {
				return err
			}
			for _, w := range cfg.Warnings {
				fmt.Fprintf(c.Err, "warning: %s\n", printable(w.String()))
			}
			if c.output != "table" {
				if dial {
					return c.lookOnline(cmd.Context(), cfg)
				}
				return c.print(checkedOf(path, cfg), nil)
			}
			if _, err := io.WriteString(c.Out, checkText(path, cfg)); err != nil || !dial {
				return err
			}
			fmt.Fprintln(c.Out)
			return c.lookOnline(cmd.Context(), cfg)
		},
	}
	cmd.Flags().BoolVar(&dial, "online", false, "also ask nodes, resolvers and targets, and change nothing")
	return cmd
}

// checkText is what check says of a configuration that is valid, for people.
func checkText(path string, cfg *config.Config) string {
	return fmt.Sprintf("%s: %s\n\n%s", path, cfg.Summary(), cfg.WorstCases())
}

// checked is what check says of a configuration that is valid, for programs.
type checked struct {
	Config   string        `json:"config"`
	Summary  string        `json:"summary"`
	Warnings []string      `json:"warnings"`
	Sites    []checkedSite `json:"sites"`
}

// checkedSite is the worst case of a site, in seconds from the failure of the node that
// takes longest: until the answer moves, and until caches are empty. Node is empty
// where no outage ever moves an answer of the site.
type checkedSite struct {
	Site   string  `json:"site"`
	Node   string  `json:"node,omitempty"`
	Target string  `json:"target,omitempty"`
	Moved  float64 `json:"moved_seconds,omitempty"`
	Empty  float64 `json:"empty_seconds,omitempty"`
}

func checkedOf(path string, cfg *config.Config) checked {
	out := checked{Config: path, Summary: cfg.Summary(), Warnings: []string{}, Sites: []checkedSite{}}
	for _, w := range cfg.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for i := range cfg.Sites.Sites {
		s := checkedSite{Site: cfg.Sites.Sites[i].Name}
		if sum, ok := cfg.WorstCase(s.Site); ok {
			s.Node, s.Target, s.Moved, s.Empty = sum.Node, sum.Target, sum.Moved().Seconds(), sum.Total().Seconds()
		}
		out.Sites = append(out.Sites, s)
	}
	return out
}

func (c *commands) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := c.Out.Write(config.Schema())
			return err
		},
	}
}

func (c *commands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, when it was built, and with which Go",
		Args:  noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			b := version.This()
			return c.print(b, func(p *printer) {
				date := ""
				if !b.Date.IsZero() {
					date = "built " + b.Date.UTC().Format(time.RFC3339) + ", "
				}
				p.line("dnsteer %s (%s%s, %s)", b.Version, date, b.Go, b.System)
			})
		},
	}
}
