// Package chat sends messages to chat and push services by the URLs of the
// library shoutrrr. Such a URL holds the service's token, and so do the library's
// errors: nothing of it comes out of this package.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/logging"
)

// Service is one chat service. Make it by [New].
type Service struct {
	url    alert.Secret
	scheme string
	host   string
	dial   alert.Dial
}

// maxText bounds a message: services refuse longer ones.
const maxText = 1800

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
	s := &Service{url: secret, scheme: u.Scheme, host: u.Host, dial: opt.Dial}
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

// Send sends a message ([alert.Sender]). What the library does not end in time
// is left to itself: it knows no contexts.
func (s *Service) Send(ctx context.Context, m *alert.Message, log alert.Dialogue) error {
	c := &client{ctx: ctx, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: s.dial.Open, DisableKeepAlives: true},
	}}
	log.Say("> %s: %s", s.scheme, m.Title())
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Errorf("panic: %s", logging.Panic(v))
			}
		}()
		service, err := s.open(c)
		if err == nil {
			text := []rune(m.Brief())
			if len(text) > maxText {
				text = append(text[:maxText], '…')
			}
			err = service.Send(tame(m.Title()+"\n"+string(text)), &types.Params{})
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
	if err == nil {
		log.Say("< taken")
		return nil
	}
	text := s.hide(err.Error())
	log.Say("! %s", text)
	return &alert.RefusedError{Err: fmt.Errorf("%s: %s", s.scheme, text), After: c.after()}
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

// client carries the library's requests within the time of one message.
type client struct {
	ctx  context.Context
	http *http.Client

	mu    sync.Mutex // the library may still be at work when its time is over
	lines []string
	wait  time.Duration
}

// said gives what was sent and answered.
func (c *client) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// after is how long the service asks to be left alone.
func (c *client) after() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wait
}

const maxAnswer = 64 << 10

// Do sends a request.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	if c.http == nil {
		return nil, errors.New("the network is not used to check a URL")
	}
	res, err := c.http.Do(req.WithContext(c.ctx)) //nolint:gosec // the operator's own URL
	if err != nil {
		return nil, err
	}
	body, wait := io.LimitReader(res.Body, maxAnswer), time.Duration(0)
	if res.StatusCode == http.StatusTooManyRequests {
		data, err := io.ReadAll(body)
		if err != nil {
			return nil, errors.Join(err, res.Body.Close())
		}
		wait, body = asked(res.Header.Get("Retry-After"), data), bytes.NewReader(data)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait = wait
	c.lines = append(c.lines, "> "+req.Method+" "+req.URL.Host, "< "+res.Status)
	res.Body = &limited{body, res.Body}
	return res, nil
}

// asked is how long a service asks to be left alone: in seconds by a header, or as
// Telegram, Discord and Matrix say it in the answer.
func asked(header string, body []byte) time.Duration {
	var said struct {
		Parameters struct {
			Seconds float64 `json:"retry_after"`
		} `json:"parameters"`
		Seconds      float64 `json:"retry_after"`
		Milliseconds float64 `json:"retry_after_ms"`
	}
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil && json.Unmarshal(body, &said) == nil {
		seconds = max(said.Parameters.Seconds, said.Seconds, said.Milliseconds/1000)
	}
	if !(seconds > 0) { // no number too
		return 0
	}
	const day = 24 * 60 * 60
	return time.Duration(min(seconds, day) * float64(time.Second))
}

type limited struct {
	io.Reader
	io.Closer
}
