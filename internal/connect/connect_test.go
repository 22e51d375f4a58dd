package connect_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers/adguard"
	"github.com/dnsteer/dnsteer/providers/rfc2136"
	"github.com/dnsteer/dnsteer/providers/routeros"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A target would not be pushed to, or its records would be owned in the wrong
// way.
func TestServers(t *testing.T) {
	for _, tt := range []struct {
		name         string
		target       config.Target
		want         []string
		marks, fails bool
	}{
		{"router", config.Target{RouterOS: &routeros.Config{Address: "10.1.0.1:8729", Mark: "hq"}}, []string{"10.1.0.1:8729"}, true, false},
		{"router without a port", config.Target{RouterOS: &routeros.Config{Address: "10.1.0.1", Mark: "hq"}}, []string{"10.1.0.1"}, true, true},
		{"zone", config.Target{RFC2136: &rfc2136.Config{Server: "10.3.0.1:53", Zone: "lan"}}, []string{"10.3.0.1:53 lan"}, false, false},
		{"zone with marks", config.Target{RFC2136: &rfc2136.Config{Server: "10.3.0.1:53", Zone: "lan", Mark: "hq"}}, []string{"10.3.0.1:53 lan"}, false, false},
		{"adguard", config.Target{AdGuard: []adguard.Config{{URL: "https://10.2.0.1"}, {URL: "http://10.2.0.2"}}}, []string{"https://10.2.0.1", "http://10.2.0.2"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range connect.Servers(&tt.target) {
				got = append(got, s.Name)
				if s.Traits.Marks != tt.marks {
					t.Errorf("%s: traits %+v", s.Name, s.Traits)
				}
				p, err := s.Connect()
				if (err != nil) != tt.fails || (p == nil) != tt.fails {
					t.Errorf("%s: provider %v, error %v", s.Name, p, err)
				}
				if p != nil && p.Close() != nil {
					t.Errorf("%s cannot be closed", s.Name)
				}
			}
			if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
				t.Errorf("servers %q, want %q", got, tt.want)
			}
		})
	}
}

// Somebody would pin another certificate than the one that is shown, or would
// not know why none is.
func TestAsk(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	c, err := connect.Ask(t.Context(), srv.Listener.Addr().String())
	sum := sha256.Sum256(srv.Certificate().Raw)
	if err != nil || c.Fingerprint != "sha256:"+hex.EncodeToString(sum[:]) || c.Verified || c.Reason == "" {
		t.Errorf("%+v, %v", c, err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	bare, err := routersim.New(routersim.Options{NoCertificate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	for addr, want := range map[string]string{
		bare.TLSAddr():                 "set api-ssl certificate=NAME",
		plain.Listener.Addr().String(): "it does not speak TLS there",
		silent.Addr().String():         "without a certificate",
		"10.1.0.1":                     "is not HOST:PORT",
	} {
		if _, err := connect.Ask(t.Context(), addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
	if err := silent.Close(); err != nil {
		t.Error(err)
	}
}
