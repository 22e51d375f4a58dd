package mail

import (
	"errors"
	"fmt"
	"net/textproto"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// patience is how long a receiver who is put off keeps a message from the others:
// greylisting is over by then, a full mailbox may stay so.
const patience = 15 * time.Minute

// deliver hands a message over. Receivers that are refused for good keep the
// others from nothing, those that are put off for as long as there is patience.
func (s *Mailer) deliver(c *smtp.Client, text []byte, log alert.Dialogue) error {
	if err := c.Mail("<" + s.opt.From.Address + ">"); err != nil {
		return fmt.Errorf("the sender %s: %w", s.opt.From.Address, err)
	}
	var refusals, waits []error
	for _, to := range s.opt.To {
		err := c.Rcpt("<" + to.Address + ">")
		if err != nil && !aboutReceiver(err) {
			return fmt.Errorf("the receiver %s: %w", to.Address, err)
		}
		waits, refusals = s.note(to.Address, err, waits, refusals)
	}
	if waits != nil {
		return errors.Join(waits...) // greylisted, or full: all of them later
	}
	if len(refusals) == len(s.opt.To) {
		return errors.Join(refusals...)
	}
	w, err := c.Data()
	if err != nil {
		return refusal(fmt.Errorf("hand the message over: %w", err))
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("hand the message over: %w", err)
	}
	if err := w.Close(); err != nil {
		return refusal(fmt.Errorf("hand the message over: %w", err))
	}
	log.Say("* the server has taken it")
	if refusals != nil {
		return &alert.Partial{Err: fmt.Errorf("mail server %s: %s", s.opt.Host, s.hide(errors.Join(refusals...).Error()))}
	}
	return nil
}

// note takes in what the server says of a receiver, and adds it to what is waited for
// or to what is not.
func (s *Mailer) note(to string, err error, waits, refusals []error) (w, r []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.putOff, to)
		return waits, refusals
	}
	said := fmt.Errorf("the receiver %s: %w", to, err)
	if permanent(err) {
		return waits, append(refusals, said)
	}
	since, before := s.putOff[to]
	if !before {
		since = time.Now()
		s.putOff[to] = since
	}
	if time.Since(since) >= patience {
		return waits, append(refusals, said)
	}
	return append(waits, said), refusals
}

// aboutReceiver says whether an error is the server's word about a receiver, and not
// that it has trouble itself.
func aboutReceiver(err error) bool {
	e, ok := errors.AsType[*textproto.Error](err)
	return ok && e.Code != 421
}

func partial(err error) bool {
	_, ok := errors.AsType[*alert.Partial](err)
	return ok
}

// refusal marks an error of the content: other messages may fare better.
func refusal(err error) error {
	if permanent(err) {
		return &alert.RefusedError{Err: err, Message: true}
	}
	return err
}

// permanent says whether the server has answered that it will never be.
func permanent(err error) bool {
	e, ok := errors.AsType[*textproto.Error](err)
	return ok && e.Code >= 500
}
