// Package mail sends messages by SMTP. The way to the server is encrypted and
// the server verified, unless the configuration gives that up in so many words;
// the password goes over an encrypted way only. Each attempt is one connection
// with a time of its own.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/providers"
)

// Encryption of the way to the server.
type Encryption string

// The ways of encryption.
const (
	// StartTLS begins in the clear, and gives up if the server cannot encrypt.
	StartTLS Encryption = "starttls"
	// Implicit is TLS from the first octet.
	Implicit Encryption = "tls"
	// Opportunistic encrypts if the server can; None does not.
	Opportunistic Encryption = "opportunistic"
	None          Encryption = "none"
)

// Options of a mail server.
type Options struct {
	Host       string
	Port       int
	Encryption Encryption
	// From and To are addresses, with or without a name.
	From mail.Address
	To   []mail.Address
	// User is empty where the server wants none. Auth is the mechanism, empty for
	// the best that the server offers.
	User     string
	Password alert.Secret
	Auth     string
	// Roots verify the server; nil for those of the system. ServerName is what
	// its certificate is held against, Host if empty.
	Roots      *x509.CertPool
	ServerName string
	// Dial opens the connection; nil for the network.
	Dial alert.Dial
	// Helo is the name that is said to the server; empty for the host's.
	Helo string
}

// Mailer sends mail.
type Mailer struct {
	opt Options

	mu sync.Mutex
	// putOff are the receivers that the server does not take for now, and since when.
	putOff map[string]time.Time
}

// stepTimeout bounds what the library waits for by itself.
const stepTimeout = 45 * time.Second

// New makes a mailer.
func New(opt Options) *Mailer { return &Mailer{opt: opt, putOff: make(map[string]time.Time)} }

// mechanisms by the words of the configuration.
func mechanism(word string, encrypted bool) gomail.SMTPAuthType {
	switch word {
	case "plain":
		if !encrypted {
			return gomail.SMTPAuthPlainNoEnc
		}
		return gomail.SMTPAuthPlain
	case "login":
		if !encrypted {
			return gomail.SMTPAuthLoginNoEnc
		}
		return gomail.SMTPAuthLogin
	case "cram-md5":
		return gomail.SMTPAuthCramMD5
	case "scram-sha-1":
		return gomail.SMTPAuthSCRAMSHA1
	case "scram-sha-256":
		return gomail.SMTPAuthSCRAMSHA256
	case "xoauth2":
		return gomail.SMTPAuthXOAUTH2
	default:
		return gomail.SMTPAuthAutoDiscover
	}
}

// Send sends a message ([alert.Sender]).
func (s *Mailer) Send(ctx context.Context, m *alert.Message, log alert.Dialogue) error {
	text, err := s.Compose(m, time.Now())
	if err != nil {
		return &alert.RefusedError{Err: err, Message: true}
	}
	return s.with(ctx, log, func(c *smtp.Client) error { return s.deliver(c, text, log) })
}

// Try connects to the server and authenticates, and sends nothing.
func (s *Mailer) Try(ctx context.Context, log alert.Dialogue) error {
	return s.with(ctx, log, func(*smtp.Client) error { return nil })
}

// with runs f on a connection that is ready.
func (s *Mailer) with(ctx context.Context, log alert.Dialogue, f func(*smtp.Client) error) error {
	var conn net.Conn
	// The library leaves the connection open when the beginning fails.
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	dial := func(ctx2 context.Context, network, addr string) (net.Conn, error) {
		log.Say("* connect to %s", addr)
		c, err := s.opt.Dial.Open(ctx2, network, addr)
		if err != nil {
			return nil, err
		}
		c = &reader{Conn: c, left: maxAnswers}
		conn = c
		// The library knows no context once it is connected.
		context.AfterFunc(ctx, func() { _ = c.Close() })
		if s.opt.Encryption != Implicit {
			return c, nil
		}
		t := tls.Client(c, s.tls())
		if err := t.HandshakeContext(ctx2); err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		log.Say("* encrypted by %s", tls.VersionName(t.ConnectionState().Version))
		return t, nil
	}
	within, cut := context.WithCancel(ctx)
	defer cut()
	ctx = within // its end closes the connection
	client, err := s.client(ctx, dial, log)
	if err != nil {
		return err
	}
	c, err := client.DialToSMTPClientWithContext(ctx)
	if err == nil {
		if err = f(c); err == nil || partial(err) {
			_ = c.Quit() // the server has what it was given
		}
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded)) {
		err = errors.New("the server does not answer in time")
	}
	return s.explain(err, log)
}

func (s *Mailer) tls() *tls.Config {
	name := s.opt.ServerName
	if name == "" {
		name = s.opt.Host
	}
	return &tls.Config{ServerName: name, RootCAs: s.opt.Roots, MinVersion: tls.VersionTLS12}
}

// client makes the library's client.
func (s *Mailer) client(ctx context.Context, dial gomail.DialContextFunc, log alert.Dialogue) (*gomail.Client, error) {
	timeout := stepTimeout
	if at, ok := ctx.Deadline(); ok {
		timeout = max(time.Until(at), time.Millisecond)
	}
	opts := []gomail.Option{
		gomail.WithPort(s.opt.Port), gomail.WithTimeout(timeout), gomail.WithDialContextFunc(dial), gomail.WithTLSConfig(s.tls()),
		gomail.WithLogger(logger{log, s.hide}), gomail.WithDebugLog(),
	}
	encrypted := true
	switch s.opt.Encryption {
	case Implicit:
		opts = append(opts, gomail.WithSSL())
	case Opportunistic:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case None:
		encrypted = false
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.opt.Helo != "" {
		opts = append(opts, gomail.WithHELO(s.opt.Helo))
	}
	if s.opt.User != "" {
		opts = append(opts, gomail.WithSMTPAuth(mechanism(s.opt.Auth, encrypted)), gomail.WithUsername(s.opt.User), gomail.WithPassword(s.opt.Password.Reveal()))
	}
	c, err := gomail.NewClient(s.opt.Host, opts...)
	if err != nil {
		return nil, fmt.Errorf("mail server %s: %s", s.opt.Host, s.hide(err.Error()))
	}
	return c, nil
}

// explain makes an error for people.
func (s *Mailer) explain(err error, log alert.Dialogue) error {
	if err == nil || partial(err) {
		return err
	}
	text := s.hide(strings.Join(strings.Fields(err.Error()), " "))
	hint := ""
	switch {
	case strings.Contains(text, "does not support STARTTLS"):
		hint = "; if it speaks TLS from the beginning (port 465), write \"encryption: tls\""
	case strings.Contains(text, "unknown authority"):
		hint = "; give its authority by \"ca_file\""
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		hint = "; write \"encryption: starttls\" if it begins in the clear"
	case strings.Contains(text, "535"):
		hint = "; the user name or the password is wrong"
	}
	log.Say("! %s%s", text, hint)
	out := fmt.Errorf("mail server %s: %s%s", net.JoinHostPort(s.opt.Host, strconv.Itoa(s.opt.Port)), text, hint)
	if e, ok := errors.AsType[*alert.RefusedError](err); ok {
		return &alert.RefusedError{Err: out, Message: e.Message}
	}
	return out
}

// hide takes the password out of a text, and what it is sent as (RFC 4616; XOAUTH2 is of
// Google): a server may quote it.
func (s *Mailer) hide(text string) string {
	p := s.opt.Password.Reveal()
	return providers.Hide(text,
		providers.Secret("\x00"+s.opt.User+"\x00"+p), providers.Secret("user="+s.opt.User+"\x01auth=Bearer "+p+"\x01\x01"), providers.Secret(p))
}

// maxAnswers bounds what is read of a server in one attempt: its answers are a
// few lines, and a certificate.
const maxAnswers = 1 << 20

// reader bounds what is read of a connection.
type reader struct {
	net.Conn
	left int
}

func (r *reader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("the server answers with more than %d bytes", maxAnswers)
	}
	n, err := r.Conn.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
