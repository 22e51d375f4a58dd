// Package chat sends messages to chat and push services by the URLs of the
// library shoutrrr. Such a URL holds the service's token, and so do the library's
// errors: nothing of it comes out of this package.
package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/logging"
)

// Service is one chat service. Make it by [New].
type Service struct {
	url    alert.Secret
	scheme string
	host   string
	way    http.RoundTripper
}

// Options of a service.
type Options struct {
	URL alert.Secret
	// Dial opens the connections; nil for the network.
	Dial alert.Dial
}

// New makes a service of a URL, and checks that without the network as far as
// that can be done.
func New(opt Options) (*Service, error) {
	secret := opt.URL
	u, err := url.Parse(secret.Reveal())
	if err != nil || u.Scheme == "" {
		return nil, errors.New("this is not the URL of a chat service, expected one such as ntfy://ntfy.example.com/topic or slack://hook:TOKENS@webhook")
	}
	s := &Service{url: secret, scheme: u.Scheme, host: u.Host}
	s.way = &http.Transport{DialContext: opt.Dial.Open, DisableKeepAlives: true}
	base, _, _ := strings.Cut(u.Scheme, "+")
	switch base {
	case "smtp":
		return nil, errors.New("mail has the key \"smtp\" of its own")
	case "generic", "http", "https":
		return nil, errors.New("an address of your own has the key \"webhooks\"")
	case "logger":
		return nil, errors.New("the log has all events already")
	case "matrix": // it logs in when it is made
		return s, nil
	}
	if _, err := s.open(&client{}); err != nil {
		return nil, fmt.Errorf("the URL of the %s service cannot be used: %s", base, s.hide(err.Error()))
	}
	return s, nil
}

// Send sends a message ([alert.Sender]). Where the service refuses the text for what it
// is, its title goes in plain words: what the service cannot take must not keep the
// news from people.
func (s *Service) Send(ctx context.Context, m *alert.Message, log alert.Dialogue) error {
	log.Say("> %s: %s", s.scheme, m.Title())
	c, err := s.post(ctx, whole(m), log)
	if err != nil && c.refusedText() && ctx.Err() == nil {
		log.Say("* the text is refused, so its title is sent in plain words")
		c, err = s.post(ctx, plain(m), log)
	}
	if err == nil {
		log.Say("< taken")
		return nil
	}
	return &alert.RefusedError{Err: fmt.Errorf("%s: %w", s.scheme, err), After: c.after()}
}

// post sends a text. What the library does not end in time is left to itself: it knows
// no contexts. The error holds no secrets.
func (s *Service) post(ctx context.Context, text string, log alert.Dialogue) (*client, error) {
	c := &client{ctx: ctx, way: s.way}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Errorf("panic: %s", logging.Panic(v))
			}
		}()
		service, err := s.open(c)
		if err == nil {
			err = service.Send(text, &types.Params{})
		}
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.New("it does not answer in time")
	}
	for _, line := range c.said() {
		log.Say("%s", s.hide(line))
	}
	if err != nil {
		err = errors.New(s.hide(err.Error()))
		log.Say("! %v", err)
	}
	return c, err
}

// hide takes the secret URL and all of its parts out of a text.
func (s *Service) hide(text string) string {
	secrets := alert.SecretsOf(s.url)
	slices.SortFunc(secrets, func(a, b alert.Secret) int { return len(b.Reveal()) - len(a.Reveal()) })
	for _, part := range secrets {
		if v := part.Reveal(); v != s.scheme && v != s.host && v != "" {
			text = strings.ReplaceAll(text, v, "<secret>")
		}
	}
	// What is left of URLs may hold a token in another form.
	text = address.ReplaceAllStringFunc(text, func(u string) string {
		scheme, _, _ := strings.Cut(u, "://")
		end := u[len(strings.TrimRight(u, ".,:;)")):] // of the sentence around it
		return scheme + "://<secret>" + end
	})
	return strings.Join(strings.Fields(text), " ")
}

// address is a URL in a text, quoted or not.
var address = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"']*`)
