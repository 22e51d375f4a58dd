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
)

// Hook is where messages are sent, and how. Make it by [New].
type Hook struct {
	opt     Options
	body    *template.Template
	headers map[string]*template.Template
	client  *http.Client
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
		if h.body, err = parse("body", opt.Body); err != nil {
			return nil, err
		}
	}
	for name, text := range opt.Headers {
		if h.headers[name], err = parse("the header "+name, text); err != nil {
			return nil, err
		}
	}
	h.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		// No proxy of the environment: it is not in the configuration.
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: opt.Roots, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true, ResponseHeaderTimeout: 30 * time.Second,
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

// json says whether the body is meant to be JSON.
func (h *Hook) json() bool {
	for name, value := range h.opt.Headers {
		if strings.EqualFold(name, "Content-Type") {
			return strings.Contains(value, "json")
		}
	}
	return true
}

// parse reads a template.
func parse(what, text string) (*template.Template, error) {
	t, err := template.New(what).Option("missingkey=error").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			err := e.Encode(v)
			return strings.TrimSuffix(b.String(), "\n"), err
		},
		"join":  func(sep string, list []string) string { return strings.Join(list, sep) },
		"upper": strings.ToUpper, "lower": strings.ToLower,
		"urlquery": url.QueryEscape,
		"rfc3339":  func(t time.Time) string { return t.Format(time.RFC3339) },
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	return t, nil
}

// render makes the body for a message.
func (h *Hook) render(m *alert.Message) ([]byte, error) {
	for name := range h.headers {
		if _, err := h.header(name, m); err != nil {
			return nil, err
		}
	}
	if h.body == nil {
		body, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("write the message: %w", err)
		}
		return body, nil
	}
	var b bytes.Buffer
	if err := h.body.Execute(&bounded{&b}, m); err != nil {
		return nil, fmt.Errorf("render the template: %w", err)
	}
	return b.Bytes(), nil
}

// header renders a header, in one line.
func (h *Hook) header(name string, m *alert.Message) (string, error) {
	var b bytes.Buffer
	if err := h.headers[name].Execute(&bounded{&b}, m); err != nil {
		return "", fmt.Errorf("render the template: %w", err)
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(b.String(), "?")), " "), nil
}

// bounded keeps a template that repeats itself from taking all memory.
type bounded struct{ *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxMade {
		return 0, fmt.Errorf("it makes more than %d bytes", maxMade)
	}
	return b.Buffer.Write(p)
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

// hide takes the secrets out of a text.
func (h *Hook) hide(text string) string {
	for _, s := range append(alert.SecretsOf(h.opt.URL), h.opt.Secrets...) {
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
