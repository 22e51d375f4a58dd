package httpd

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, somebody passes for another by what a request says of its way here:
// the sender is the one who is connected unless that is a proxy of ours, and then one
// of those that the proxy names.
func FuzzCaller(f *testing.F) {
	for _, s := range [][3]string{
		{"10.0.0.1:7", "192.0.2.1, 10.0.0.9", "dnsteer.example.lan"},
		{"192.0.2.7:1", "127.0.0.1", "[::1]:8053"},
		{"[fe80::1%eth0]:1", "::ffff:10.0.0.1,,", "a.b.example.lan."},
		{"", "10.0.0.1%x", "%"},
		{"10.0.0.1:1", "203.0.113.5:4711, [2001:db8::1]:7, [10.0.0.7", "a"},
		{"10.0.0.1:1", "10.0.0.2,10.0.0.3,evil", "10.0.0.1:x"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	ours := netip.MustParsePrefix("10.0.0.0/8")
	g := &guard{}
	s := newState(&config.HTTP{Proxies: []netip.Prefix{ours}, Hosts: []string{"*.example.lan"}})
	f.Fuzz(func(t *testing.T, remote, forwarded, host string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		got := g.caller(s, r).Source
		var from netip.Addr
		if ap, err := netip.ParseAddrPort(remote); err == nil {
			from = ap.Addr().Unmap().WithZone("")
		}
		named := false
		for hop := range strings.SplitSeq(forwarded, ",") {
			if a, ok := hopOf(strings.TrimSpace(hop)); ok && a.Unmap().WithZone("") == got {
				named = true
			}
		}
		if got != from && (!ours.Contains(from) || !named) {
			t.Errorf("%q, forwarded for %q, passes for %s", remote, forwarded, got)
		}
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		_, err := netip.ParseAddr(strings.Trim(name, "[]"))
		if s.known(host) && err != nil && name != "localhost" && !strings.HasSuffix(name, ".example.lan") {
			t.Errorf("the host %q is known", host)
		}
	})
}
