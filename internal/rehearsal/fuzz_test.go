package rehearsal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, a file that somebody sends to show a fault ends the program, or keeps
// it busy for ever.
func FuzzDecode(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range seeds {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("config: x.yaml\nsteps:\n- {at: 1s, down: [a/b]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var read file
		if err := config.Decode("fuzz.yaml", data, &read); err != nil && err.Error() == "" {
			t.Error("a fault without words")
		}
	})
}
