package engine_test

import (
	"flag"
	"os"
	"testing"

	"github.com/dnsteer/dnsteer/internal/proptest"
)

// A random world takes longer than what rapid is usually given to draw, so
// fewer of them are made unless -rapid.checks says how many.
func TestMain(m *testing.M) {
	proptest.Fix()
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
