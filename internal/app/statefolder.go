package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// guardEvery is how often the state folder is looked at.
const guardEvery = 10 * time.Second

// guardState notices that the state folder has been removed though nothing is to
// be stored, and puts back what it can once there is a folder again: the store
// writes its file anew, the commands get their socket, and zones their keys.
func (a *App) guardState(ctx context.Context) {
	if a.opt.stand != nil {
		return // nobody removes the folder of a simulated controller
	}
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.lookAtState()
		case <-ctx.Done():
			return
		}
	}
}

// lookAtState looks once.
func (a *App) lookAtState() {
	if a.keeper.failure() == nil && !a.store.InPlace() {
		a.log.Error("the state folder has been removed or put in another's place", "folder", a.statedir)
		// A commit finds out what is wrong, and is told of as any that fails.
		a.loop.post(func() { a.keeper.everything(a.loop.engine.Machine()) })
	}
	if _, err := os.Stat(a.statedir); err != nil {
		return
	}
	if gone(a.socket()) {
		a.remakeSocket()
	}
	if a.keeper.failure() == nil && a.store.InPlace() { // else this may be another's place
		a.names.keepMade(a.cfg.Load().KeyFolder())
		if err := a.names.putBack(a.statedir, a.cfg.Load().KeyFolder()); err != nil {
			a.log.Error("the keys of zones are gone from the state folder and cannot be written anew", "error", err)
		}
	}
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func (a *App) remakeSocket() {
	a.control.drop()
	if err := a.listenControl(); err != nil {
		a.log.Error("the socket for the commands is gone and cannot be made again", "error", err)
		return
	}
	a.log.Info("the socket for the commands is there again", "socket", a.socket())
}

// drop ends a server whose socket is gone. Who is still connected asks again.
func (c *control) drop() {
	c.mu.Lock()
	s := c.server
	c.server = nil
	c.mu.Unlock()
	if s != nil {
		_ = within(requestsWithin, s.Shutdown) // what is late is cut off
	}
}
