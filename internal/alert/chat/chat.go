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
	"sync"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/logging"
)

// Service is one chat service. Make it by [New].
type Service struct {
	scheme string
	host   string
	way    http.RoundTripper
	to     []alert.Secret // the URL, for each receiver
	// secrets are what no text shows, the longest first.
	secrets []alert.Secret

	mu sync.Mutex
	// failing is since when a receiver takes nothing while others do; taken are the
	// receivers that have a message which others have not.
	failing map[int]time.Time
	taken   map[string]map[int]bool
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
	s := newService(secret, u, &http.Transport{DialContext: opt.Dial.Open, DisableKeepAlives: true})
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
	for _, to := range s.to {
		if _, err := open(to, &client{}); err != nil {
			return nil, fmt.Errorf("the URL of the %s service cannot be used: %s", base, s.hide(err.Error()))
		}
	}
	return s, nil
}

func newService(secret alert.Secret, u *url.URL, way http.RoundTripper) *Service {
	s := &Service{
		scheme: u.Scheme, host: u.Host, way: way, secrets: alert.SecretsOf(secret),
		failing: make(map[int]time.Time), taken: make(map[string]map[int]bool),
	}
	for _, to := range each(u) {
		one := alert.Secret(to.String())
		s.to, s.secrets = append(s.to, one), append(s.secrets, alert.SecretsOf(one)...)
	}
	slices.SortFunc(s.secrets, func(a, b alert.Secret) int { return len(b.Reveal()) - len(a.Reveal()) })
	return s
}

// Send sends a message ([alert.Sender]) to each receiver of the URL that has not got it.
func (s *Service) Send(ctx context.Context, m *alert.Message, log alert.Dialogue) error {
	log.Say("> %s: %s", s.scheme, m.Title())
	var tried round
	for i, to := range s.to {
		if s.has(m.ID, i) {
			tried.took = append(tried.took, i)
			continue
		}
		within, cancel := share(ctx, len(s.to)-i)
		c, err := s.sendTo(within, to, m, log)
		cancel()
		tried.add(i, c, err)
	}
	if len(tried.faults) == 0 {
		log.Say("< taken")
	}
	return s.judge(m.ID, &tried)
}

// sendTo sends a message to a receiver. Where the service refuses the text for what it
// is, its title goes in plain words: what the service cannot take must not keep the
// news from people.
func (s *Service) sendTo(ctx context.Context, to alert.Secret, m *alert.Message, log alert.Dialogue) (*client, error) {
	c, err := s.post(ctx, to, whole(m), log)
	if err != nil && c.refusedText() && ctx.Err() == nil {
		log.Say("* the text is refused, so its title is sent in plain words")
		c, err = s.post(ctx, to, plain(m), log)
	}
	return c, err
}

// post sends a text. What the library does not end in time is left to itself: it knows
// no contexts. The error holds no secrets.
func (s *Service) post(ctx context.Context, to alert.Secret, text string, log alert.Dialogue) (*client, error) {
	c := &client{ctx: ctx, way: s.way}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Errorf("panic: %s", logging.Panic(v))
			}
		}()
		service, err := open(to, c)
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
	for _, part := range s.secrets {
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
