package chat

import (
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // the library wants one, and it goes nowhere
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/lark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/signal"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/wecom"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/join"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/sms/twilio"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/notifiarr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// serviceOf makes a service of the library, nil where there is none of that
// name. The library's own table is not used: it links an MQTT client too, whose
// licence does not fit.
func serviceOf(name string) types.Service {
	maker := map[string]func() types.Service{
		"bark": func() types.Service { return &bark.Service{} }, "discord": func() types.Service { return &discord.Service{} },
		"googlechat": func() types.Service { return &googlechat.Service{} }, "gotify": func() types.Service { return &gotify.Service{} },
		"ifttt": func() types.Service { return &ifttt.Service{} }, "join": func() types.Service { return &join.Service{} },
		"lark": func() types.Service { return &lark.Service{} }, "matrix": func() types.Service { return &matrix.Service{} },
		"mattermost": func() types.Service { return &mattermost.Service{} }, "notifiarr": func() types.Service { return &notifiarr.Service{} },
		"ntfy": func() types.Service { return &ntfy.Service{} }, "opsgenie": func() types.Service { return &opsgenie.Service{} },
		"pagerduty": func() types.Service { return &pagerduty.Service{} }, "pushbullet": func() types.Service { return &pushbullet.Service{} },
		"pushover": func() types.Service { return &pushover.Service{} }, "rocketchat": func() types.Service { return &rocketchat.Service{} },
		"signal": func() types.Service { return &signal.Service{} }, "slack": func() types.Service { return &slack.Service{} },
		"teams": func() types.Service { return &teams.Service{} }, "telegram": func() types.Service { return &telegram.Service{} },
		"twilio": func() types.Service { return &twilio.Service{} }, "wecom": func() types.Service { return &wecom.Service{} },
		"zulip": func() types.Service { return &zulip.Service{} },
	}[strings.ToLower(name)]
	if maker == nil {
		return nil
	}
	return maker()
}

// open makes the library's service, whose requests c carries. Some ask for something
// when they are made, and some make a client of their own then, so it is given to them
// before and after; but pushbullet would lose the token that it has put into it.
func open(secret alert.Secret, c *client) (types.Service, error) {
	u, err := url.Parse(secret.Reveal())
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	name, _, custom := strings.Cut(u.Scheme, "+")
	service := serviceOf(name)
	if service == nil {
		return nil, fmt.Errorf("there is no service %q", name)
	}
	if custom {
		other, ok := service.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("the service %s has no addresses of its own", name)
		}
		if u, err = other.GetServiceURLFromCustom(u); err != nil {
			return nil, err
		}
	}
	setter, ok := service.(types.HTTPClientSetter)
	if !ok {
		return nil, fmt.Errorf("the service %s cannot be reached by a way of ours", name)
	}
	setter.SetHTTPClient(c.http())
	if err := service.Initialize(u, log.New(io.Discard, "", 0)); err != nil { // it logs what is secret
		return nil, err
	}
	if _, keeps := service.(*pushbullet.Service); !keeps {
		setter.SetHTTPClient(c.http())
	}
	return service, nil
}
