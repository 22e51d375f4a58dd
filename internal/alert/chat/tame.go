package chat

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// Bounds of a message and of its plain words: services refuse longer ones.
const (
	maxText  = 1800
	maxPlain = 200
)

// whole is the text of a message.
func whole(m *alert.Message) string { return tame(m.Title() + "\n" + clip(m.Brief(), maxText)) }

// plain is a message in words that have no meaning to any form of a text: a service
// that reads what it is given as Markdown or HTML takes them, whatever names there are.
func plain(m *alert.Message) string {
	words := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(":/,", r) {
			return r
		}
		return ' '
	}, m.Title())
	return clip(strings.Join(strings.Fields(words), " "), maxPlain)
}

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

// What chats take for more than text: "@everyone", "<!channel>" and "<http://a|b>",
// "[a](b)".
var (
	calls = regexp.MustCompile(`(^|[^\pL\pN_])@`)
	links = strings.NewReplacer("<", "<\u200b", "](", "]\u200b(")
)

// tame has names, reasons and what peers have answered be read as text: a chat calls
// nobody by it, and shows no link under another name. What breaks them is a space
// without a width.
func tame(text string) string { return calls.ReplaceAllString(links.Replace(text), "$0\u200b") }
