package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/probes"
)

// If this fails, who has a node probed from the dashboard is told less of why it
// fails than who asks on the command line.
func TestDetails(t *testing.T) {
	ends := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	got := detailed(&probes.Detail{
		Address: "10.1.0.11:443", Steps: []probes.Step{{Name: "connect", Took: time.Millisecond}, {Name: "first_byte", Took: 2 * time.Second, Error: "no answer"}},
		Certificate: &probes.SeenCertificate{Subject: "CN=a", Issuer: "CN=b", Names: []string{"a", "b"}, NotAfter: ends, Fingerprint: "sha256:01", Version: "TLS 1.3"},
		HTTP:        &probes.SeenHTTP{Status: "502 Bad Gateway", Body: "sorry"}, DNS: &probes.SeenDNS{Rcode: "NOERROR", Answer: []string{"a A 10.1.0.11"}},
		Echoes: []probes.SeenEcho{{RTT: time.Millisecond}}, EchoesSent: 3, Command: &probes.SeenCommand{Status: "exit status 1", Output: "no disk"},
	})
	want := []said{
		{Label: "Asked", Text: "10.1.0.11:443"},
		{Label: "Step", Text: "connect 1.0 ms"},
		{Label: "Step", Text: "first byte 2.0 s: no answer"},
		{Label: "Certificate", Text: "CN=a, from CN=b, TLS 1.3"},
		{Label: "Its names", Text: "a, b"},
		{Label: "Lasts until", At: ends},
		{Label: "Fingerprint", Text: "sha256:01"},
		{Label: "Response", Text: "502 Bad Gateway"},
		{Label: "Begins with", Text: "sorry"},
		{Label: "Response", Text: "NOERROR"},
		{Label: "Record", Text: "a A 10.1.0.11"},
		{Label: "Echoes", Text: "1 of 3, 1.0 ms"},
		{Label: "Ended", Text: "exit status 1"},
		{Label: "Output", Text: "no disk"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := detailed(&probes.Detail{}); got != nil {
		t.Errorf("nothing was seen: %+v", got)
	}
}
