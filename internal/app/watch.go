package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// watched is how the configuration's files looked.
type watched string

// look gives the sizes and times of the files of a configuration.
func look(path string, cfg *config.Config) watched {
	var b strings.Builder
	files := append(slices.Clone(cfg.Files), path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		// Files may come and go.
		more, _ := filepath.Glob(filepath.Join(path, "*.yaml"))
		files = append(files, more...)
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%s: %v\n", name, err)
		case !info.IsDir():
			fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return watched(b.String())
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
	// saw that or something newer. Nothing at first: they may have changed since
	// the start has read them.
	var taken, before watched
	rejected := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.opt.Hangup:
			before = look(a.opt.ConfigPath, a.cfg.Load())
		case <-tick.C:
			now := look(a.opt.ConfigPath, a.cfg.Load())
			settled := now == before
			before = now
			if !settled || now == taken && (rejected == 0 || rejected%rejectedTicks != 0) {
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
		if look(a.opt.ConfigPath, a.cfg.Load()) == before {
			taken = before
		}
	}
}
