package config

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// alertKeys say who is told of what.
type alertKeys struct {
	At       Pos
	SMTP     *smtpKeys     `yaml:"smtp" doc:"A mail server."`
	Webhooks []webhookKeys `yaml:"webhooks" doc:"Addresses that are called with each message." nonempty:"yes"`
	Chats    []chatKeys    `yaml:"chats" doc:"Chat and push services." nonempty:"yes"`
	Routes   []routeKeys   `yaml:"routes" doc:"Which events go to which channels. An event goes to all routes that take it, once to each channel." nonempty:"yes" otherwise:"warnings and critical events go to all channels"`

	Group         Value[time.Duration] `yaml:"group" doc:"How long what happens together is collected for one message." default:"10s" max:"10m"`
	Wait          Value[time.Duration] `yaml:"wait" doc:"How long what often ends by itself and moved nothing is waited for before it is told (a site or a resolver that cannot be seen, a node that is out of reach and stays in DNS, a probe that steers nothing): a router that starts again mails nobody." default:"2m" max:"1h"`
	Remind        Value[span]          `yaml:"remind" doc:"How often is told that something lasts, or off." default:"4h"`
	Fallback      List[Value[string]]  `yaml:"fallback" doc:"Channels that take over the messages of one that has failed for fallback_after." nonempty:"yes" example:"[ops]"`
	FallbackAfter Value[time.Duration] `yaml:"fallback_after" doc:"How long a channel fails before its messages take the fallback too, and before that is an event." default:"15m" min:"1m" max:"1d"`
	GiveUp        Value[time.Duration] `yaml:"give_up" doc:"How long a message is tried. One that is given up is told of." default:"2d" min:"1h" max:"30d"`
	DeadMan       *deadManKeys         `yaml:"dead_man" doc:"An address that is called regularly while the controller decides: a service there tells people when the calls stop."`
}

// smtpKeys are a mail server, and who gets mail.
type smtpKeys struct {
	At           Pos
	Name         Value[name]              `yaml:"name" doc:"The channel's name." default:"mail"`
	Host         Value[string]            `yaml:"host" doc:"The server." required:"yes" example:"mail.example.com"`
	Port         Value[int]               `yaml:"port" doc:"Its port." otherwise:"587; 465 with encryption: tls, 25 with none" min:"1" max:"65535" example:"587"`
	Encryption   Value[string]            `yaml:"encryption" doc:"starttls refuses a server that cannot encrypt; tls is encrypted from the beginning; opportunistic encrypts where the server can; none does not." enum:"starttls|tls|opportunistic|none" default:"starttls"`
	From         Value[mailAddress]       `yaml:"from" doc:"The sender." required:"yes" example:"\"dnsteer <dnsteer@example.com>\""`
	To           List[Value[mailAddress]] `yaml:"to" doc:"Who gets the mails." required:"yes" nonempty:"yes" example:"[ops@example.com]"`
	User         Value[string]            `yaml:"user" doc:"The name to log in with." otherwise:"no login" example:"dnsteer@example.com"`
	Password     Value[hidden]            `yaml:"password" doc:"The password; better in a file of its own." example:"\"${MAIL_PASSWORD}\""`
	PasswordFile Value[string]            `yaml:"password_file" doc:"A file with the password, readable by nobody else." example:"/etc/dnsteer/mail-password"`
	Auth         Value[string]            `yaml:"auth" doc:"How to log in; auto takes the best that the server offers." enum:"auto|plain|login|cram-md5|scram-sha-1|scram-sha-256|xoauth2" default:"auto"`
	CAFile       Value[string]            `yaml:"ca_file" doc:"Certificates (PEM) that the server's must come from." otherwise:"those of the system" example:"/etc/dnsteer/ca.pem"`
	ServerName   Value[string]            `yaml:"server_name" doc:"The name in the server's certificate." otherwise:"host" example:"mail.example.com"`
	Helo         Value[string]            `yaml:"helo" doc:"The name that is said to the server." otherwise:"the machine's" example:"dnsteer.example.com"`
	Timeout      Value[time.Duration]     `yaml:"timeout" doc:"How long one attempt may take." default:"1m" min:"1s" max:"10m"`
}

// callKeys say how an address is called.
type callKeys struct {
	URL        Value[hidden]                 `yaml:"url" doc:"Where it is sent; http or https. Redirects are not followed." example:"https://ops.example.com/hook"`
	URLFile    Value[string]                 `yaml:"url_file" doc:"A file with the URL, where it holds a secret." example:"/etc/dnsteer/hook-url"`
	Method     Value[method]                 `yaml:"method" doc:"HTTP method." default:"POST"`
	Headers    map[string]Value[headerValue] `yaml:"headers" doc:"Headers that are sent; each is a Go template." example:"{Content-Type: application/json}"`
	Body       Value[string]                 `yaml:"body" doc:"A Go template of the body." otherwise:"the message as JSON" example:"'{\"text\": {{json .Title}}}'"`
	BodyFile   Value[string]                 `yaml:"body_file" doc:"A file with that template." example:"/etc/dnsteer/hook.tmpl"`
	Secret     List[Value[hidden]]           `yaml:"secret" doc:"Secrets that sign each call (HMAC-SHA256): one, or several while it is changed." nonempty:"yes" example:"\"${HOOK_SECRET}\""`
	SecretFile List[Value[string]]           `yaml:"secret_file" doc:"Files with such secrets." nonempty:"yes" example:"/etc/dnsteer/hook-secret"`
	CAFile     Value[string]                 `yaml:"ca_file" doc:"Certificates (PEM) that the server's must come from." otherwise:"those of the system" example:"/etc/dnsteer/ca.pem"`
	Timeout    Value[time.Duration]          `yaml:"timeout" doc:"How long one attempt may take." default:"15s" min:"1s" max:"5m"`
}

type webhookKeys struct {
	At       Pos
	Name     Value[name] `yaml:"name" doc:"The channel's name." required:"yes" example:"ops"`
	callKeys `yaml:",inline"`
}

type chatKeys struct {
	At      Pos
	Name    Value[name]          `yaml:"name" doc:"The channel's name." required:"yes" example:"team"`
	URL     Value[hidden]        `yaml:"url" doc:"The service with its token, in the form of shoutrrr: discord, googlechat, gotify, matrix, mattermost, ntfy, opsgenie, pagerduty, pushover, rocketchat, signal, slack, teams, telegram, zulip and others." example:"\"${TEAM_CHAT}\""`
	URLFile Value[string]        `yaml:"url_file" doc:"A file with that URL, readable by nobody else." example:"/etc/dnsteer/team-chat"`
	Timeout Value[time.Duration] `yaml:"timeout" doc:"How long one attempt may take." default:"30s" min:"1s" max:"5m"`
}

// matchKeys choose events.
type matchKeys struct {
	Severity Value[string]            `yaml:"severity" doc:"The least severity." enum:"info|warning|critical" otherwise:"warning for routes, info for actions" example:"warning"`
	Kinds    List[Value[kindPattern]] `yaml:"kinds" doc:"Kinds of events; * stands for any letters." nonempty:"yes" otherwise:"all" example:"[site_down, \"failover_*\"]"`
	Sites    List[Value[string]]      `yaml:"sites" doc:"Names of sites." nonempty:"yes" otherwise:"all, and what belongs to no site" example:"[berlin]"`
	Nodes    List[Value[string]]      `yaml:"nodes" doc:"Nodes, each as SITE/NODE." nonempty:"yes" otherwise:"all, and what belongs to no node" example:"[berlin/a]"`
	Drills   Value[bool]              `yaml:"drills" doc:"Whether what is part of a drill is taken, marked as one." otherwise:"true for routes, false for actions" example:"true"`
}

type routeKeys struct {
	At        Pos
	Name      Value[name] `yaml:"name" doc:"The route's name." otherwise:"its number" example:"on-call"`
	matchKeys `yaml:",inline"`
	To        List[Value[string]]  `yaml:"to" doc:"Names of channels." required:"yes" nonempty:"yes" example:"[mail]"`
	Fallback  List[Value[string]]  `yaml:"fallback" doc:"As alerts.fallback, for this route." nonempty:"yes" otherwise:"that of alerts" example:"[ops]"`
	Wait      Value[time.Duration] `yaml:"wait" doc:"As alerts.wait, for this route." otherwise:"that of alerts" max:"1h" example:"30s"`
	Remind    Value[span]          `yaml:"remind" doc:"As alerts.remind, for this route." otherwise:"that of alerts" example:"off"`
}

type deadManKeys struct {
	At      Pos
	URL     Value[hidden]        `yaml:"url" doc:"What is called." example:"https://check.example.com/dnsteer"`
	URLFile Value[string]        `yaml:"url_file" doc:"A file with the URL, where it holds a secret." example:"/etc/dnsteer/dead-man"`
	Every   Value[time.Duration] `yaml:"every" doc:"How often." default:"1m" min:"10s" max:"1d"`
	Method  Value[method]        `yaml:"method" doc:"HTTP method." default:"GET"`
	CAFile  Value[string]        `yaml:"ca_file" doc:"Certificates (PEM) that the server's must come from." otherwise:"those of the system" example:"/etc/dnsteer/ca.pem"`
}

// actionKeys are something that is carried out on events.
type actionKeys struct {
	At        Pos
	Name      Value[name] `yaml:"name" doc:"The action's name." required:"yes" example:"wake-b"`
	matchKeys `yaml:",inline"`
	Webhook   *actionCallKeys      `yaml:"webhook" doc:"An address that is called with the event."`
	Wake      *wakeKeys            `yaml:"wake" doc:"A node that is woken up by a Wake-on-LAN packet."`
	AtMost    Value[int]           `yaml:"at_most" doc:"How often it is carried out within the time of within." default:"3" min:"1" max:"1000"`
	Within    Value[time.Duration] `yaml:"within" doc:"The time that at_most counts in." default:"1h" min:"1s" max:"30d"`
}

type actionCallKeys struct {
	At       Pos
	callKeys `yaml:",inline"`
}

// wakeKeys say whom a packet wakes up.
type wakeKeys struct {
	At   Pos
	Node Value[string]               `yaml:"node" short:"yes" doc:"The node that is woken up, as SITE/NODE; it needs a mac." otherwise:"the node of the event" example:"berlin/b"`
	To   List[Value[netip.AddrPort]] `yaml:"to" doc:"Where the controller sends the packet: broadcast addresses of the nodes' networks with a port." default:"255.255.255.255:9" nonempty:"yes" example:"10.1.255.255:9"`
	Via  Value[string]               `yaml:"via" doc:"A target of type routeros that sends the packet into its own networks, in place of the controller." otherwise:"the controller sends it" example:"router-berlin"`
	On   Value[string]               `yaml:"interface" doc:"The router's interface that the packet leaves by, with via." otherwise:"the router's choice" example:"bridge"`
}

// hidden is a text that faults do not quote.
type hidden string

func (h *hidden) form() form { return form{name: "text"} }

func (h *hidden) UnmarshalText(text []byte) error {
	*h = hidden(text)
	if len(text) == 0 {
		return expected("some text")
	}
	return nil
}

// span is a duration, or off.
type span time.Duration

func (s *span) form() form {
	return form{name: "duration or off", pattern: `^(off|([0-9]+(\.[0-9]+)?(d|h|m|s|ms))+)$`, words: []string{"off"}}
}

func (s *span) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		*s = 0
		return nil
	}
	d, err := ParseDuration(string(text))
	*s = span(d)
	if err == nil && d < time.Minute {
		return expected("at least 1m, or off")
	}
	return err
}

// mailAddress is an address with or without a name.
type mailAddress mail.Address

func (a *mailAddress) form() form { return form{name: "mail address", pattern: "@"} }

func (a *mailAddress) UnmarshalText(text []byte) error {
	parsed, err := mail.ParseAddress(string(text))
	if err != nil || strings.ContainsAny(parsed.Address, "\r\n \t") {
		return expected(`a mail address such as ops@example.com or "Ops <ops@example.com>"`)
	}
	*a = mailAddress(*parsed)
	return nil
}

// kindPattern chooses kinds of events.
type kindPattern string

func (k *kindPattern) form() form { return form{name: "kind of event", pattern: `^[a-z_*]+$`} }

func (k *kindPattern) UnmarshalText(text []byte) error {
	*k = kindPattern(text)
	var known []string
	for _, kind := range sites.Kinds() {
		known = append(known, string(kind))
	}
	if slices.ContainsFunc(known, func(kind string) bool { ok, err := path.Match(string(text), kind); return ok && err == nil }) {
		return nil
	}
	return expected(`a kind of event such as site_down or "failover_*"` + Suggest(string(text), known))
}

// macText is a hardware address.
type macText net.HardwareAddr

func (m *macText) form() form {
	return form{name: "hardware address", pattern: `^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$`}
}

func (m *macText) UnmarshalText(text []byte) error {
	mac, err := net.ParseMAC(string(text))
	if err != nil || len(mac) != 6 {
		return expected("a hardware address such as 52:54:00:12:34:56")
	}
	*m = macText(mac)
	return nil
}

// webURL says whether a text is a URL that can be called.
func webURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
