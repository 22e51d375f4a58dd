package routeros

import (
	"context"
	"crypto/md5" //nolint:gosec // RouterOS before 6.43 knows nothing else
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	lib "github.com/go-routeros/routeros/v3"

	"github.com/dnsteer/dnsteer/providers"
)

// session is one connection that has logged in. One request is made at a time;
// any error but a router's plain refusal ends it.
type session struct {
	conn    net.Conn
	guard   *guard
	client  *lib.Client
	version version
	used    time.Time // when the last request ended
	// password is what it was sent, which it may quote.
	password providers.Secret
}

// request is what is asked of a router.
type request struct {
	words []string
	limit time.Duration // the longest that it may take
	cost  int           // the most that its reply may cost
}

// trapError is a request that the router refuses.
type trapError struct{ message string }

func (e *trapError) Error() string { return fmt.Sprintf("the router says %q", e.message) }

// goneAfter is how long a router may acknowledge nothing before it counts as gone; one
// that is asked nothing is noticed within half a minute.
const goneAfter = 20 * time.Second

// dial connects. The dialled host must have the certificate that is configured.
func (p *Provider) dial(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.connect)
	defer cancel()
	d := p.config.Guard.Over(p.config.Address, net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         noticeGone,
	})
	conn, err := d.DialContext(ctx, "tcp", p.config.Address)
	if err != nil {
		return nil, dialError(err)
	}
	if p.tls != nil {
		secure := tls.Client(conn, p.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // nothing was said on it
			return nil, handshakeError(err)
		}
		conn = secure
	}
	g := newGuard(conn)
	client, err := lib.NewClient(g)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	client.SetLogHandler(slog.DiscardHandler) // it would write the password
	s := &session{conn: conn, guard: g, client: client, password: p.config.Password}
	if err := p.login(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends the connection, and with it what the library runs.
func (s *session) close() { _ = s.client.Close() } // there is nothing to save

// run makes one request, within ctx and the request's own limit. Its error is a
// [trapError] where the router refuses; any other leaves the session useless.
func (s *session) run(ctx context.Context, r request) (*lib.Reply, error) {
	deadline := time.Now().Add(r.limit)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := s.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	s.guard.expect(r.cost)
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	reply, err := s.client.RunArgsContext(ctx, r.words)
	if !stop() && err == nil { // the next request would find the deadline of this one
		err = ctx.Err()
	}
	s.used = time.Now()
	if device, ok := errors.AsType[*lib.DeviceError](err); ok {
		message := providers.Hide(device.Sentence.Map["message"], s.password)
		if device.Sentence.Word == "!trap" {
			return nil, &trapError{message}
		}
		return nil, fmt.Errorf("the router ended the session: %q", message)
	}
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no answer: %w", context.Cause(ctx))
	case s.guard.err != nil:
		return nil, s.guard.err
	default:
		// A word that the library does not know stands in its error.
		return nil, providers.HideIn(err, s.password)
	}
}

// login says who we are, and learns the version.
func (p *Provider) login(ctx context.Context, s *session) error {
	ask := func(words ...string) (*lib.Reply, error) {
		return s.run(ctx, request{words, p.limits.request, maxReply})
	}
	name := "=name=" + p.config.Username
	reply, err := ask("/login", name, "=password="+p.config.Password.Reveal())
	if err != nil {
		return p.loginError(s, err)
	}
	if challenge, ok := reply.Done.Map["ret"]; ok {
		if p.tls == nil && !p.config.OldLogin {
			return &providers.Error{Class: providers.Permanent, Err: errors.New("it wants the login of RouterOS before 6.43: set old_login, or use api-ssl")}
		}
		response, err := answer(challenge, p.config.Password)
		if err != nil {
			return err
		}
		if _, err := ask("/login", name, "=response="+response); err != nil {
			return p.loginError(s, err)
		}
	}
	_, err = ask("/system/resource/print", "=.proplist=version")
	if _, refused := errors.AsType[*trapError](err); err != nil && !refused {
		return err
	}
	if err == nil && len(s.guard.rows) > 0 {
		s.version = parseVersion(s.guard.rows[0]["version"])
	}
	return nil
}

// answer gives what proves to an old router that we know the password.
func answer(challenge string, password providers.Secret) (string, error) {
	bytes, err := hex.DecodeString(challenge)
	if err != nil {
		return "", fmt.Errorf("the challenge of the router is not hexadecimal: %w", err)
	}
	sum := md5.Sum(append(append([]byte{0}, password.Reveal()...), bytes...))
	return "00" + hex.EncodeToString(sum[:]), nil
}

// do makes a request on the session that is kept, or on a new one. What only
// reads is asked once more where the kept session turns out to be over.
func (p *Provider) do(ctx context.Context, r request, reads bool) error {
	kept := p.session != nil
	if err := p.connect(ctx); err != nil {
		return err
	}
	_, err := p.session.run(ctx, r)
	if !ended(err) {
		return err
	}
	again := kept && reads && !p.session.guard.asked && ctx.Err() == nil && !timedOut(err)
	p.drop()
	if again {
		return p.do(ctx, r, false)
	}
	return err
}

// probe ends a session that was idle and does not answer: one that a firewall
// has forgotten would cost the whole limit of a request.
func (p *Provider) probe(ctx context.Context) {
	if p.session == nil || time.Since(p.session.used) < p.limits.idle {
		return
	}
	ping := request{[]string{"/system/identity/print"}, p.limits.ping, maxReply}
	if _, err := p.session.run(ctx, ping); ended(err) {
		p.drop()
	}
}

// connect makes a session where there is none.
func (p *Provider) connect(ctx context.Context) error {
	if p.session != nil {
		return nil
	}
	s, err := p.dial(ctx)
	if err != nil {
		return err
	}
	p.session = s
	return nil
}

// ended says whether a session is over after an error.
func ended(err error) bool {
	_, refused := errors.AsType[*trapError](err)
	return err != nil && !refused
}

func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

func (p *Provider) drop() {
	if p.session != nil {
		p.session.close()
		p.session = nil
	}
}
