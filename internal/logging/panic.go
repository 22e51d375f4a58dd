package logging

import (
	"fmt"
	"log/slog"
	"runtime"
)

// panicKey is the key under which the program logs what a panic was called with.
const panicKey = "panic"

// Panic says what a panic was called with. What the runtime says of a fault has no
// values of texts in it; anything else may quote a secret that was on its way, and is
// given by its type alone. Where it happened is in the stack, which has no texts.
func Panic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T, whose text is left out: it may quote a secret", value)
}

// withoutSecrets takes what a panic was called with out of a line.
func withoutSecrets(_ []string, a slog.Attr) slog.Attr {
	if a.Key == panicKey {
		return slog.String(a.Key, Panic(a.Value.Any()))
	}
	return a
}
