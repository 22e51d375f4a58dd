package mail

import (
	"fmt"
	"strings"

	"github.com/wneessen/go-mail/log"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// logger hands on what the library says with the server. What authenticates it
// has masked.
type logger struct{ say alert.Dialogue }

func (l logger) Debugf(m log.Log) {
	mark := "<"
	if m.Direction == log.DirClientToServer {
		mark = ">"
	}
	text := fmt.Sprintf(m.Format, m.Messages...)
	for line := range strings.Lines(text) {
		l.say.Say("%s %s", mark, strings.TrimRight(line, "\r\n"))
	}
}

func (l logger) Infof(m log.Log)  { l.Debugf(m) }
func (l logger) Warnf(m log.Log)  { l.Debugf(m) }
func (l logger) Errorf(m log.Log) { l.Debugf(m) }
