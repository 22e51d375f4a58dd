//go:build !unix

package probes

import (
	"context"
	"runtime"

	"github.com/dnsteer/dnsteer/sites"
)

// run refuses: there are no process groups here to end a command by.
func (p Exec) run(context.Context, attempt, sites.Subject) sites.Check {
	return unknown(CauseLocalConfig, "probes by a command are not supported on %s", runtime.GOOS)
}
