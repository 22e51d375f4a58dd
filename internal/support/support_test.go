package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unpack reads a bundle back.
func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode != 0o600 {
			t.Errorf("%s has the mode %o", h.Name, h.Mode)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}

// If this fails, one part that cannot be had, be it of a controller that stands still,
// keeps the others from who looks into a fault; or a panic quotes a secret.
func TestWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		parts := []Part{
			JSON("status.json", func(context.Context) (map[string]int, error) { return map[string]int{"nodes": 3}, nil }),
			JSON("targets.json", func(context.Context) (int, error) { return 0, errors.New("the store is gone") }),
			{"alerts.json", func(ctx context.Context) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}},
			{"metrics.txt", func(context.Context) ([]byte, error) { panic("hunter2") }},
			Goroutines(),
		}
		parts = append(parts, Configuration([]config.Shown{{Path: "/etc/dnsteer/a/sites.yaml", Text: "sites: []\n"}, {Path: `C:\dnsteer\sites.yaml`, Text: "x: 1\n"}})...)
		var out bytes.Buffer
		began := time.Now()
		if err := Write(t.Context(), &out, now, parts); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != partTime {
			t.Errorf("it took %s, and one part hangs for %s", took, partTime)
		}
		files := unpack(t, out.Bytes())
		const folder = "dnsteer-support-20260301T120000Z/"
		want := []string{
			"about.txt", "alerts.json.error.txt", "configuration/01-sites.yaml", "configuration/02-sites.yaml", "goroutines.txt",
			"metrics.txt.error.txt", "status.json", "targets.json.error.txt",
		}
		for i := range want {
			want[i] = folder + want[i]
		}
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(files))); d != "" {
			t.Errorf("files (-want +got):\n%s", d)
		}
		for name, text := range map[string]string{
			"about.txt": "Look through it", "alerts.json.error.txt": "deadline exceeded", "targets.json.error.txt": "the store is gone\n",
			"configuration/02-sites.yaml": "# C:\\dnsteer\\sites.yaml\nx: 1\n", "goroutines.txt": "support_test.go", "status.json": "\"nodes\": 3",
			"metrics.txt.error.txt": "panic: string\n",
		} {
			if got := files[folder+name]; !strings.Contains(got, text) {
				t.Errorf("%s has no %q:\n%s", name, text, got)
			}
		}
		for name, text := range files {
			if strings.Contains(text, "hunter2") {
				t.Errorf("%s quotes the value of a panic", name)
			}
		}
	})
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// If this fails, a bundle that was cut short is taken for whole.
func TestWriteFails(t *testing.T) {
	err := Write(t.Context(), full{}, time.Now(), []Part{Program(time.Now(), time.Time{})})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}
