package config

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/alert/chat"
	amail "github.com/dnsteer/dnsteer/internal/alert/mail"
	"github.com/dnsteer/dnsteer/internal/alert/webhook"
	"github.com/dnsteer/dnsteer/sites"
)

// Sizes of files that alerts name.
const (
	maxCertificates = 1 << 20
	maxTemplate     = 64 << 10
)

// alerts resolves who is told of what, and what is done on events.
func (b *builder) alerts() {
	cfg := &alert.Config{Instance: b.cfg.Instance}
	if k := b.file.Alerts; k != nil {
		b.known.fill(k, true)
		b.channels(k, cfg)
		b.routes(k, cfg)
		cfg.Group, cfg.FallbackAfter, cfg.GiveUp = k.Group.V, k.FallbackAfter.V, k.GiveUp.V
		cfg.DeadMan = b.deadMan(k.DeadMan)
	}
	b.actions(cfg)
	b.cfg.Alerts = cfg
}

func (b *builder) channels(k *alertKeys, cfg *alert.Config) {
	seen := newNames(b.report, "alert channel")
	add := func(n Value[name], at Pos, typ string, timeout time.Duration, s alert.Sender) {
		seen.add(Value[string]{V: string(n.V), At: n.At.or(at)})
		cfg.Channels = append(cfg.Channels, alert.Channel{Name: string(n.V), Type: typ, Timeout: timeout, Sender: s})
	}
	if s := k.SMTP; s != nil {
		b.known.fill(s, true)
		add(s.Name, s.At, "smtp", s.Timeout.V, b.mailer(s))
	}
	for i := range k.Webhooks {
		w := &k.Webhooks[i]
		b.known.fill(w, true)
		add(w.Name, w.At, "webhook", w.Timeout.V, b.hook(&w.callKeys, w.At))
	}
	for i := range k.Chats {
		c := &k.Chats[i]
		b.known.fill(c, true)
		secret, at := b.secretURL(c.URL, c.URLFile, c.At)
		s, err := chat.New(chat.Options{URL: secret, Dial: b.outbound().Dial})
		if err != nil && secret != "" {
			b.fault(at, "%s", err)
		}
		add(c.Name, c.At, "chat", c.Timeout.V, s)
	}
	if len(cfg.Channels) == 0 && len(k.Routes) == 0 && k.DeadMan == nil {
		b.warn(k.At, "nobody is told of anything: alerts has no smtp, webhooks or chats")
	}
}

// mailer resolves the mail server.
func (b *builder) mailer(k *smtpKeys) *amail.Mailer {
	opt := amail.Options{
		Host: k.Host.V, Port: k.Port.V, Encryption: amail.Encryption(k.Encryption.V), From: mail.Address(k.From.V),
		User: k.User.V, Auth: strings.TrimPrefix(k.Auth.V, "auto"), ServerName: k.ServerName.V, Helo: k.Helo.V, Roots: b.roots(k.CAFile),
		Dial: b.outbound().Dial,
	}
	if !k.Port.Set {
		opt.Port = map[string]int{"tls": 465, "none": 25}[k.Encryption.V]
		if opt.Port == 0 {
			opt.Port = 587
		}
	}
	for _, to := range k.To {
		opt.To = append(opt.To, mail.Address(to.V))
	}
	opt.Password = b.either(k.Password, k.PasswordFile, "password")
	switch has := k.Password.Set || k.PasswordFile.Set; {
	case k.User.Set && !has:
		b.fault(k.User.At, "found a user without a password, expected password_file or password beside it")
	case has && !k.User.Set:
		b.fault(k.Password.At.or(k.PasswordFile.At), "found a password without a user, expected the key \"user\" beside it")
	}
	if strings.ContainsAny(k.Host.V, " /:@") && net.ParseIP(k.Host.V) == nil {
		b.fault(k.Host.At, "found %q, expected a host name or an address, without a port", clip(k.Host.V))
	}
	if k.Encryption.V == "none" || k.Encryption.V == "opportunistic" {
		b.warn(k.Encryption.At, "encryption: %s: whoever is on the way to %s can read and change the mails", k.Encryption.V, k.Host.V)
	}
	return amail.New(opt)
}

// hook resolves how an address is called, and renders its templates.
func (b *builder) hook(k *callKeys, at Pos) *webhook.Hook {
	secret, place := b.secretURL(k.URL, k.URLFile, at)
	if secret != "" && !webURL(secret.Reveal()) {
		b.fault(place, "this is not a URL that can be called, expected one such as https://ops.example.com/hook")
	}
	if strings.HasPrefix(secret.Reveal(), "http://") {
		b.warn(place, "the webhook's address is not https: whoever is on the way can read and change what is sent")
	}
	opt := webhook.Options{URL: secret, Method: string(k.Method.V), Headers: texts(k.Headers), Body: k.Body.V, Roots: b.roots(k.CAFile), Dial: b.outbound().Dial}
	body := k.Body.At
	if k.BodyFile.Set {
		body = k.BodyFile.At
		opt.Body = string(b.readFile(k.BodyFile, maxTemplate, "body"))
		if k.Body.Set {
			b.fault(k.BodyFile.At, "found body_file beside body, expected one or the other")
		}
	}
	for _, s := range k.Secret {
		opt.Secrets = append(opt.Secrets, alert.Secret(s.V))
	}
	for _, f := range k.SecretFile {
		opt.Secrets = append(opt.Secrets, b.hiddenFile(f, "secret"))
	}
	h, err := webhook.New(opt)
	if err != nil {
		for _, v := range k.Headers {
			body = body.or(v.At)
		}
		b.fault(body.or(at), "%s", err)
	}
	return h
}

// secretURL gives a URL that stands in the file or in one of its own.
func (b *builder) secretURL(own Value[hidden], file Value[string], at Pos) (alert.Secret, Pos) {
	if !own.Set && !file.Set {
		b.fault(at, "the key \"url\" is missing, expected url or url_file")
		return "", at
	}
	return b.either(own, file, "url"), own.At.or(file.At)
}

// either gives a secret that stands in the file or in one of its own.
func (b *builder) either(own Value[hidden], file Value[string], key string) alert.Secret {
	if own.Set && file.Set {
		b.fault(file.At, "found %s_file beside %s, expected one or the other", key, key)
	}
	if file.Set {
		return b.hiddenFile(file, key)
	}
	return alert.Secret(own.V)
}

// hiddenFile reads a secret from a file of its own, without the line's end.
func (b *builder) hiddenFile(v Value[string], what string) alert.Secret {
	if err := b.disk.private(relative(v)); err != nil {
		b.fault(v.At, "the %s file %s: %s", what, relative(v), plain(err))
		return ""
	}
	content := b.readFile(v, maxSecretFile, what)
	data := strings.TrimRight(string(content), "\r\n")
	if data == "" && content != nil {
		b.fault(v.At, "the %s file %s is empty", what, relative(v))
	}
	return alert.Secret(data)
}

// readFile reads a file that belongs to the configuration from then on.
func (b *builder) readFile(v Value[string], limit int, what string) []byte {
	name := relative(v)
	data, err := b.disk.read("", name, limit)
	if err != nil {
		b.fault(v.At, "the %s file %s: %s", what, name, plain(err))
		return nil
	}
	b.bundle.Files[name] = data
	return data
}

// roots reads certificates of authorities; nil for those of the system.
func (b *builder) roots(v Value[string]) *x509.CertPool {
	if !v.Set {
		return nil
	}
	pool := x509.NewCertPool()
	if data := b.readFile(v, maxCertificates, "ca"); data != nil && !pool.AppendCertsFromPEM(data) {
		b.fault(v.At, "the ca file %s holds no certificate in PEM form", relative(v))
	}
	return pool
}

// routes resolves which events go where.
func (b *builder) routes(k *alertKeys, cfg *alert.Config) {
	var known []string
	for _, c := range cfg.Channels {
		known = append(known, c.Name)
	}
	list := func(names List[Value[string]]) (out []string) {
		for _, n := range names {
			if !slices.Contains(known, n.V) {
				b.unknownName(n, "there is no alert channel", known)
			} else if !slices.Contains(out, n.V) {
				out = append(out, n.V)
			}
		}
		return out
	}
	fallback := list(k.Fallback)
	if len(k.Routes) == 0 && len(known) > 0 {
		main := slices.DeleteFunc(slices.Clone(known), func(n string) bool { return slices.Contains(fallback, n) })
		if len(main) == 0 {
			main = known
		}
		cfg.Routes = []alert.Route{{
			Name: "1", Match: alert.Match{Least: sites.Warning}, To: main, Fallback: fallback, Wait: k.Wait.V, Remind: time.Duration(k.Remind.V),
		}}
	}
	seen := newNames(b.report, "route")
	for i := range k.Routes {
		r := &k.Routes[i]
		out := alert.Route{
			Name: strconv.Itoa(i + 1), Match: b.match(&r.matchKeys, sites.Warning, true), To: list(r.To), Fallback: fallback,
			Wait: first(r.Wait, k.Wait).V, Remind: time.Duration(first(r.Remind, k.Remind).V),
		}
		if r.Name.Set {
			out.Name = string(r.Name.V)
		}
		seen.add(Value[string]{V: out.Name, At: r.Name.At.or(r.At)})
		if len(r.Fallback) > 0 {
			out.Fallback = list(r.Fallback)
			for _, f := range r.Fallback {
				if slices.Contains(out.To, f.V) {
					b.fault(f.At, "found %s among the channels of the route itself, expected another that takes over when it fails", f.V)
				}
			}
		}
		cfg.Routes = append(cfg.Routes, out)
	}
}

// match resolves which events are chosen.
func (b *builder) match(k *matchKeys, least sites.Severity, drills bool) alert.Match {
	m := alert.Match{Least: least, NoDrills: !drills}
	if k.Severity.Set {
		m.Least = sites.Severity(k.Severity.V)
	}
	if k.Drills.Set {
		m.NoDrills = !k.Drills.V
	}
	for _, p := range k.Kinds {
		m.Kinds = append(m.Kinds, string(p.V))
		chosen := slices.ContainsFunc(sites.Kinds(), func(kind sites.Kind) bool {
			ok, err := path.Match(string(p.V), string(kind))
			return ok && err == nil && (&alert.Match{Least: m.Least}).Chooses(&sites.Event{Severity: kind.Severity()})
		})
		if !chosen {
			b.warn(p.At, "no event of the kind %s has the severity %s: write \"severity: info\" to have it too", p.V, m.Least)
		}
	}
	for _, s := range k.Sites {
		if _, ok := b.siteAt[s.V]; !ok {
			b.unknownName(s, "there is no site", b.siteNames())
		}
		m.Sites = append(m.Sites, s.V)
	}
	for _, n := range k.Nodes {
		b.nodeNamed(n)
		m.Nodes = append(m.Nodes, n.V)
	}
	return m
}

// nodeNamed checks a reference to a node, written SITE/NODE.
func (b *builder) nodeNamed(v Value[string]) *nodeKeys {
	site, node, _ := strings.Cut(v.V, "/")
	var known []string
	for i := range b.file.Sites {
		s := &b.file.Sites[i]
		for j := range s.Nodes {
			if string(s.Name.V) == site && string(s.Nodes[j].Name.V) == node {
				return &s.Nodes[j]
			}
			known = append(known, fmt.Sprintf("%s/%s", s.Name.V, s.Nodes[j].Name.V))
		}
	}
	b.unknownName(v, "there is no node", known)
	return nil
}

// deadMan resolves what is called regularly.
func (b *builder) deadMan(k *deadManKeys) *alert.DeadMan {
	if k == nil {
		return nil
	}
	b.known.fill(k, true)
	secret, at := b.secretURL(k.URL, k.URLFile, k.At)
	if secret != "" && !webURL(secret.Reveal()) {
		b.fault(at, "this is not a URL that can be called, expected one such as https://check.example.com/dnsteer")
	}
	h, err := webhook.New(webhook.Options{URL: secret, Method: string(k.Method.V), Roots: b.roots(k.CAFile), Dial: b.outbound().Dial})
	if err != nil {
		b.fault(at, "%s", err)
		return nil
	}
	return &alert.DeadMan{Every: k.Every.V, Call: h.Call, Try: h.Try}
}
