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
	if got := post(`{"subject": "berlin/a is out", "left_alone": ["Nothing else was moved."]}`); got != http.StatusOK {
		t.Errorf("a message is answered with %d", got)
	}
	if got := post(`x`); got != http.StatusBadRequest {
		t.Errorf("nonsense is answered with %d", got)
	}
	if want := "   [phone] berlin/a is out\n           Nothing else was moved.\n"; out.String() != want {
		t.Errorf("shown: %q", out.String())
	}
}
