package providers

import (
	"os"
	"testing"

	"github.com/dnsteer/dnsteer/internal/proptest"
)

func TestMain(m *testing.M) {
	proptest.Fix()
	os.Exit(m.Run())
}
