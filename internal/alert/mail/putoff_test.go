package mail

import (
	"context"
	"errors"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// One mailbox that is full would keep every mail from all the others for two days, and
// then it would be given up; and one that is only greylisted would miss it.
func TestOneReceiverIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[string]string{"NOBODY": "452 4.2.2 over quota"}
		s := New(Options{
			Host: "mail.example.com", Port: 25, Encryption: None, From: netmail.Address{Address: "dnsteer@example.com"},
			To: []netmail.Address{{Address: "nobody@example.com"}, {Address: "ops@example.com"}},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go serve(there, answers)
				return here, nil
			},
		})
		m := alert.Sample(alert.Firing, noon)
		partial := func(want bool) {
			t.Helper()
			err := s.Send(t.Context(), &m, nil)
			var p *alert.Partial
			if err == nil || errors.As(err, &p) != want || !strings.Contains(err.Error(), "over quota") {
				t.Errorf("after %v: %v", time.Since(noon), err)
			}
		}
		partial(false)
		time.Sleep(10 * time.Minute)
		partial(false)
		time.Sleep(5 * time.Minute)
		partial(true)
		partial(true) // the next one waits no more
		delete(answers, "NOBODY")
		if err := s.Send(t.Context(), &m, nil); err != nil {
			t.Error(err)
		}
		answers["NOBODY"] = "452 4.2.2 over quota"
		partial(false)
	})
}
