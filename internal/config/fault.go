package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file, with the path of the key that stands there.
type Pos struct {
	File string
	// Line and Col count from 1; 0 means the file as a whole.
	Line, Col int
	// Path of the key, for example "sites[1].nodes[0].threshold".
	Path string
}

// String gives "file:line:col".
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	}
}

// Fault is one thing that is wrong: what was found and what was expected.
type Fault struct {
	Pos
	Text string
}

// String gives "file:line:col: path: text".
func (f Fault) String() string {
	place := f.Pos.String()
	if f.Path != "" {
		place += ": " + f.Path
	}
	if place == "" {
		return f.Text
	}
	return place + ": " + f.Text
}

// Warning is something that is allowed and likely not meant.
type Warning = Fault

// maxFaults bounds how many faults are reported together.
const maxFaults = 50

// FaultsError says why a file was refused.
type FaultsError struct {
	// Faults in the order of their places.
	Faults []Fault
	// Omitted counts those that were left out to keep the report readable.
	Omitted int
}

// Error gives one fault a line.
func (e *FaultsError) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.Omitted))
	}
	return strings.Join(lines, "\n")
}

// report collects faults and warnings while files are read.
type report struct {
	faults   []Fault
	warnings []Warning
}

func (r *report) fault(at Pos, format string, args ...any) {
	r.faults = append(r.faults, Fault{at, fmt.Sprintf(format, args...)})
}

func (r *report) warn(at Pos, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{at, fmt.Sprintf(format, args...)})
}

// err gives nil where no fault was found.
func (r *report) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	faults := sorted(r.faults)
	omitted := max(0, len(faults)-maxFaults)
	return &FaultsError{Faults: faults[:len(faults)-omitted], Omitted: omitted}
}

// sorted orders faults by place and drops those that say the same twice (a
// fault behind an anchor is met at every alias).
func sorted(faults []Fault) []Fault {
	faults = slices.Clone(faults)
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(faults, func(a, b Fault) bool {
		return a.Pos.String() == b.Pos.String() && a.Text == b.Text
	})
}
