package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
)

func (c *commands) planCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plan [TARGET]",
		Short: "Say which records of targets would change, and change none",
		Long: `Have the running controller read what the targets hold, and say which records it
would change. Nothing is changed. It needs the running controller, which alone
knows what is answered now; "check --online" looks at the targets without one.
The exit code is 1 if a target cannot be read.`,
		Example: "  dnsteer plan router-berlin",
		Args:    takes(0, 1, ""), ValidArgsFunction: c.completeTargets(),
		RunE: c.asking(func(ctx context.Context, client *api.Client, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			plans, err := client.Plan(ctx, name)
			if err != nil {
				return err
			}
			if err := c.print(api.PlanList{Plans: plans}, func(p *printer) { planTable(p, plans) }); err != nil {
				return err
			}
			for i := range plans {
				if plans[i].Error != "" {
					return errors.New("not all targets could be read")
				}
			}
			return nil
		}),
	}
}

func planTable(p *printer, plans []api.TargetPlan) {
	if len(plans) == 0 {
		p.para("", "There are no targets: the built-in server alone has the answers.")
	}
	for i := range plans {
		if i > 0 {
			p.line("")
		}
		plan := &plans[i]
		title := fmt.Sprintf("%s (%s)", plan.Target, plan.Server)
		switch n := len(plan.Changes); {
		case plan.Error != "":
			p.para("", title+" cannot be read: "+plan.Error)
		case n == 0 && !plan.Repair.IsZero():
			p.para("", fmt.Sprintf("%s: nothing would change before %s, when what somebody has changed there again is put right.", title, plan.Repair.UTC().Format("15:04:05 UTC")))
		case n == 0 && len(plan.Held) > 0:
			p.para("", title+": nothing would change, though it is not as it should be.")
		case n == 0:
			p.para("", title+": nothing would change.")
		case n == 1:
			p.para("", title+": 1 change.")
		default:
			p.para("", fmt.Sprintf("%s: %d changes.", title, n))
		}
		changeTable(p, plan.Changes)
		for _, h := range plan.Held {
			p.para("  ! ", fmt.Sprintf("%s %s is left as it is: %s", h.Name, h.Type, h.Text))
		}
	}
}
