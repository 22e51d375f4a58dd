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
// Unhurried.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 15 * time.Second
	answerTime     = time.Minute
	idleTime       = time.Minute
	maxHeader      = 16 << 10
)

// socketMode lets the socket's owner and group connect, and nobody else.
const socketMode = 0o660

// maxSocketPath is what the system's structure for it holds, without the zero
// at the end.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// dialTime is how long a socket that is there may take to show that somebody
// listens.
const dialTime = 2 * time.Second

// Server answers on a socket.
type Server struct {
	http    *http.Server
	handler *Handler
	done    chan struct{} // closed when it no longer takes connections
}

// Listen opens the socket at path and answers on it until [Server.Shutdown].
// A socket that is left over is replaced; one that somebody listens on is an
// error.
func Listen(path string, h *Handler) (*Server, error) {
	ln, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return serve(ln, h), nil
}

// serve answers on a listener, which it closes in the end.
func serve(ln net.Listener, h *Handler) *Server {
	s := &Server{handler: h, done: make(chan struct{}), http: &http.Server{
		Handler:           h.Socket(),
		ReadHeaderTimeout: readHeaderTime,
		ReadTimeout:       readTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(h.Log.Handler(), slog.LevelDebug),
	}}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			h.Log.Error("the API is no longer served", "on", ln.Addr().String(), "error", err)
		}
	}()
	return s
}

// Shutdown takes no more requests, ends the streams, and lets what else is
// under way come to its end; when ctx ends, it is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.handler.EndStreams()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests to the API were cut off: %w", errors.Join(err, s.http.Close()))
	}
	<-s.done
	return err
}

// listen opens a socket of the right mode.
func listen(path string) (net.Listener, error) {
	// It gets its name once it has its mode, so that nobody connects who may
	// not.
	fresh := filepath.Join(filepath.Dir(path), ".new.sock")
	if longer := max(len(path), len(fresh)); longer > maxSocketPath {
		return nil, fmt.Errorf("the path of a socket may have %d bytes, this one has %d; choose a shorter state.path", maxSocketPath, longer)
	}
	if err := vacant(path); err != nil {
		return nil, err
	}
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	s := &socket{Listener: ln, path: path}
	if err = os.Chmod(fresh, socketMode); err == nil {
		s.file, err = os.Lstat(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, ln.Close(), os.Remove(fresh))
	}
	return s, nil
}

// vacant says why a socket cannot be made at path, nil when it can.
func vacant(path string) error {
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
	conn, err := d.DialContext(context.Background(), "unix", path)
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
