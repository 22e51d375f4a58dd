package config_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, something else is asked than what the configuration says.
func TestProbers(t *testing.T) {
	cfg := load(t, "testdata/good/full.yaml")
	any4 := netip.MustParseAddr("10.1.0.12")
	tests := []struct {
		name    string
		subject sites.Subject
		want    []probes.Prober
	}{
		{"inherited", sites.Subject{Site: "berlin", Node: "a", Addr: any4}, []probes.Prober{
			probes.ICMP{Packets: 3}, probes.ICMP{Packets: 5}, probes.TCP{Port: 443},
		}},
		{"own", sites.Subject{Site: "berlin", Node: "b"}, []probes.Prober{
			probes.HTTP{
				URL: "https://{address}/healthz", Method: "HEAD", Host: "app.example.lan", Headers: map[string]string{"Accept": "text/plain"},
				Status: []probes.StatusRange{{Low: 200, High: 200}, {Low: 300, High: 399}}, Body: "ok", Redirects: 2,
				Verify: probes.VerifyFingerprint, Fingerprint: "sha256:ab" + strings.Repeat("cd", 30) + "ef",
			},
			probes.HTTP{URL: "http://{address}:8080/", Method: "GET", Status: []probes.StatusRange{{Low: 200, High: 399}}},
			probes.TCP{Port: 22},
			probes.TLS{Port: 443, Host: "app.example.lan", Verify: probes.VerifyName, ExpiresWithin: 14 * 24 * time.Hour},
			probes.TLS{Port: 8443, Verify: probes.VerifyFingerprint, Fingerprint: "sha256:ab" + strings.Repeat("cd", 30) + "ef"},
			probes.DNS{Port: 5353, Server: netip.MustParseAddr("10.1.0.1"), Name: "app.example.lan.", Type: "AAAA", Rcode: "NOERROR", Values: []string{"fd00:1::11", "fd00:1::12"}},
			probes.DNS{Port: 53, Name: "example.org.", Type: "A", Rcode: "REFUSED"},
			probes.DNS{Port: 53, Name: "example.org.", Type: "TXT", Rcode: "NOERROR", Values: []string{"v=spf1 -all", `"a" "b"`}},
			probes.DNS{Port: 53, Name: "example.org.", Type: "TYPE65280", Rcode: "NOERROR"},
			probes.Exec{Command: []string{"/usr/local/bin/check", "-H", "{address}", "-p", "80"}, Env: map[string]string{"LANG": "C", "TOKEN": "a-secret-word"}},
		}},
		{"resolver", sites.Subject{Site: "berlin", Witness: "resolver 10.1.0.1", Addr: any4}, []probes.Prober{
			probes.Resolver{Ask: "localhost.", Type: "A", Port: 53},
		}},
		{"question", sites.Subject{Site: "berlin", Witness: "resolver fd00:1::1"}, []probes.Prober{
			probes.Resolver{Ask: "router.berlin.lan.", Type: "AAAA", Port: 53, Expect: addrs("fd00:1::1")},
		}},
		{"port", sites.Subject{Site: "berlin", Witness: "resolver [fd00:1::2]:5353"}, []probes.Prober{
			probes.Resolver{Ask: "localhost.", Type: "A", Port: 5353},
		}},
		{"other witness", sites.Subject{Site: "berlin", Witness: "tcp [fd00:1::254]:22"}, []probes.Prober{probes.TCP{Port: 22}}},
		{"witness by DNS", sites.Subject{Site: "berlin", Witness: "dns 10.1.0.2:5353 example.lan SOA"}, []probes.Prober{
			probes.DNS{Port: 5353, Name: "example.lan.", Type: "SOA", Rcode: "NOERROR"},
		}},
		{"witness by a program", sites.Subject{Site: "berlin", Witness: "exec 10.1.0.3 check-2"}, []probes.Prober{
			probes.Exec{Command: []string{"/opt/check", "-x"}},
		}},
		{"unknown", sites.Subject{Site: "berlin", Node: "z"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cfg.Probers(tt.subject), compare); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// If this fails, a changed probe is taken for the one that answered before, or
// one that did not change must answer anew before it counts (O2).
func TestDefinitions(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"steer and label", "{type: tcp, port: 80}", "{type: tcp, port: 80, steer: true, label: web}", true},
		{"type", "{type: tcp, port: 443}", "{type: tls, port: 443}", false},
		{"port", "{type: tls, port: 443}", "{type: tls, port: 8443}", false},
		{"host", "{type: tls, port: 443}", "{type: tls, port: 443, host: app.lan}", false},
		{"default port", "{type: dns, name: a.lan}", "{type: dns, name: a.lan, port: 53}", true},
		{"case of names", "{type: dns, name: a.lan}", "{type: dns, name: A.lan., rrtype: a, rcode: noerror}", true},
		{"rrtype", "{type: dns, name: a.lan}", "{type: dns, name: a.lan, rrtype: AAAA}", false},
		{"values", "{type: dns, name: a.lan}", "{type: dns, name: a.lan, values: [10.0.0.1]}", false},
		{"server", "{type: dns, name: a.lan}", "{type: dns, name: a.lan, server: 10.0.0.1}", false},
		{"arguments", "{type: exec, command: [a, b c]}", "{type: exec, command: [a, b, c]}", false},
		{"environment", "{type: exec, command: [a], env: {A: b, C: d}}", "{type: exec, command: [a], env: {C: d, A: b}}", true},
		{"variable", "{type: exec, command: [a]}", "{type: exec, command: [a], env: {A: b}}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := func(probe string) string {
				return two(t, "allow_exec: true", "", "probes: ["+probe+"]").Sites.Sites[0].Nodes[0].Probes[0].Key
			}
			if a, b := key(tt.a), key(tt.b); (a == b) != tt.same {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
}

// If this fails, another program is run than the one beside the configuration.
func TestProgram(t *testing.T) {
	dir, err := filepath.Abs("dir")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, want string }{
		{"/usr/local/bin/check", "/usr/local/bin/check"},
		{"checks/web", dir + "/checks/web"},
		{"./web", dir + "/web"},
		{"../web", filepath.Dir(dir) + "/web"},
		{"check_http", "check_http"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			cfg := two(t, "allow_exec: true", "", "probes: [{type: exec, command: ["+tt.in+", ./x]}]")
			want := []probes.Prober{probes.Exec{Command: []string{tt.want, "./x"}}}
			if diff := cmp.Diff(want, cfg.Probers(sites.Subject{Site: "berlin", Node: "a"})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
