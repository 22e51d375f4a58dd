// Package online looks whether what a configuration speaks of can be reached and
// would work: nodes and witnesses by one probe each, targets by what they say of
// themselves and hold. It changes nothing.
package online

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Grade says how a thing was found.
type Grade string

// The grades.
const (
	OK      Grade = "ok"
	Note    Grade = "note"    // good to know
	Warning Grade = "warning" // may not work as it seems
	Failed  Grade = "failed"  // would not work
)

// Finding is what was found of one thing.
type Finding struct {
	// About names the thing: "berlin/a 10.1.0.11", "router-berlin (10.1.0.1:8729)".
	About string `json:"about"`
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`
}

// Check looks at a part of what a configuration speaks of, such as its mail
// servers. It returns soon after ctx ends.
type Check func(ctx context.Context, cfg *config.Config) []Finding

// atOnce bounds how many things are asked at a time.
const atOnce = 32

// All looks at everything: witnesses and nodes of each site, the targets, and
// what more finds. The findings are in the configuration's order.
func All(ctx context.Context, cfg *config.Config, log *slog.Logger, more ...Check) []Finding {
	e := eye{cfg, log}
	logins := logins{}
	var jobs []func() []Finding
	for i := range cfg.Sites.Sites {
		s := &cfg.Sites.Sites[i]
		for _, w := range s.Witnesses {
			jobs = append(jobs, func() []Finding { return []Finding{e.witness(ctx, s, w)} })
		}
		for j := range s.Nodes {
			jobs = append(jobs, func() []Finding { return e.node(ctx, s, &s.Nodes[j]) })
		}
	}
	for i := range cfg.Targets {
		t := &cfg.Targets[i]
		servers := logins.servers(t)
		jobs = append(jobs, func() []Finding { return target(ctx, cfg, t, servers) })
	}
	for _, check := range more {
		jobs = append(jobs, func() []Finding { return check(ctx, cfg) })
	}
	found := make([][]Finding, len(jobs))
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, job := range jobs {
		places <- struct{}{}
		all.Go(func() {
			found[i] = job()
			<-places
		})
	}
	all.Wait()
	var list []Finding
	for _, f := range found {
		list = append(list, f...)
	}
	return list
}

// eye looks at nodes and witnesses.
type eye struct {
	cfg *config.Config
	log *slog.Logger
}

// witness asks what proves a site's line.
func (e *eye) witness(ctx context.Context, s *sites.Site, w sites.Witness) Finding {
	f := Finding{About: s.Name + " " + w.Name, Grade: OK}
	subject := sites.Subject{Site: s.Name, Witness: w.Name, Addr: w.Addr}
	for _, p := range e.cfg.Probers(subject) {
		c := ask(ctx, p, subject, s.Timeout, e.log)
		f.Text = told(c)
		if c.Outcome != sites.Up {
			f.Grade = Failed
			f.Text += ": no node of this site is taken out while it does not answer"
		}
	}
	return f
}

// node asks a node as its schedule would, at the first address of each family.
func (e *eye) node(ctx context.Context, s *sites.Site, n *sites.Node) (list []Finding) {
	asked := make(map[sites.Family]bool)
	for _, addr := range n.Addresses {
		if f := sites.FamilyOf(addr); !asked[f] {
			asked[f] = true
			list = append(list, e.nodeAt(ctx, s, n, addr))
		}
	}
	return list
}

func (e *eye) nodeAt(ctx context.Context, s *sites.Site, n *sites.Node, addr netip.Addr) Finding {
	subject := sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}
	probers := e.cfg.Probers(subject)
	checks := make([]sites.Check, len(probers))
	var all sync.WaitGroup
	for i, p := range probers {
		if _, ok := p.(probes.Heartbeat); !ok {
			all.Go(func() { checks[i] = ask(ctx, p, subject, n.Timeout, e.log) })
		}
	}
	all.Wait()
	f := Finding{About: s.Name + "/" + n.Name + " " + addr.String(), Grade: OK}
	up, steering, reports := 0, 0, 0
	var texts []string
	for i, p := range n.Probes {
		if _, ok := probers[i].(probes.Heartbeat); ok {
			// The node reports to the running controller, and to nobody else.
			texts = append(texts, p.Name+": it reports by itself, which cannot be tried from here (the running controller knows: dnsteer explain "+s.Name+"/"+n.Name+")")
			if f.Grade == OK {
				f.Grade = Note
			}
			if p.Steer {
				reports++
			}
			continue
		}
		texts = append(texts, p.Name+": "+told(checks[i]))
		switch {
		case !p.Steer && checks[i].Outcome != sites.Up:
			f.Grade = Warning
		case p.Steer:
			steering++
			if checks[i].Outcome == sites.Up {
				up++
			}
		}
	}
	need := n.Require
	if need == 0 {
		need = steering + reports
	}
	if up+reports < need { // reports may come
		f.Grade = Failed
	}
	f.Text = strings.Join(texts, "; ")
	return f
}

func ask(ctx context.Context, p probes.Prober, s sites.Subject, within time.Duration, log *slog.Logger) sites.Check {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return probes.Ask(ctx, p, s, log)
}

// told says what came of a probe.
func told(c sites.Check) string {
	switch {
	case c.Outcome == sites.Up && c.Text != "":
		return fmt.Sprintf("answers in %s (%s)", c.Duration.Round(100*time.Microsecond), c.Text)
	case c.Outcome == sites.Up:
		return fmt.Sprintf("answers in %s", c.Duration.Round(100*time.Microsecond))
	case c.Text != "":
		return c.Text
	default:
		return c.Cause
	}
}
