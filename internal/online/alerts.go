package online

import (
	"context"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/config"
)

// tryWithin bounds what an alert channel may take to be tried.
const tryWithin = 20 * time.Second

// trier is a way to people that can be tried without a message.
type trier interface {
	Try(ctx context.Context, log alert.Dialogue) error
}

// Alerts looks whether alerts would get through, as far as that can be seen
// without a message: mail servers are connected to and logged in to, the servers
// of webhooks and of the dead man's switch are connected to. Chat services are
// not tried.
func Alerts(ctx context.Context, cfg *config.Config) (list []Finding) {
	if cfg.Alerts == nil {
		return nil
	}
	for i := range cfg.Alerts.Channels {
		c := &cfg.Alerts.Channels[i]
		f := Finding{About: "alerts by " + c.Name, Grade: Note, Text: "a chat service takes no connection without a message, so it is not tried here: \"dnsteer alert test " + c.Name + "\" sends one"}
		if t, ok := c.Sender.(trier); ok {
			f = tried(ctx, f.About, t.Try, map[string]string{
				"smtp":    "the mail server can be reached, and takes the login if there is one; no mail was sent",
				"webhook": "its server can be connected to; nothing was sent, so nobody knows whether it takes messages",
			}[c.Type])
		}
		list = append(list, f)
	}
	if d := cfg.Alerts.DeadMan; d != nil && d.Try != nil {
		list = append(list, tried(ctx, "alerts.dead_man", d.Try, "its server can be connected to; it was not called"))
	}
	for i := range cfg.Alerts.Actions {
		if a := &cfg.Alerts.Actions[i]; a.Try != nil {
			list = append(list, tried(ctx, "action "+a.Name, a.Try, "its server can be connected to; it was not called"))
		}
	}
	return list
}

func tried(ctx context.Context, about string, try func(context.Context, alert.Dialogue) error, well string) Finding {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	if err := try(ctx, nil); err != nil {
		return Finding{About: about, Grade: Failed, Text: err.Error()}
	}
	return Finding{About: about, Grade: OK, Text: well}
}
