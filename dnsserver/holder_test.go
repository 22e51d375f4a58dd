package dnsserver

import (
	"net/netip"
	"strings"
	"testing"
)

// If this fails, the way out that someone is shown does not lead out.
func TestWaysOut(t *testing.T) {
	tests := []struct {
		name, who, at, want string
		says                []string
	}{
		{
			"systemd-resolved, and the wildcard", "systemd-resolve (process 412)", "127.0.0.53:53", "0.0.0.0:53",
			[]string{"systemd-resolve (process 412), the stub of systemd-resolved on 127.0.0.53:53", "in place of the wildcard", "DNSStubListener=no in /etc/systemd/resolved.conf", "another port"},
		},
		{
			"its second address", "a program of user systemd-resolve", "127.0.0.54:53", "127.0.0.54:53",
			[]string{"a program of user systemd-resolve, the stub", "another address", "DNSStubListener=no"},
		},
		{
			"dnsmasq on one address", "dnsmasq (process 7)", "10.0.0.1:53", "0.0.0.0:53",
			[]string{"dnsmasq (process 7)", "it has 10.0.0.1:53", "in place of the wildcard", "another port"},
		},
		{
			"dnsmasq on all", "dnsmasq (process 7)", "0.0.0.0:53", "10.0.0.53:53",
			[]string{"it has 0.0.0.0:53, which covers all addresses: have it listen on others than 10.0.0.53"},
		},
		{"nobody knows", "", "", "10.0.0.53:53", []string{"another program (", ":53", "choose another address or port in dns.listen"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := holder{who: tt.who}
			if tt.at != "" {
				h.at = netip.MustParseAddrPort(tt.at)
			}
			want := netip.MustParseAddrPort(tt.want)
			got := h.words(want.Port()) + ": " + h.waysOut(want)
			for _, part := range tt.says {
				if !strings.Contains(got, part) {
					t.Errorf("%q does not say %q", got, part)
				}
			}
		})
	}
}
