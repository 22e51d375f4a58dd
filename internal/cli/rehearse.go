package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/internal/rehearsal"
)

// rehearseFlags are those of rehearse.
type rehearseFlags struct {
	trace bool
	junit string
	seed  uint64
}

func (c *commands) rehearseCommand() *cobra.Command {
	var f rehearseFlags
	cmd := &cobra.Command{
		Use:   "rehearse FILE...",
		Short: "Play faults against a configuration in virtual time",
		Long: `Play the faults in each file against its configuration, in virtual time and
without a network, and check what the file expects. Exit codes: 0 all holds, 1
something differs, 2 a file cannot be used, 3 its configuration is invalid; the
highest of all files.`,
		Example: "  dnsteer rehearse --trace rehearsals/*.yaml",
		Args:    takes(1, -1, "FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return c.rehearse(args, f) },
	}
	cmd.Flags().BoolVar(&f.trace, "trace", false, "print every event and every change of an answer")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write a report to a `file`, in JUnit's XML")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "spread the probes over their intervals in another way: any `number`")
	return cmd
}

func (c *commands) rehearse(names []string, f rehearseFlags) error {
	var all []rehearsal.Played
	code := done
	for _, name := range names {
		opt := rehearsal.Options{Seed: f.seed}
		if f.trace {
			fmt.Fprintf(c.Out, "%s:\n", name)
			opt.Trace = c.Out
		}
		p := rehearsal.PlayFile(name, opt)
		all = append(all, p)
		code = max(code, c.played(&p))
	}
	if f.junit != "" {
		if err := writeFile(f.junit, func(w io.Writer) error { return rehearsal.WriteJUnit(w, all) }); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	if code != done {
		return &exit{code, errors.New("")}
	}
	return nil
}

// played prints what came of one file, and gives its exit code.
func (c *commands) played(p *rehearsal.Played) int {
	if p.Err != nil {
		fmt.Fprintf(c.Err, "dnsteer: %s: %s\n", p.Name, printable(p.Err.Error()))
		if _, ok := errors.AsType[*rehearsal.ConfigError](p.Err); ok {
			return invalid
		}
		return wrongUse
	}
	if len(p.Result.Differences) == 0 {
		fmt.Fprintf(c.Out, "ok    %s  (%s, %s in %s)\n", p.Name, plural.Of(p.Result.Steps, "step"), p.Result.Elapsed, p.Took.Round(time.Millisecond))
		return done
	}
	fmt.Fprintf(c.Out, "FAIL  %s  (%s, %s in %s)\n", p.Name, plural.Of(p.Result.Steps, "step"), p.Result.Elapsed, p.Took.Round(time.Millisecond))
	for _, d := range p.Result.Differences {
		fmt.Fprintf(c.Out, "  %s\n", printable(d.String()))
	}
	return failed
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
