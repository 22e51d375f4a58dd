package rehearsal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// load says what a node's probes find out of its work from now on; what is left
// out is not known.
type load struct {
	Node           config.Value[string] `yaml:"node" required:"yes"`
	BytesPerSecond config.Value[string] `yaml:"bytes_per_second"`
	Sessions       config.Value[int]    `yaml:"sessions"`
	Load           config.Value[string] `yaml:"load"`
}

// check refuses nodes that are not there, or of which no probe finds that out.
func (l *load) check(w *world) error {
	if err := w.checkNode(l.Node.V); err != nil {
		return err
	}
	site, node, _ := strings.Cut(l.Node.V, "/")
	gives := false
	for _, p := range w.node(site, node).Probes {
		gives = gives || config.GivesFigures(p)
	}
	if !gives {
		return fmt.Errorf("no probe of %s finds figures out, expected one of type haproxy or heartbeat", l.Node.V)
	}
	if _, err := config.ParseBytes(l.BytesPerSecond.V); l.BytesPerSecond.Set && err != nil {
		return fmt.Errorf("bytes_per_second: %w", err)
	}
	if x, err := config.ParseBytes(l.Load.V); l.Load.Set && (err != nil || strings.Trim(l.Load.V, "0123456789.") != "" || x > 1e6) {
		return fmt.Errorf("load: found %q, expected a number such as 0.4", l.Load.V)
	}
	if l.Sessions.V < 0 {
		return errors.New("sessions: expected 0 or more")
	}
	return nil
}

func (l *load) figures() *sites.Figures {
	f := &sites.Figures{}
	if x, err := config.ParseBytes(l.BytesPerSecond.V); l.BytesPerSecond.Set && err == nil {
		f.BytesPerSecond = &x
	}
	if x, err := config.ParseBytes(l.Load.V); l.Load.Set && err == nil {
		f.Load = &x
	}
	if n := int64(l.Sessions.V); l.Sessions.Set {
		f.Sessions = &n
	}
	return f
}
