package chat

import (
	"regexp"
	"strings"
)

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
