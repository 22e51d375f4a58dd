package app

import (
	"fmt"
	"math"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// reserved is how many of a process's files are not for probes: DNS clients over
// TCP, the store, the control socket. Where there are few, it is a quarter.
const reserved = 256

// capacity is how many probes may be under way at once.
type capacity struct {
	probes int
	// warning says that more may be needed than the system lets be; "" otherwise.
	warning string
}

// capacityOf gives what a configuration may need at worst, but no more than fits
// into the files that this process may have open: names are answered and state is
// stored whatever becomes of the probes.
func capacityOf(cfg *sites.Config, files int) capacity {
	worst := probes.Limit(tasks(cfg))
	aside := min(reserved, files/4)
	if worst <= files-aside {
		return capacity{probes: worst}
	}
	return capacity{files - aside, fmt.Sprintf(
		"At worst %d probes are under way at once, and this process may have %d files open, of which %d are kept for the rest: where that is not enough, probes end as unknown (%s). Let it open %d files (LimitNOFILE= of its service, or ulimit -n), or probe less often.",
		worst, files, aside, probes.CauseLocalBusy, worst+reserved,
	)}
}

// noBound is the number of files where the system gives none.
const noBound = math.MaxInt32

// tasks lists what is probed of a configuration: every node in each of its
// families, and the witnesses.
func tasks(cfg *sites.Config) (list []probes.Task) {
	add := func(n int, interval, timeout time.Duration) {
		for range n {
			list = append(list, probes.Task{Interval: interval, Timeout: timeout})
		}
	}
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		add(len(s.Witnesses), s.Interval, s.Timeout)
		for j := range s.Nodes {
			n := &s.Nodes[j]
			var families [2]int
			for _, a := range n.Addresses {
				families[sites.FamilyOf(a)] = 1
			}
			add((families[0]+families[1])*len(n.Probes), n.Interval, n.Timeout)
		}
	}
	return list
}

// room gives the capacity of a configuration on this machine, and warns in the
// log where it is short.
func (a *App) room(cfg *config.Config) int {
	c := capacityOf(&cfg.Sites, openFiles())
	if c.warning != "" {
		a.log.Warn(c.warning) //nolint:sloglint // the sentence is the message
	}
	return c.probes
}

// warnings lists those of a configuration and of this machine under it.
func warnings(cfg *config.Config) []string {
	list := []string{}
	for _, w := range cfg.Warnings {
		list = append(list, w.String())
	}
	if c := capacityOf(&cfg.Sites, openFiles()); c.warning != "" {
		list = append(list, c.warning)
	}
	return list
}
