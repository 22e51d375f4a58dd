package logging

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// If this fails, a panic while a password is on its way writes it into the log; or a
// fault of the program cannot be told from its log.
func TestAPanicQuotesNothing(t *testing.T) {
	const secret = "hush-hush"
	fault := func() (v any) {
		defer func() { v = recover() }()
		list := strings.Fields(" ")
		return list[len(secret)]
	}()
	for _, format := range []Format{Text, JSON} {
		for _, tt := range []struct {
			name  string
			value any
			want  string
		}{
			{"a text", "bad URL https://" + secret, "a string"},
			{"an error", errors.New("login " + secret), "a *errors.errorString"},
			{"a value", struct{ Password string }{secret}, "a struct"},
			{"a fault", fault, "index out of range [9] with length 0"},
		} {
			var out bytes.Buffer
			log, w := New(&out, format, slog.LevelInfo)
			log.With("target", "t").WithGroup("g").Error("a part has panicked", "panic", tt.value)
			if err := w.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); strings.Contains(got, secret) || !strings.Contains(got, tt.want) {
				t.Errorf("%s in %s: %s", tt.name, format, got)
			}
		}
	}
}
