package demo

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/dnsteer/dnsteer/sites"
)

// screen is where the demo speaks, one voice at a time.
type screen struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *screen) printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, format, args...)
}

func (d *demo) help() {
	enter := ", each followed by Enter"
	if d.direct {
		enter = ""
	}
	d.screen.printf(`Keys%s:
  1 2  stop or start berlin/a, berlin/b    3 4  hamburg    5 6  munich    7 8  leipzig
  e    edit a record at munich's router by hand
  b h  cut off or reconnect berlin, hamburg (all of it: nodes and resolver)
  m l  cut off or reconnect munich, leipzig (with the router, the AdGuard Home)
  r    silence or wake the resolver of berlin
  s    what is answered now, and why         q    quit

`, enter)
}

// What the keyboard sends beside letters.
const (
	endOfText   = 0x04 // Ctrl-D, where keys need no Enter
	escape      = 0x1b // begins what arrows and the like send
	keysAtATime = 64
)

// keys does what the keyboard says, until it or the demo ends. Its end (Ctrl-D)
// ends the demo.
func (d *demo) keys(ctx context.Context, stop func()) {
	defer stop()
	buf := make([]byte, keysAtATime)
	for ctx.Err() == nil {
		n, err := d.opt.Keys.Read(buf)
		if n > 0 && buf[0] != escape && !d.pressAll(ctx, buf[:n]) || err != nil {
			return
		}
	}
}

// pressAll does what keys say; false to end.
func (d *demo) pressAll(ctx context.Context, keys []byte) bool {
	lost := false
	for _, key := range keys {
		switch {
		case key == 'q' || key == 'Q' || key == endOfText:
			return false
		case key <= ' ':
		case !d.press(ctx, key|0x20):
			lost = true
		}
	}
	if lost {
		d.help()
	}
	return true
}

// press does what one key says, a letter in lower case; false for a key that
// says nothing.
func (d *demo) press(ctx context.Context, key byte) bool {
	if key == 's' {
		d.state(ctx)
		return true
	}
	_, ok := levers{d}.Pull(string(key))
	return ok
}

// cut cuts a site off or reconnects it, and says so.
func (d *demo) cut(p *place) string {
	if p.toggleCut() {
		return p.name + " is cut off: neither its nodes nor its resolver can be reached. Watch its DNS stay as it is."
	}
	return p.name + " is reachable again."
}

// silence silences a site's resolver or wakes it, and says so.
func (d *demo) silence(p *place) string {
	if p.toggleDeaf() {
		return fmt.Sprintf("the resolver of %s is silent: no node of %s is taken out until it answers.", p.name, p.name)
	}
	return fmt.Sprintf("the resolver of %s answers again.", p.name)
}

// toggle stops a node or starts it, and says so.
func (d *demo) toggle(ctx context.Context, n *node) string {
	name := n.site.name + "/" + n.name
	if n.running() {
		if d.unseen(ctx, n) {
			return name + " has not answered its first probe yet: try again in a moment."
		}
		n.off()
		if n.token != "" {
			return name + " was stopped: no report comes any more. Its address leaves DNS about 30 s after the last is too old (10 s)."
		}
		return name + " was stopped: its port refuses. Its address leaves DNS in about 30 s."
	}
	if err := n.on(); err != nil {
		return err.Error()
	}
	return name + " was started: it comes back into DNS after its grace (1 min)."
}

// unseen says whether the controller has not seen a node answer yet. One that is
// stopped before would be no outage.
func (d *demo) unseen(ctx context.Context, n *node) bool {
	ctx, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	st, err := d.app.Status(ctx)
	if err != nil {
		return false
	}
	for i := range st.Sites {
		for j := range st.Sites[i].Nodes {
			if v := &st.Sites[i].Nodes[j]; st.Sites[i].Name == n.site.name && v.Name == n.name {
				return v.Word == sites.WordPending
			}
		}
	}
	return false
}

// state prints what is answered now, and why.
func (d *demo) state(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	st, err := d.app.Status(ctx)
	if err != nil {
		d.screen.printf("-- %v\n", err)
		return
	}
	for i := range st.Sites {
		s := &st.Sites[i]
		d.screen.printf("%s: %s\n", s.Name, s.Explain)
		for j := range s.Pools {
			d.screen.printf("  %s\n", s.Pools[j].Explain)
		}
		for j := range s.Nodes {
			d.screen.printf("    %-11s %s\n", s.Nodes[j].Word, s.Nodes[j].Explain)
		}
	}
}
