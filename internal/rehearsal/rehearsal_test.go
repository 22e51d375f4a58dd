package rehearsal

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A rehearsal that fails means that the controller decides otherwise than the
// rules promise, whatever the phases of its probes are.
func TestRehearsals(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no rehearsals", err)
	}
	for _, name := range files {
		if _, isConfig := map[string]bool{"testdata/two-sites.yaml": true}[name]; isConfig {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed, plays := uint64(0), uint64(20); seed < plays; seed++ {
				opt := Options{Seed: seed}
				if os.Getenv("TRACE") == strconv.FormatUint(seed, 10) {
					opt.Trace = t.Output()
				}
				res, err := r.Play(opt)
				if err != nil {
					t.Fatal(err)
				}
				if res.Elapsed > 2*time.Hour {
					plays = 5 // long ones meet many phases by themselves
				}
				for _, d := range res.Differences {
					t.Errorf("seed %d: %s", seed, d)
				}
			}
		})
	}
}
