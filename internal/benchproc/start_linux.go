package benchproc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
)

// Start starts a program whose output goes to a file.
func Start(cmd *exec.Cmd, output string) error {
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Start()
}

// Said gives the end of a program's output, for an error; nothing where there is none.
func Said(output string) []byte {
	b, err := os.ReadFile(output)
	if err != nil {
		return nil
	}
	return b[max(0, len(b)-600):]
}

// FreePort gives a port of an IPv4 address that is free over UDP and TCP.
func FreePort(ctx context.Context, host string) (uint16, error) {
	var lc net.ListenConfig
	for range 20 {
		l, err := lc.Listen(ctx, "tcp4", net.JoinHostPort(host, "0"))
		if err != nil {
			return 0, err
		}
		at := l.Addr().String()
		c, err := lc.ListenPacket(ctx, "udp4", at)
		l.Close()
		if err != nil {
			continue
		}
		c.Close()
		a, err := netip.ParseAddrPort(at)
		return a.Port(), err
	}
	return 0, errors.New("no port is free")
}
