package config_test

import (
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, the example that people start from does not run.
func TestExample(t *testing.T) {
	if _, err := config.Load("../../config.example.yaml"); err != nil {
		t.Fatal(err)
	}
}
