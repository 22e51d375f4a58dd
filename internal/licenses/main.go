// Command licenses lists the modules that are linked into the packages it is
// given, with the licence that each is under, and fails when one is not
// compatible with our own (Apache-2.0). What only tests import is not linked
// and not listed.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// run writes the table and gives an error for the first module that must not be
// linked, after all of them are written.
func run(ctx context.Context, out io.Writer, packages []string) error {
	modules, err := linked(ctx, packages)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var bad error
	for _, m := range modules {
		kinds, err := m.licences()
		if err == nil {
			err = compatible(kinds)
		}
		note := ""
		if err != nil {
			note = "NOT COMPATIBLE: " + err.Error()
			if bad == nil {
				bad = fmt.Errorf("%s %s must not be linked: %w", m.Path, m.Version, err)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Path, m.Version, join(kinds), note)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return bad
}
