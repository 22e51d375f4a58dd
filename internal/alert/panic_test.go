package alert

import (
	"context"
	"strings"
	"testing"
	"time"
)

// panicking is a sender with a fault of its own, while a secret is on its way.
type panicking struct{}

func (panicking) Send(context.Context, *Message, Dialogue) error {
	panic("bad URL https://hush-hush@example.com")
}

// If this fails, a fault in what sends alerts shows a password to whoever reads why a
// message was not taken, or says nothing of where it is.
func TestAPanicQuotesNothing(t *testing.T) {
	r := Try(t.Context(), Channel{Name: "x", Sender: panicking{}, Timeout: time.Minute}, "test")
	if r.OK || strings.Contains(r.Error, "hush") || !strings.Contains(r.Error, "panicking.Send") {
		t.Errorf("%+v", r)
	}
}
