package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/online"
)

// lookOnline dials everything that a configuration speaks of, and says what it
// found; an error where something would not work.
func (c *commands) lookOnline(ctx context.Context, cfg *config.Config) error {
	list := online.All(ctx, cfg, slog.New(slog.DiscardHandler), c.OnlineChecks...)
	if list == nil {
		list = []online.Finding{}
	}
	failed := 0
	for _, f := range list {
		if f.Grade == online.Failed {
			failed++
		}
	}
	if err := c.print(list, func(p *printer) { onlineTable(p, list) }); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s would not work", things(failed))
	}
	return ctx.Err()
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return fmt.Sprintf("%d things", n)
}

// onlineTable says what is wrong first.
func onlineTable(p *printer, list []online.Finding) {
	for _, part := range []struct {
		grade online.Grade
		title string
		color color
	}{
		{online.Failed, "Would not work", red},
		{online.Warning, "May not work as it seems", yellow},
		{online.Note, "Good to know", plain},
		{online.OK, "Works", green},
	} {
		begun := false
		for _, f := range list {
			if f.Grade != part.grade {
				continue
			}
			if !begun {
				p.line("%s", p.paint(part.color, part.title))
				begun = true
			}
			p.para("  - ", f.About+": "+f.Text)
		}
		if begun {
			p.line("")
		}
	}
}
