// Package webhook sends messages by HTTP. The body is the message as JSON
// ([alert.Message]) or what a template makes of it. Redirects are not followed:
// they would carry secrets to where nobody has sent them. Answers are bounded.
//
// With secrets, each request bears "Dnsteer-Signature: t=TIME,v1=HEX", the
// HMAC-SHA256 with the secret over TIME (Unix seconds), a dot and the body. For
// each of several secrets there is one v1, so that a receiver can change its
// secret without a gap. "Idempotency-Key" is the message's ID.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/version"
)

// The headers of a request.
const (
	SignatureHeader   = "Dnsteer-Signature"
	IdempotencyHeader = "Idempotency-Key"
)

// Bounds of answers and of what is made.
const (
	maxAnswer = 64 << 10
	maxQuoted = 200
	maxMade   = 1 << 20
	maxTurns  = 100_000
)

// Hook is where messages are sent, and how. Make it by [New].
type Hook struct {
	opt     Options
	body    *template.Template
	headers map[string]*template.Template
	client  *http.Client
	// secrets are what no error shows, the longest first.
	secrets []alert.Secret
}

// Options of a hook.
type Options struct {
	// URL is a secret: many services have their token in it.
	URL    alert.Secret
	Method string
	// Headers are templates by name; Body is one, or empty for the JSON form.
	Headers map[string]string
	Body    string
	// Secrets sign each request.
	Secrets []alert.Secret
	// Roots verify the server; nil for those of the system.
	Roots *x509.CertPool
	// Dial opens the connections; nil for the network.
	Dial alert.Dial
	// Now is the clock of signatures; nil for the wall clock.
	Now func() time.Time
}

// New makes a hook, and renders its templates with samples of all kinds of
// messages. The error says what is wrong with which.
func New(opt Options) (*Hook, error) {
	h := &Hook{opt: opt, headers: make(map[string]*template.Template)}
	if h.opt.Now == nil {
		h.opt.Now = time.Now
	}
	if h.opt.Method == "" {
		h.opt.Method = http.MethodPost
	}
	var err error
	if opt.Body != "" {
		if h.body, err = read("body", opt.Body); err != nil {
			return nil, err
		}
	}
	for name, text := range opt.Headers {
		if !isToken(name) || slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, name) }) {
			return nil, fmt.Errorf("the header %q cannot be set, expected a name such as X-Token that is not the request's own", clip(name))
		}
		if h.headers[name], err = read("the header "+name, text); err != nil {
			return nil, err
		}
	}
	h.secrets = append(slices.Clone(opt.Secrets), alert.SecretsOf(opt.URL)...)
	for name, text := range opt.Headers {
		h.secrets = append(h.secrets, secretsOf(name, text)...)
	}
	slices.SortFunc(h.secrets, func(a, b alert.Secret) int { return len(b.Reveal()) - len(a.Reveal()) })
	h.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		// No proxy of the environment: it is not in the configuration.
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: opt.Roots, MinVersion: tls.VersionTLS12},
			DialContext:     opt.Dial.Open, DisableKeepAlives: true, ResponseHeaderTimeout: 30 * time.Second,
		},
	}
	for _, m := range alert.Samples(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		body, err := h.render(&m)
		if err != nil {
			return nil, err
		}
		if h.json() && !json.Valid(body) {
			return nil, fmt.Errorf("the body is no JSON for a message of phase %s: give texts by the function json, or another Content-Type; it gives %s", m.Phase, clip(string(body)))
		}
	}
	return h, nil
}

// Send sends a message ([alert.Sender]).
func (h *Hook) Send(ctx context.Context, m *alert.Message, log alert.Dialogue) error {
	body, err := h.render(m)
	if err != nil {
		return &alert.RefusedError{Err: err, Message: true}
	}
	req, err := http.NewRequestWithContext(ctx, h.opt.Method, h.opt.URL.Reveal(), bytes.NewReader(body))
	if err != nil {
		return errors.New("make the request: the URL or the method is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "dnsteer/"+version.Version)
	for name := range h.headers {
		value, err := h.header(name, m)
		if err != nil {
			return &alert.RefusedError{Err: err, Message: true}
		}
		if strings.EqualFold(name, "Host") {
			req.Host = value // net/http takes it from there alone
		}
		req.Header.Set(name, value)
	}
	req.Header.Set(IdempotencyHeader, m.ID)
	if len(h.opt.Secrets) > 0 {
		req.Header.Set(SignatureHeader, Sign(h.opt.Now(), body, h.opt.Secrets...))
	}
	log.Say("> %s %s (%d bytes)", req.Method, h.place(), len(body))
	res, err := h.client.Do(req)
	if err != nil {
		err = h.plain(err)
		log.Say("! %v", err)
		return err
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // what the status says counts
	log.Say("< %s", res.Status)
	if text := h.quote(answer); text != "" {
		log.Say("< %s", text)
	}
	return h.judge(res, answer)
}

// judge makes an error of an answer that is no success.
func (h *Hook) judge(res *http.Response, answer []byte) error {
	text := h.quote(answer)
	if text != "" {
		text = ": " + text
	}
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return fmt.Errorf("%s answers %s, and redirects are not followed: write the URL that it leads to", h.place(), res.Status)
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge, code == http.StatusUnprocessableEntity:
		return &alert.RefusedError{Err: fmt.Errorf("%s answers %s%s", h.place(), res.Status, text), Message: true}
	default:
		return &alert.RefusedError{Err: fmt.Errorf("%s answers %s%s", h.place(), res.Status, text), After: after(res.Header.Get("Retry-After"), h.opt.Now())}
	}
}

// after reads Retry-After: seconds, or a date.
func after(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(min(n, 24*3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// place names the receiver without what may be secret.
func (h *Hook) place() string {
	u, err := url.Parse(h.opt.URL.Reveal())
	if err != nil {
		return "the receiver"
	}
	return u.Scheme + "://" + u.Host
}

// plain is an error without the URL, which net/http puts into it.
func (h *Hook) plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s does not answer in time", h.place())
	}
	return fmt.Errorf("%s: %s", h.place(), h.hide(err.Error()))
}

// isToken says whether a text is a token as RFC 9110, section 5.6.2 has it.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// secretsOf gives the words of a header that may be secret, such as the token of
// an Authorization: all that are as long as one, of a header that says who calls.
func secretsOf(name, text string) (list []alert.Secret) {
	if slices.ContainsFunc([]string{"Content-Type", "Accept", "User-Agent", "Host"}, func(plain string) bool { return strings.EqualFold(plain, name) }) {
		return nil
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;\"", r) }) {
		if len(word) >= 8 && !strings.Contains(word, "{{") {
			list = append(list, alert.Secret(word))
			if _, value, ok := strings.Cut(word, "="); ok && len(value) >= 8 {
				list = append(list, alert.Secret(value))
			}
		}
	}
	return list
}

// hide takes the secrets out of a text.
func (h *Hook) hide(text string) string {
	for _, s := range h.secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s.Reveal(), "<secret>")
		}
	}
	return text
}

// quote gives the beginning of an answer, in printable characters.
func (h *Hook) quote(answer []byte) string {
	return clip(h.hide(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(answer), "?"))), " ")))
}

func clip(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		return string(r[:maxQuoted]) + "…"
	}
	return text
}

// Call sends an empty request with the method, for the dead man's switch.
func (h *Hook) Call(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, h.opt.Method, h.opt.URL.Reveal(), nil)
	if err != nil {
		return errors.New("make the request: the URL or the method is not valid")
	}
	req.Header.Set("User-Agent", "dnsteer/"+version.Version)
	res, err := h.client.Do(req)
	if err != nil {
		return h.plain(err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // what the status says counts
	return h.judge(res, answer)
}
