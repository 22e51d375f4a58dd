package rehearsal

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Played is what came of one file.
type Played struct {
	Name   string
	Result Result
	// Err says that the file, or its configuration (a [*ConfigError]), cannot
	// be used.
	Err  error
	Took time.Duration
}

// PlayFile loads a file and plays it.
func PlayFile(name string, opt Options) Played {
	start := time.Now()
	p := Played{Name: name}
	r, err := Load(name)
	if err == nil {
		p.Result, err = r.Play(opt)
	}
	p.Err, p.Took = err, time.Since(start)
	return p
}

// The elements of a report that readers of JUnit's XML agree on.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Time     string     `xml:"time,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		File    string       `xml:"file,attr"`
		Time    string       `xml:"time,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes a report: one test case a file. Differences are failures;
// files that cannot be used are errors.
func WriteJUnit(w io.Writer, all []Played) error {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
	s := junitSuite{Name: "dnsteer rehearse", Tests: len(all)}
	var total time.Duration
	for i := range all {
		p := &all[i]
		c := junitCase{Name: p.Name, Class: "rehearsal", File: p.Name, Time: seconds(p.Took)}
		total += p.Took
		switch n := len(p.Result.Differences); {
		case p.Err != nil:
			s.Errors++
			c.Error = &junitReason{Message: "the file cannot be used", Type: "file", Text: p.Err.Error()}
			if _, ok := errors.AsType[*ConfigError](p.Err); ok {
				c.Error.Message, c.Error.Type = "the configuration is invalid", "configuration"
			}
		case n > 0:
			s.Failures++
			c.Failure = &junitReason{Message: fmt.Sprintf("expectations that do not hold: %d", n), Type: "difference", Text: lines(p.Result.Differences)}
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = seconds(total)
	out, err := xml.MarshalIndent(junitSuites{
		Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Time: s.Time, Suite: s,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(out)+"\n"); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func lines(list []Difference) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}
