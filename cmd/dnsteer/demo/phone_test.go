package demo

import (
	"net/http"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// The demo would not show what a phone shows, or be of a configuration that is
// refused.
func TestPhone(t *testing.T) {
	var out strings.Builder
	p := &phone{screen: &screen{w: &out}}
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	cfg, err := config.Parse("dnsteer.yaml", []byte(p.config()), config.Options{Instance: "demo"})
	if err != nil || len(cfg.Alerts.Channels) != 1 {
		t.Fatalf("the configuration: %v", err)
	}
	post := func(body string) int {
		res, err := http.Post("http://"+p.addr.String()+"/", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, body := range []string{
		`{"instance": "demo", "phase": "firing", "severity": "critical", "subject": "berlin cannot be seen", "left_alone": ["Nothing else was moved."]}`,
		`{"instance": "demo", "phase": "resolved", "severity": "critical", "subject": "berlin cannot be seen", "lasted_seconds": 90}`,
	} {
		if got := post(body); got != http.StatusOK {
			t.Errorf("a message is answered with %d", got)
		}
	}
	if got := post(`x`); got != http.StatusBadRequest {
		t.Errorf("nonsense is answered with %d", got)
	}
	const want = "   [phone] [demo] CRITICAL: berlin cannot be seen\n           Nothing else was moved.\n   [phone] [demo] Resolved after 1m 30s: berlin cannot be seen\n"
	if out.String() != want {
		t.Errorf("shown: %q, want %q", out.String(), want)
	}
}
