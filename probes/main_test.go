package probes

import (
	"context"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/proptest"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) {
	if os.Getenv(acceptorEnv) != "" {
		acceptor()
		return
	}
	proptest.Fix()
	goleak.VerifyTestMain(m)
}

// ask probes once with a timeout.
func ask(t *testing.T, p Prober, addr string, timeout time.Duration) sites.Check {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	c := p.Probe(ctx, netip.MustParseAddr(addr))
	if c.Duration <= 0 || c.Duration > timeout+20*time.Second { // late only by what a busy machine takes
		t.Errorf("duration %v with a timeout of %v", c.Duration, timeout)
	}
	if (c.Cause == "") != (c.Outcome == sites.Up) {
		t.Errorf("cause %q with the outcome %v", c.Cause, c.Outcome)
	}
	if c.Text == "" {
		t.Error("no text for people")
	}
	return c
}

// want is what a test expects of a check.
type want struct {
	Outcome sites.Outcome
	Cause   Cause
}

func verdict(c sites.Check) want { return want{c.Outcome, Cause(c.Cause)} }

const (
	// soon is a timeout for what is expected to answer: long, for slow machines.
	soon = time.Minute
	// never is a timeout for what is expected not to answer.
	never = 150 * time.Millisecond
)
