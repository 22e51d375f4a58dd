package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
)

// controlRetry is how often a socket is tried again that the disk did not take.
const controlRetry = 10 * time.Second

// control is the API on its socket.
type control struct {
	mu     sync.Mutex
	server *api.Server // nil while there is none
	closed bool
}

func (a *App) socket() string { return filepath.Join(a.statedir, api.SocketName) }

// openControl opens the API's socket. A disk that takes no socket is no reason
// to leave names unanswered: the socket is then tried again and again.
func (a *App) openControl() error {
	err := a.listenControl()
	if err == nil || !ofDisk(err) {
		return err
	}
	a.log.Error("the commands cannot reach the controller until its socket can be made", "error", err)
	a.beside.Go(func() {
		tick := time.NewTicker(controlRetry)
		defer tick.Stop()
		for {
			select {
			case <-a.life.Done():
				return
			case <-tick.C:
			}
			if a.listenControl() == nil {
				a.log.Info("the socket for the commands is there now", "socket", a.socket())
				return
			}
		}
	})
	return nil
}

func (a *App) listenControl() error {
	a.control.mu.Lock()
	defer a.control.mu.Unlock()
	if a.control.closed || a.control.server != nil {
		return nil
	}
	s, err := api.Listen(a.socket(), a.api)
	if err == nil {
		a.control.server = s
	}
	return err
}

// close ends the requests.
func (c *control) close(ctx context.Context) error {
	c.mu.Lock()
	s := c.server
	c.server, c.closed = nil, true
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Shutdown(ctx)
}

// cutOff is how long it may take to cut requests off once their time is over.
const cutOff = 100 * time.Millisecond

// end closes it, and waits for that for requestsWithin and a moment: to take the socket out
// of its folder may take as long as a disk hangs.
func (c *control) end(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- c.close(ctx) }()
	late := time.NewTimer(requestsWithin + cutOff)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return errors.New("the folder of the commands' socket does not answer")
	}
}

// ofDisk says whether an error is the disk's, not the configuration's.
func ofDisk(err error) bool {
	for _, e := range []error{syscall.EROFS, syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, fs.ErrPermission, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
