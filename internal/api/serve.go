package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// SocketName is the name of the socket in the state folder.
const SocketName = "dnsteer.sock"

// Limits of a connection. Streams, probes and reloads take longer, see
// unhurried.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 15 * time.Second
	answerTime     = time.Minute
	idleTime       = time.Minute
	maxHeader      = 16 << 10
	shutdownTime   = 2 * time.Second
)

// socketMode lets the socket's owner and group connect, and nobody else.
const socketMode = 0o660

// maxSocketPath is what the system's structure for it holds, without the zero
// at the end.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// dialTime is how long a socket that is there may take to show that somebody
// listens.
const dialTime = 2 * time.Second

// Listen opens the socket at path. One that is left over is replaced; one that
// somebody listens on is an error.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	// It gets its name once it has its permissions, so that nobody connects
	// who may not.
	fresh := filepath.Join(filepath.Dir(path), ".new.sock")
	if longer := max(len(path), len(fresh)); longer > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: the path of a socket may have %d bytes, this one needs %d; choose a shorter state.path",
			path, maxSocketPath, longer)
	}
	if err := vacant(ctx, path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "unix", fresh)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	s := &socket{Listener: ln, path: path}
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	if err = os.Chmod(fresh, socketMode); err == nil {
		s.file, err = os.Lstat(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = ln.Close()
		_ = os.Remove(fresh)
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return s, nil
}

// vacant says why a socket cannot be made at path, nil when it can.
func vacant(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something else of this name; move it away")
	}
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return errors.New("another controller listens there; stop it first, or choose another state.path")
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return err
}

// socket removes its file when it is closed, unless another took its place.
type socket struct {
	net.Listener
	path string
	file os.FileInfo
}

func (s *socket) Close() error {
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.file) {
		_ = os.Remove(s.path)
	}
	return s.Listener.Close()
}

// Serve answers on a listener until ctx ends. Then it lets what is under way
// come to its end, for at most two seconds, and ends the streams. It closes the
// listener.
func Serve(ctx context.Context, ln net.Listener, h *Handler) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTime,
		ReadTimeout:       readTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(h.Log.Handler(), slog.LevelDebug),
	}
	s.RegisterOnShutdown(h.EndStreams)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(ln) }()
	select {
	case err := <-failed:
		_ = s.Close()
		return fmt.Errorf("serve the API on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := s.Shutdown(limit); err != nil {
		h.Log.Warn("requests were cut off", "err", err)
		_ = s.Close()
	}
	<-failed
	return nil
}
