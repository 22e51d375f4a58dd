package app

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Goroutines that outlive the controller would keep its ports and its folder.
func TestMain(m *testing.M) {
	if path := os.Getenv(childConfig); path != "" {
		os.Exit(child(path))
	}
	goleak.VerifyTestMain(m)
}
