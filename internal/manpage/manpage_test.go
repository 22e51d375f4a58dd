package manpage

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const source = "<!-- made -->\n\n# Thing\n\nIt does `--this`, **really**, as [the rules](rules.md) say.\n.It begins with a dot.\n\n" +
	"- one\n  more\n- two\n\n## `a[]`, `b[]`\n\n### Keys\n\n" +
	"| key | value | default | meaning | rule |\n|---|---|---|---|---|\n" +
	"| `name` | text | required | What it's called \\| said. | N1 |\n| `.x` | – | – | Nothing – else. |  |\n\n" +
	"```yaml\n.dns: \\x\n'quoted'\n```\nThe end.\n"

const want = `.TH THING 5 "2026-11-30" "dnsteer 1.0"
.SH NAME
thing \- a \(dqthing\(dq
.SH DESCRIPTION
It does \fB\-\-this\fR, \fIreally\fR, as the rules say. .It begins with a dot.
.IP \(bu 2
one more
.IP \(bu 2
two
.SH "A[], B[]"
.SS "Keys"
.TP
\fBname\fR (text; default required; rule N1)
What it\(aqs called | said.
.TP
\fB.x\fR
Nothing \[u2013] else.
.PP
.RS 4
.EX
\&.dns: \ex
\(aqquoted\(aq
.EE
.RE
.PP
The end.
.SH SEE ALSO
\fBdnsteer\fR(1)
`

func page() Page {
	return Page{
		Name: "thing", Section: 5, Summary: `a "thing"`, Date: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Source: "dnsteer 1.0",
		See: []string{"dnsteer(1)"},
	}
}

// A page that lost a key, or showed a command that cannot be copied, misleads
// whoever has nothing but the terminal.
func TestRender(t *testing.T) {
	got := Render(page(), source)
	if d := cmp.Diff(strings.ReplaceAll(want, `\(dq`, `"`), got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A formatter that stumbles over a page shows half of it.
func TestFormattersTakeIt(t *testing.T) {
	tool, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed (Debian: mandoc)")
	}
	cmd := exec.CommandContext(t.Context(), tool, "-T", "lint", "-W", "warning")
	cmd.Stdin = strings.NewReader(Render(page(), source))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// Whatever text comes, no line of it may become a request of the formatter.
func FuzzInline(f *testing.F) {
	for _, s := range []string{".SH X", "'x", "`.x`", "**.**", "[.a](b)", "\\", "a\nb", "` `"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := inline(s)
		if strings.HasPrefix(got, ".") || strings.HasPrefix(got, "'") || strings.ContainsAny(got, "\n\r\x00") {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}
