package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
)

func (c *commands) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain SITE|SITE/NODE|SITE/POOL|HOST",
		Short: "Say why something is answered as it is, and what happens next",
		Args:  takes(1, 1, "SITE, SITE/NODE, SITE/POOL or HOST"), ValidArgsFunction: c.complete(offerSites | offerNodes | offerPools | offerHosts),
		Example: `  dnsteer explain berlin/a
  dnsteer explain app.example.lan`,
		RunE: c.asking(func(ctx context.Context, client *api.Client, args []string) error {
			e, err := client.Explain(ctx, args[0])
			if err != nil {
				return err
			}
			return c.print(e, func(p *printer) {
				for _, s := range e.Sentences {
					p.para("", s)
				}
				if len(e.Answers) > 0 {
					p.line("")
					p.table("", answerRows(e.Answers))
				}
			})
		}),
	}
}

// answerRows say what the clients of each site get.
func answerRows(list []api.ServiceAnswerView) [][]cell {
	rows := [][]cell{{{"CLIENTS OF", dim}, {"TTL", dim}, {"GET", dim}}}
	for _, a := range list {
		text, c := strings.Join(a.Addresses, ", "), plain
		if text == "" {
			text, c = "nothing", red
		}
		if a.Serves != "own" && a.Serves != "empty" {
			text, c = text+" ("+strings.ReplaceAll(strings.ReplaceAll(a.Serves, ":", ": "), "_", " ")+")", yellow
		}
		rows = append(rows, []cell{{a.Site, plain}, {fmt.Sprintf("%ds", a.TTL), plain}, {text, c}})
	}
	return rows
}
