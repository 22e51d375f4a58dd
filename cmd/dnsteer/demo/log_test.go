package demo

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A critical event would stand on the screen twice, or a fault of the demo's own not
// at all.
func TestTheLogTellsNoEvents(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(eventless{slog.NewTextHandler(&out, nil)})
	log.With("x", 1).Error("berlin cannot be seen", "event", "site_down", "id", 7)
	log.WithGroup("g").Error("the store fails", "error", "no space")
	if got := out.String(); strings.Contains(got, "berlin") || !strings.Contains(got, "the store fails") {
		t.Errorf("logged: %q", got)
	}
}
