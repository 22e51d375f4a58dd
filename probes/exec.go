package probes

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Exec runs a command, without a shell, and takes its exit status for the
// verdict: 0 is up, anything else down, with the first line of its output as
// the reason. What the system could not do (no such command, no process or
// memory left) and a command that ended without an exit status are
// [sites.Unknown]. At the deadline, and after the command's own end, its whole
// process group is ended; a process that has left the group is not.
//
// The command gets no input, no descriptor beside its output, and no
// environment but PATH, Env and DNSTEER_SITE, DNSTEER_NODE and DNSTEER_ADDRESS,
// of which the first two are set where a [Runner] or [Ask] runs it. It
// inherits the controller's user and rights, so its configuration has to be as
// trustworthy as the controller's.
type Exec struct {
	// Command is the program, as a path or a name that is found by PATH, and
	// its arguments, in which "{address}" becomes the probed address.
	Command []string
	// Env is the command's environment beside the above, which it may replace.
	Env map[string]string
}

// Probe implements [Prober].
func (p Exec) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	return p.probeSubject(ctx, sites.Subject{Addr: addr})
}

// probeSubject is Probe with the names of what is asked.
func (p Exec) probeSubject(ctx context.Context, s sites.Subject) sites.Check {
	start := time.Now()
	c := p.probe(ctx, s)
	c.Duration = time.Since(start)
	return c
}

func (p Exec) probe(ctx context.Context, s sites.Subject) sites.Check {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return unknown(CauseLocalConfig, "no command is given")
	}
	at := newAttempt(ctx, s.Addr)
	if err := ctx.Err(); err != nil {
		return at.failed(ctx, err)
	}
	return p.run(ctx, at, s)
}

// argv is the command for an address.
func (p Exec) argv(addr netip.Addr) []string {
	argv := slices.Clone(p.Command)
	for i := 1; i < len(argv); i++ {
		argv[i] = strings.ReplaceAll(argv[i], placeholder, addr.String())
	}
	return argv
}

// environ is the whole environment of the command. Of two values of a name the
// later counts.
func (p Exec) environ(s sites.Subject) []string {
	const common = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	path := os.Getenv("PATH")
	if path == "" {
		path = common
	}
	env := []string{"PATH=" + path, "DNSTEER_ADDRESS=" + s.Addr.String()}
	if s.Site != "" {
		env = append(env, "DNSTEER_SITE="+s.Site)
	}
	if s.Node != "" {
		env = append(env, "DNSTEER_NODE="+s.Node)
	}
	for k, v := range p.Env {
		env = append(env, k+"="+v)
	}
	return env
}

// said gives a verdict's text with what the command has said of it.
func said(status string, output []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if line = printable(line, maxLine); line == "" {
		return status
	}
	return status + ": " + line
}

// maxOutput is how much of a command's output is kept, in octets.
const maxOutput = 4 << 10

// maxLine is how many characters of foreign text stand in a check's text.
const maxLine = 200

// printable makes foreign text fit for a terminal and a log: one line, no
// control characters, at most n characters.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || 0x7F <= r && r < 0xA0 || r == '\uFFFD' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
