package probes

import (
	"context"
	"net/netip"
	"os/exec"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Exec runs a command, without a shell. Its exit status is the verdict.
type Exec struct {
	// Command and its arguments, in which "{address}" becomes the probed
	// address.
	Command []string
	// Env is the command's environment beside PATH.
	Env map[string]string
}

// Probe implements [Prober].
func (p Exec) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	at := newAttempt(ctx, addr)
	c := up("exit status 0")
	if len(p.Command) == 0 {
		c = unknown(CauseLocalConfig, "no command is given")
	} else if err := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...).Run(); err != nil {
		c = at.failed(ctx, err)
	}
	c.Duration = time.Since(start)
	return c
}
