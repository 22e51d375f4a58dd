package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, a pipe among the files holds up the start, and every reload after it, until
// somebody writes to it.
func TestPipesAreRefused(t *testing.T) {
	const valid = "instance: a\n"
	for _, tt := range []struct{ name, file, text, want string }{
		{"a file of the folder", "20.yaml", "", "20.yaml: this is not a regular file"},
		{"a secret", "secret", "alerts: {webhooks: [{name: x, url_file: secret}]}\n", "10.yaml:2:41: alerts.webhooks[0].url_file: the url file "},
		{"a zone", "lan.zone", "dns: {listen: [\"127.0.0.1:5353\"], zones: [{name: lan, file: lan.zone}]}\n", "10.yaml:2:61: dns.zones[0].file: the zone file "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "10.yaml"), []byte(valid+tt.text), 0o600)
			pipe := filepath.Join(dir, tt.file)
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			// Whoever waits at it is let go.
			defer time.AfterFunc(time.Minute, func() {
				if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
					_ = f.Close()
				}
			}).Stop()
			if _, err := config.Load(dir); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
