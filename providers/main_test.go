package providers

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/proptest"
)

func TestMain(m *testing.M) {
	proptest.Fix()
	goleak.VerifyTestMain(m)
}
