package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dnsteer/dnsteer/internal/config"
)

// width that all tables fit.
const width = 80

// print writes a value in the form that was asked for; table does so for people.
func (c *commands) print(v any, table func(p *printer)) error {
	switch c.output {
	case "json":
		e := json.NewEncoder(c.Out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(v)
	case "yaml":
		text, err := config.Encode(v)
		if err != nil {
			return err
		}
		_, err = c.Out.Write(text)
		return err
	}
	p := &printer{colored: c.colored()}
	table(p)
	_, err := io.WriteString(c.Out, p.String())
	return err
}

// colored says whether the standard output is a terminal that shows colours.
func (c *commands) colored() bool {
	if no, ok := c.LookupEnv("NO_COLOR"); ok && no != "" {
		return false
	}
	if term, _ := c.LookupEnv("TERM"); term == "dumb" {
		return false
	}
	f, ok := c.Out.(*os.File)
	return ok && Terminal(f)
}

// Terminal says whether a person sits at a file.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && !os.SameFile(info, null)
}

// printer collects text for people.
type printer struct {
	strings.Builder
	colored bool
}

// color of a terminal.
type color string

// The colours; they only repeat what the words say.
const (
	plain  color = ""
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
)

func (p *printer) paint(c color, text string) string {
	if !p.colored || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// para writes a text of many lines, the first behind first, the others indented
// as far.
func (p *printer) para(first, text string) {
	indent := utf8.RuneCountInString(first)
	for i, l := range wrap(printable(text), width-indent) {
		if i > 0 {
			first = strings.Repeat(" ", indent)
		}
		p.line("%s", strings.TrimRight(first+l, " "))
	}
}

// cell of a table.
type cell struct {
	text  string
	color color
}

// maxColumn is how wide a column may be that is not the last.
const maxColumn = 26

// table writes rows whose last column is wrapped. A first cell that is too wide
// has a line of its own.
func (p *printer) table(indent string, rows [][]cell) {
	widths := measure(rows)
	for _, row := range rows {
		p.row(indent, widths, row)
	}
}

// measure gives the widths of columns.
func measure(rows [][]cell) (widths []int) {
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(printable(c.text)); n <= maxColumn {
				widths[i] = max(widths[i], n)
			}
		}
	}
	return widths
}

func (p *printer) row(indent string, widths []int, row []cell) {
	out, at := indent, utf8.RuneCountInString(indent)
	for i, c := range row {
		text := printable(c.text)
		n := utf8.RuneCountInString(text)
		switch {
		case i == len(row)-1:
			for j, l := range wrap(text, width-at) {
				if j > 0 {
					out = strings.Repeat(" ", at)
				}
				p.line("%s", strings.TrimRight(out+p.paint(c.color, l), " "))
			}
		case n > widths[i]:
			p.line("%s%s", out, p.paint(c.color, text))
			at += widths[i] + 2
			out = strings.Repeat(" ", at)
		default:
			out += p.paint(c.color, text) + strings.Repeat(" ", widths[i]-n+2)
			at += widths[i] + 2
		}
	}
}

// wrap breaks a text into lines of at most n characters where it has spaces;
// what has none is left in one piece.
func wrap(text string, n int) []string {
	var lines []string
	for part := range strings.SplitSeq(text, "\n") {
		line, length := "", 0
		for word := range strings.FieldsSeq(part) {
			w := utf8.RuneCountInString(word)
			switch {
			case length == 0:
				line, length = word, w
			case length+1+w <= n:
				line, length = line+" "+word, length+1+w
			default:
				lines = append(lines, line)
				line, length = word, w
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// broken breaks words of more than n characters, as wrap does not.
func broken(text string, n int) string {
	var b strings.Builder
	length := 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			length = 0
		case length == n:
			b.WriteByte(' ')
			length = 1
		default:
			length++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// printable leaves out what would steer a terminal: reasons and causes come from
// other people and other machines.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}

// oneLine makes one line of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }
