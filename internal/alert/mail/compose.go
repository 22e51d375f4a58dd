package mail

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/sites"
)

// page is the HTML part: no picture, no script, nothing from elsewhere, and
// readable in light and dark, because it sets no colour of a text.
var page = template.Must(template.New("mail").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="font-family:sans-serif;line-height:1.4;max-width:44em">
<h2 style="font-size:1.1em;border-left:.4em solid {{.Color}};padding-left:.6em">{{.Message.Title}}</h2>
{{range .Message.Parts}}{{if .Heading}}<h3 style="font-size:1em;margin-bottom:.2em">{{.Heading}}</h3>
{{end}}{{if eq .Heading "Commands that help"}}<pre style="margin-top:.2em">{{range .Lines}}{{.}}
{{end}}</pre>
{{else}}{{range .Lines}}<p style="margin:.2em 0">{{.}}</p>
{{end}}{{end}}{{end}}<p style="font-size:.85em">dnsteer {{.Version}}, {{.Message.Instance}}; message {{.Message.ID}}</p>
</body></html>
`))

// color of a message's mark; the title says the same in words.
func color(m *alert.Message) string {
	switch {
	case m.Phase == alert.Resolved:
		return "#2a7d3f"
	case m.Severity == sites.Critical:
		return "#b3261e"
	case m.Severity == sites.Warning:
		return "#b26a00"
	default:
		return "#3a5f8a"
	}
}

// Compose makes the mail of a message. Its Message-ID is the same each time, and
// names the first message of the same incident in References; Date is when it is
// sent.
func (s *Mailer) Compose(m *alert.Message, now time.Time) ([]byte, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&s.opt.From)
	for i := range s.opt.To {
		msg.AddToMailAddress(&s.opt.To[i])
	}
	// What looks like an encoded word would be read as one (RFC 2047, section 2).
	msg.Subject(strings.ReplaceAll(m.Title(), "=?", "= ?"))
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(s.id(m.ID))
	if m.Thread != m.ID {
		msg.SetGenHeader(gomail.HeaderInReplyTo, "<"+s.id(m.Thread)+">")
		msg.SetGenHeader(gomail.HeaderReferences, "<"+s.id(m.Thread)+">")
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Dnsteer-Phase", string(m.Phase))
	msg.SetGenHeader("X-Dnsteer-Severity", string(m.Severity))
	msg.SetUserAgent("dnsteer/" + version.Version)
	if m.Severity == sites.Critical && m.Phase == alert.Firing && !m.Drill {
		msg.SetImportance(gomail.ImportanceHigh)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text()+fmt.Sprintf("\n-- \ndnsteer %s, %s; message %s\n", version.Version, m.Instance, m.ID))
	var html bytes.Buffer
	if err := page.Execute(&html, struct {
		Message        *alert.Message
		Color, Version string
	}{m, color(m), version.Version}); err != nil {
		return nil, fmt.Errorf("write the mail: %w", err)
	}
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	var out bytes.Buffer
	if _, err := msg.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("write the mail: %w", err)
	}
	return out.Bytes(), nil
}

// id makes a Message-ID of ours one of mail's.
func (s *Mailer) id(id string) string {
	_, domain, ok := strings.Cut(s.opt.From.Address, "@")
	if !ok || domain == "" {
		domain = "dnsteer.invalid"
	}
	return id + ".dnsteer@" + domain
}
