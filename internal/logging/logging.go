// Package logging makes the program's logger. What is logged never waits for
// whoever reads it: a terminal that is stopped or a pipe that is full must not
// stop the decisions. What finds no room is counted and told of later.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
)

// queued is how many lines wait for a reader at most.
const queued = 1024

// Format of the lines.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// ParseFormat reads "text" or "json".
func ParseFormat(text string) (Format, error) {
	switch f := Format(text); f {
	case Text, JSON:
		return f, nil
	default:
		return "", fmt.Errorf("log format %q is neither text nor json", text)
	}
}

// ParseLevel reads "debug", "info", "warn" or "error".
func ParseLevel(text string) (slog.Level, error) {
	for _, l := range [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(text, l.String()) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("log level %q is none of debug, info, warn and error", text)
}

// Writer writes lines in a goroutine of its own and never blocks its callers.
type Writer struct {
	to      io.Writer
	format  Format
	lines   chan []byte
	dropped atomic.Uint64
	mu      sync.RWMutex // held for writing to close lines
	closed  bool
	done    chan struct{}
}

// New makes a logger that writes to w. [Writer.Close] writes what is left.
func New(w io.Writer, format Format, level slog.Level) (*slog.Logger, *Writer) {
	a := &Writer{to: w, format: format, lines: make(chan []byte, queued), done: make(chan struct{})}
	go a.run()
	return slog.New(handler(a, format, level)), a
}

func handler(w io.Writer, format Format, level slog.Level) slog.Handler {
	opt := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutSecrets}
	if format == JSON {
		return slog.NewJSONHandler(w, opt)
	}
	return slog.NewTextHandler(w, opt)
}

// Write takes one line, or drops it. It never fails.
func (w *Writer) Write(line []byte) (int, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return len(line), nil
	}
	select {
	case w.lines <- append([]byte(nil), line...):
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

// run writes the lines. Errors have nobody to be told to.
func (w *Writer) run() {
	defer close(w.done)
	own := slog.New(handler(w.to, w.format, slog.LevelDebug))
	for line := range w.lines {
		_, _ = w.to.Write(line)
		if n := w.dropped.Swap(0); n > 0 {
			own.Warn("lines of this log were dropped: they were not read fast enough", "lines", n)
		}
	}
}

// Close writes what waits, for as long as ctx lets it. Later lines are dropped.
// Its goroutine stays behind if the reader never takes what it is given.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.lines)
	}
	w.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("write the last lines of the log: %w", ctx.Err())
	}
}
