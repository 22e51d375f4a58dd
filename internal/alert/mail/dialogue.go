package mail

import (
	"fmt"
	"strings"

	"github.com/wneessen/go-mail/log"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// logger hands on what the library says with the server. What authenticates it
// has masked; hide takes it out of what the server says of it.
type logger struct {
	say  alert.Dialogue
	hide func(string) string
}

func (l logger) Debugf(m log.Log) {
	mark := "<"
	if m.Direction == log.DirClientToServer {
		mark = ">"
	}
	text := fmt.Sprintf(m.Format, m.Messages...)
	for line := range strings.Lines(text) {
		l.say.Say("%s %s", mark, l.hide(strings.TrimRight(line, "\r\n")))
	}
}

func (l logger) Infof(m log.Log)  { l.Debugf(m) }
func (l logger) Warnf(m log.Log)  { l.Debugf(m) }
func (l logger) Errorf(m log.Log) { l.Debugf(m) }
