// Package manpage makes manual pages of the references that are kept in
// Markdown, so that both say the same. It knows what stands in those: headings,
// paragraphs, lists, tables, fenced blocks, and code, emphasis and links within
// text. What it writes is for groff and mandoc (man(7)).
package manpage

import (
	"fmt"
	"strings"
	"time"
)

// Page is what a manual page says of itself.
type Page struct {
	Name    string // as man finds it
	Section int
	Summary string    // one line, for apropos
	Date    time.Time // zero where it is not known
	Source  string    // the program and its version
	// Synopsis is how it is used, "" for none; See are pages to see also, such
	// as "dnsteer.yaml(5)".
	Synopsis string
	See      []string
}

// Render makes a page. The text above the first heading of the second level is
// its description; the heading of the first level is left out.
func Render(p Page, markdown string) string {
	var w writer
	date := ""
	if !p.Date.IsZero() {
		date = p.Date.UTC().Format(time.DateOnly)
	}
	w.linef(`.TH %s %d "%s" "%s"`, strings.ToUpper(p.Name), p.Section, date, quoted(p.Source))
	w.linef(".SH NAME\n%s \\- %s", escape(p.Name), escape(p.Summary))
	if p.Synopsis != "" {
		w.linef(".SH SYNOPSIS\n%s", inline(p.Synopsis))
	}
	w.linef(".SH DESCRIPTION")
	lines := strings.Split(markdown, "\n")
	for len(lines) > 0 {
		lines = lines[w.block(lines):]
	}
	if len(p.See) > 0 {
		var see []string
		for _, s := range p.See {
			name, section, _ := strings.Cut(s, "(")
			see = append(see, fmt.Sprintf(`\fB%s\fR(%s`, escape(name), section))
		}
		w.linef(".SH SEE ALSO\n%s", strings.Join(see, ",\n"))
	}
	return w.String()
}

// writer writes a page line by line.
type writer struct {
	strings.Builder
	titled bool // nothing stands below the last heading yet
}

func (w *writer) linef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.titled = strings.HasPrefix(line, ".SH") || strings.HasPrefix(line, ".SS")
	w.WriteString(line + "\n")
}

// paragraph begins one; a heading has done so already.
func (w *writer) paragraph() {
	if !w.titled {
		w.linef(".PP")
	}
}

// block writes the block that the lines begin with and gives how many it has.
func (w *writer) block(lines []string) int {
	first := lines[0]
	switch {
	case strings.TrimSpace(first) == "" || strings.HasPrefix(first, "<!--") || strings.HasPrefix(first, "# "):
		return 1
	case strings.HasPrefix(first, "## "):
		w.linef(`.SH "%s"`, quoted(strings.ToUpper(plain(first[3:]))))
		return 1
	case strings.HasPrefix(first, "### "):
		w.linef(`.SS "%s"`, quoted(plain(first[4:])))
		return 1
	case strings.HasPrefix(first, "```"):
		return w.example(lines)
	case strings.HasPrefix(first, "|"):
		return w.table(lines)
	case strings.HasPrefix(first, "- "):
		n := until(lines, func(l string) bool { return strings.HasPrefix(l, "- ") || strings.TrimSpace(l) == "" })
		w.linef(".IP \\(bu 2\n%s", inline(joined(append([]string{first[2:]}, lines[1:n]...))))
		return n
	default:
		n := until(lines, func(l string) bool {
			return strings.TrimSpace(l) == "" || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "|") || strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "#")
		})
		w.paragraph()
		w.linef("%s", inline(joined(lines[:n])))
		return n
	}
}

// until counts the first line and those that follow it before one that ends the
// block.
func until(lines []string, ends func(string) bool) int {
	n := 1
	for n < len(lines) && !ends(lines[n]) {
		n++
	}
	return n
}

func joined(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// example writes a fenced block as it is.
func (w *writer) example(lines []string) int {
	n := until(lines, func(l string) bool { return strings.HasPrefix(l, "```") })
	w.paragraph()
	w.linef(".RS 4\n.EX")
	for _, l := range lines[1:n] {
		w.linef("%s", guarded(escape(l)))
	}
	w.linef(".EE\n.RE")
	return min(n+1, len(lines))
}

// table writes a table as a list of terms: the first column is the term, the
// one called "meaning" (or else the last) its text, and the others stand beside
// the term.
func (w *writer) table(lines []string) int {
	n := until(lines, func(l string) bool { return !strings.HasPrefix(l, "|") })
	head := cells(lines[0])
	text := len(head) - 1
	for i, h := range head {
		if h == "meaning" {
			text = i
		}
	}
	for _, line := range lines[min(2, n):n] {
		row := cells(line)
		var beside []string
		for i, c := range row {
			if i == 0 || i == text || c == "" || c == "–" {
				continue
			}
			if i > 1 && i < len(head) {
				c = head[i] + " " + c
			}
			beside = append(beside, inline(c))
		}
		term := `\fB` + escape(plain(row[0])) + `\fR`
		if len(beside) > 0 {
			term += " (" + strings.Join(beside, "; ") + ")"
		}
		w.linef(".TP\n%s", guarded(term))
		if text < len(row) {
			w.linef("%s", inline(row[text]))
		}
	}
	return n
}

// cells gives the cells of a row; a bar within one is written "\|".
func cells(row string) (list []string) {
	const bar = "\x00"
	row = strings.Trim(strings.ReplaceAll(strings.TrimSpace(row), `\|`, bar), "|")
	for c := range strings.SplitSeq(row, "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(c, bar, "|")))
	}
	return list
}
