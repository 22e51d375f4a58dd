package routeros

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/dnsteer/dnsteer/providers"
)

// groupCommand makes a user who may do what is needed and nothing else.
const groupCommand = "/user group add name=dnsteer policy=read,write,api; /user set %s group=dnsteer"

// dialError says what a connection that does not come about means.
func dialError(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return transient("nothing listens on that port: switch the service on (/ip service enable api-ssl), or mend the address", err)
	}
	return transient("connect", err)
}

func transient(text string, err error) error {
	return &providers.Error{Err: fmt.Errorf("%s: %w", text, err)}
}

// handshakeError says what a handshake that fails means.
func handshakeError(err error) error {
	permanent := func(text string) error {
		return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("%s: %w", text, err)}
	}
	if pin, ok := errors.AsType[*providers.PinError](err); ok {
		return &providers.Error{Class: providers.Permanent, Err: pin}
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return permanent(`the certificate is for another name, or for none, as those are that routers make for themselves: set tls_fingerprint ("dnsteer target pin" shows it) or tls_name`)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return transient("the certificate is not valid at this time: renew it, or set the clock of this machine", err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return permanent(`nobody that is trusted vouches for the certificate: set tls_fingerprint ("dnsteer target pin" shows it) or tls_ca`)
	}
	if noCertificate(err) {
		return permanent("the service api-ssl has no certificate: assign one (/ip service set api-ssl certificate=NAME)")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return permanent("TLS is not spoken there: the port is that of another service (api-ssl has 8729, api without TLS 8728)")
	}
	if closed(err) {
		return transient("the connection was closed before TLS began: "+denied+", or TLS is not spoken there", err)
	}
	return transient("TLS", err)
}

// noCertificate says whether the error of a handshake is the refusal of a server
// that shares no cipher with us, as one does that has no certificate.
func noCertificate(err error) bool {
	// The alert's own type is not exported; its text is that of RFC 8446.
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" && strings.HasSuffix(op.Err.Error(), "handshake failure")
}

const denied = "the address list of the service does not hold this host, or as many sessions as it allows are open (/ip service print detail)"

func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func late(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// loginError says what a login that fails means.
func (p *Provider) loginError(s *session, err error) error {
	if trap, ok := errors.AsType[*trapError](err); ok {
		return &providers.Error{Class: providers.Denied, Err: fmt.Errorf("the router refuses the user %s: name or password is wrong, or its group has no policy api: %w", p.config.Username, trap)}
	}
	if closed(err) && !s.guard.heard {
		return transient("the connection was closed before the login: "+denied+", or TLS is spoken there", err)
	}
	if late(err) && !s.guard.heard {
		return transient("nothing answers to the login: the router hangs, or the port is that of another service (api-ssl has 8729, api without TLS 8728)", err)
	}
	return streamError(err)
}

// streamError says what a connection that breaks means.
func streamError(err error) error {
	class := providers.Transient
	var text string
	switch {
	case errors.Is(err, errHTTP):
		class, text = providers.Permanent, "the port is not that of the API (api-ssl has 8729, api without TLS 8728)"
	case errors.Is(err, errTLS):
		class, text = providers.Permanent, "the port speaks TLS: set tls to other than off, or use that of the service api (8728)"
	case errors.Is(err, errForeign), errors.Is(err, errWord), errors.Is(err, errReply):
		text = "the connection was dropped"
	case late(err):
		text = "the router did not answer in time"
	case closed(err):
		text = "the router closed the connection"
	default:
		return err
	}
	return &providers.Error{Class: class, Err: fmt.Errorf("%s: %w", text, err)}
}

// refusals are the texts of a router, in lower case, by what they hold.
var refusals = []struct {
	part  string
	class providers.Class
	means string
}{
	{"already exists", providers.Changed, "somebody has made the same record meanwhile"},
	{"already have", providers.Changed, "somebody has made the same record meanwhile"},
	{"no such item", providers.Changed, "the record is gone"},
	{"not enough permissions", providers.Permanent, "the user's group may not write; give it a group that may: " + groupCommand},
	{"no such command", providers.Permanent, "this version of RouterOS does not know the command"},
	{"unknown parameter", providers.Permanent, "this version of RouterOS does not know the field"},
	{"dynamic entry", providers.Permanent, "the row is made by the router itself"},
	{"invalid value", providers.Permanent, "the router does not take the value"},
	{"does not match any value", providers.Permanent, "the router does not take the value"},
	{"out of range", providers.Permanent, "the router does not take the value"},
	{"bad ", providers.Permanent, "the router does not take the value"},
	{"expected regexp", providers.Permanent, "the router does not take the expression"},
	{"only name or regexp", providers.Permanent, "the router does not take both"},
	{"interrupted", providers.Transient, "the router is busy"},
	{"timeout", providers.Transient, "the router is busy"},
}

// refusal gives a router's refusal its class and its meaning. One that is not known
// (its memory is full) is of this request, and may pass.
func (p *Provider) refusal(trap *trapError) error {
	message := strings.ToLower(trap.message)
	for _, r := range refusals {
		if !strings.Contains(message, r.part) {
			continue
		}
		means := r.means
		if strings.Contains(means, "%s") {
			means = fmt.Sprintf(means, p.config.Username)
		}
		if p.session != nil && r.class == providers.Permanent && strings.HasPrefix(means, "this version") {
			means += " (it is " + p.session.version.text + ")"
		}
		return &providers.Error{Class: r.class, Err: fmt.Errorf("%s: %w", means, trap)}
	}
	return &providers.Error{Class: providers.Declined, Err: trap}
}

// explain gives an error of a request its class, and says where it was.
func (p *Provider) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*providers.Error](err); !known {
		if trap, ok := errors.AsType[*trapError](err); ok {
			err = p.refusal(trap)
		} else {
			err = streamError(err)
		}
	}
	class, after := providers.ClassOf(err)
	return &providers.Error{Class: class, After: after, Err: fmt.Errorf("%s at the router %s: %w", doing, p.config.Address, err)}
}
