package probes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

// A controller that has run out of descriptors would take every node and every
// resolver for dead (O1).
func TestNoDescriptorLeft(t *testing.T) {
	port := listen(t, func(net.Conn) {})
	probers := []Prober{TCP{Port: port}, HTTP{URL: fmt.Sprintf("http://{address}:%d/", port)}, Resolver{Port: port}, ICMP{}}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: 0, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	var got []sites.Check
	for _, p := range probers {
		got = append(got, ask(t, p, "127.0.0.1", soon))
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if verdict(c) != (want{sites.Unknown, CauseLocalDescriptors}) {
			t.Errorf("%T: %+v", probers[i], c)
		}
	}
}

// A stop or a reload would wait for what does not answer, or take its end for
// an outage.
func TestCancelledWhileSilent(t *testing.T) {
	silent := listen(t, func(net.Conn) {})
	for _, p := range []Prober{
		HTTP{URL: fmt.Sprintf("http://{address}:%d/", silent)},
		HTTP{URL: fmt.Sprintf("https://{address}:%d/", silent)},
		Resolver{Port: dnsServer(t, []reply{silence}, []reply{silence})},
		Resolver{Port: dnsServer(t, nil, []reply{silence})},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		time.AfterFunc(never, cancel)
		c := p.Probe(ctx, netip.MustParseAddr("127.0.0.1"))
		cancel()
		if verdict(c) != (want{sites.Unknown, CauseCancelled}) || c.Duration > soon/2 {
			t.Errorf("%T: %+v", p, c)
		}
	}
}
