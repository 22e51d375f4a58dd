package logging

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stuck is a reader that takes nothing until it is let go.
type stuck struct {
	letGo chan struct{}
	mu    sync.Mutex
	got   bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.letGo
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Write(b)
}

// A terminal that somebody has stopped would stop the controller.
func TestStuckReaderStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{letGo: make(chan struct{})}
		log, w := New(out, Text, slog.LevelInfo)
		const extra = 50
		log.Info("first")
		synctest.Wait() // it is being written
		for i := range queued + extra {
			log.Info("line", "n", i)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Close(ctx); err == nil {
			t.Error("a log that is stuck was closed as if all was written")
		}
		log.Info("too late")
		close(out.letGo)
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		got := out.got.String()
		if want := fmt.Sprintf("lines=%d\n", extra); !strings.Contains(got, want) {
			t.Errorf("the log does not tell of %d lines that were dropped", extra)
		}
		if n := strings.Count(got, "msg=line"); n != queued {
			t.Errorf("%d lines, want %d", n, queued)
		}
		if strings.Contains(got, "too late") {
			t.Error("a line after the end")
		}
	})
}

// Whoever collects the log would not be able to read it, or would miss what it
// is there for.
func TestFormats(t *testing.T) {
	tests := []struct {
		format Format
		level  slog.Level
		want   string
	}{
		{Text, slog.LevelInfo, "level=INFO msg=b site=berlin\n"},
		{JSON, slog.LevelDebug, `"level":"DEBUG","msg":"a"}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(string(tt.format), func(t *testing.T) {
			var out bytes.Buffer
			log, w := New(&out, tt.format, tt.level)
			log.Debug("a")
			log.Info("b", "site", "berlin")
			if err := w.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("got %q, want in it %q", out.String(), tt.want)
			}
			if tt.level == slog.LevelInfo && strings.Contains(out.String(), "msg=a") {
				t.Error("a line below the level")
			}
		})
	}
}

// A slip in a flag would change what is logged without a word.
func TestParse(t *testing.T) {
	if f, err := ParseFormat("json"); f != JSON || err != nil {
		t.Error(f, err)
	}
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml is taken")
	}
	if l, err := ParseLevel("warn"); l != slog.LevelWarn || err != nil {
		t.Error(l, err)
	}
	if _, err := ParseLevel("loud"); err == nil {
		t.Error("loud is taken")
	}
}
