package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
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
	d.screen.printf(`Keys, each followed by Enter:
  1 2  stop or start berlin/a, berlin/b      3 4  the same for hamburg
  b h  cut off or reconnect berlin, hamburg (all of it: nodes and resolver)
  r    silence or wake the resolver of berlin
  s    what is answered now, and why         q    quit

`)
}

// keys does what the keyboard says, until it or the demo ends.
func (d *demo) keys(ctx context.Context, stop func()) {
	in := bufio.NewScanner(d.opt.Keys)
	for in.Scan() && ctx.Err() == nil {
		for _, key := range strings.ToLower(strings.TrimSpace(in.Text())) {
			if key == 'q' {
				stop()
				return
			}
			d.press(ctx, key)
		}
	}
}

// press does what one key says.
func (d *demo) press(ctx context.Context, key rune) {
	switch key {
	case '1', '2', '3', '4':
		d.toggle(d.nodes[key-'1'])
	case 'b', 'h':
		p := d.places[0]
		if key == 'h' {
			p = d.places[1]
		}
		p.cut.Store(!p.cut.Load())
		if p.cut.Load() {
			d.screen.printf("-- %s is cut off: neither its nodes nor its resolver can be reached. Watch its DNS stay as it is.\n", p.name)
		} else {
			d.screen.printf("-- %s is reachable again.\n", p.name)
		}
	case 'r':
		p := d.places[0]
		p.deaf.Store(!p.deaf.Load())
		if p.deaf.Load() {
			d.screen.printf("-- the resolver of berlin is silent: no node of berlin is taken out until it answers.\n")
		} else {
			d.screen.printf("-- the resolver of berlin answers again.\n")
		}
	case 's':
		d.state(ctx)
	case ' ':
	default:
		d.help()
	}
}

func (d *demo) toggle(n *node) {
	name := n.site.name + "/" + n.name
	if n.running() {
		n.off()
		d.screen.printf("-- %s was stopped: its port refuses. Its address leaves DNS in about 30 s.\n", name)
		return
	}
	if err := n.on(); err != nil {
		d.screen.printf("-- %v\n", err)
		return
	}
	d.screen.printf("-- %s was started: it comes back into DNS after its grace (1 min).\n", name)
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
