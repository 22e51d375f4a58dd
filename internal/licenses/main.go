// Command licenses lists the modules that are linked into the packages it is
// given, with the licence that each is under, and fails when one is not
// compatible with our own (Apache-2.0). What only tests import is not linked
// and not listed.
//
// With -texts it writes the licences themselves, of all systems; with -sbom it
// writes the CycloneDX SBOM of a binary that was built from these sources.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// wanted is which SBOM is written, and where; the standard output if to is empty.
type wanted struct{ binary, version, date, to string }

func main() {
	withTexts := flag.Bool("texts", false, "write the licences themselves")
	var w wanted
	flag.StringVar(&w.binary, "sbom", "", "write the SBOM of this `binary`")
	flag.StringVar(&w.version, "version", "dev", "version of the binary, for its SBOM")
	flag.StringVar(&w.date, "date", "", "when it was built, for its SBOM, as RFC 3339 has it")
	flag.StringVar(&w.to, "out", "", "`file` for the SBOM; the standard output if empty")
	flag.Parse()
	if err := command(context.Background(), *withTexts, w); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, withTexts bool, w wanted) error {
	switch {
	case w.binary != "":
		out, err := bill(ctx, w.binary, w.version, w.date)
		if err != nil {
			return err
		}
		if w.to != "" {
			return os.WriteFile(w.to, out, 0o644)
		}
		_, err = os.Stdout.Write(out)
		return err
	case withTexts:
		return texts(ctx, os.Stdout, flag.Args())
	default:
		return run(ctx, os.Stdout, flag.Args())
	}
}

// run writes the table and gives an error for the first module that must not be
// linked, after all of them are written.
func run(ctx context.Context, out io.Writer, packages []string) error {
	modules, err := linked(ctx, nil, packages)
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
