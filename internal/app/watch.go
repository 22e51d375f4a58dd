package app

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
)

// watchEvery is how often the configuration's files are looked at. It is done
// by their sizes and times: what tells of changes by itself misses files that
// are mounted or replaced through links.
const watchEvery = 2 * time.Second

// rejectedTicks is after how many looks a configuration that was rejected is
// read again though nothing was seen to change: its fault may lie in a file that
// the one in place does not name.
const rejectedTicks = 5

// watched is how the configuration's files looked, by their names: the zero stamp
// for one that is not there.
type watched map[string]config.Stamp

// look gives how the files of a configuration look now.
func look(path string, cfg *config.Config) watched {
	w := make(watched, len(cfg.Files)+1)
	see := func(name string) {
		if _, known := w[name]; known {
			return
		}
		switch info, err := os.Stat(name); {
		case err != nil:
			w[name] = config.Stamp{}
		case !info.IsDir():
			w[name] = config.StampOf(info)
		}
	}
	for _, name := range cfg.Files {
		see(name)
	}
	see(path)
	entries, err := os.ReadDir(path)
	if err != nil {
		return w // it is a file, or not there
	}
	for _, e := range entries { // files may come and go
		if config.Reads(e.Name()) {
			see(filepath.Join(path, e.Name()))
		}
	}
	return w
}

// watch reloads when the files have changed and then stayed the same for a
// moment, and when it is asked to by a signal.
func (a *App) watch(ctx context.Context) {
	every := a.opt.watchEvery
	if every == 0 {
		every = watchEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	// taken is how the files looked before the last reading, which therefore
	// saw that or something newer: nothing at first where the start has read none.
	taken := watched(a.cfg.Load().Stamps)
	before := taken
	rejected := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.opt.Hangup:
			before = look(a.opt.ConfigPath, a.cfg.Load())
		case <-tick.C:
			now := look(a.opt.ConfigPath, a.cfg.Load())
			settled := maps.Equal(now, before)
			before = now
			if !settled || maps.Equal(now, taken) && (rejected == 0 || rejected%rejectedTicks != 0) {
				if rejected > 0 {
					rejected++
				}
				continue
			}
		}
		rejected = 0
		if _, err := a.Reload(ctx); err != nil {
			rejected = 1
		}
		// Other files may belong to it now: those have not been looked at.
		if maps.Equal(look(a.opt.ConfigPath, a.cfg.Load()), before) {
			taken = before
		}
	}
}
