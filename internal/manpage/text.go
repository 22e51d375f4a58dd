package manpage

import (
	"fmt"
	"regexp"
	"strings"
)

// Marks within text: code, strong text and links.
var marks = regexp.MustCompile("`([^`]+)`" + `|\*\*([^*]+)\*\*|\[([^\]]+)\]\([^)]*\)`)

// inline turns text with its marks into roff, on a line of its own.
func inline(text string) string {
	var b strings.Builder
	for {
		at := marks.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		b.WriteString(escape(text[:at[0]]))
		switch {
		case at[2] >= 0:
			b.WriteString(`\fB` + escape(text[at[2]:at[3]]) + `\fR`)
		case at[4] >= 0:
			b.WriteString(`\fI` + escape(text[at[4]:at[5]]) + `\fR`)
		default:
			b.WriteString(inline(text[at[6]:at[7]]))
		}
		text = text[at[1]:]
	}
	b.WriteString(escape(text))
	return guarded(b.String())
}

// plain is text without its marks.
func plain(text string) string {
	return marks.ReplaceAllStringFunc(text, func(s string) string {
		m := marks.FindStringSubmatch(s)
		return m[1] + m[2] + m[3]
	})
}

// escape writes characters so that no formatter takes them for something else.
// The minus is one that can be copied into a shell.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '\t':
			b.WriteString("    ")
		case r < ' ' || r == 0x7f: // nothing that a page could show
		case r > 0x7f:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// guarded keeps a line from being taken for a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

// quoted is text for an argument between quotes.
func quoted(text string) string { return strings.ReplaceAll(escape(text), `"`, `\(dq`) }
