package rehearsal

import (
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// world is what the probes of a rehearsal meet. At the start everything
// answers.
type world struct {
	cfg      *config.Config
	down     map[string]bool // "site/node"
	unknown  map[string]bool // "site/node"
	failing  map[string]bool // "site/node probe"
	resolver map[string]bool // sites whose resolver is silent
	cut      map[string]bool // sites that are out of reach
	work     map[string]*sites.Figures
}

func newWorld(cfg *config.Config) *world {
	return &world{
		cfg: cfg, down: map[string]bool{}, unknown: map[string]bool{}, failing: map[string]bool{},
		resolver: map[string]bool{}, cut: map[string]bool{}, work: map[string]*sites.Figures{},
	}
}

// probe gives what comes of a run, and when.
func (w *world) probe(run probes.Run) sites.Result {
	s := run.Subject
	res := sites.Result{Subject: s, Start: run.Start, Finish: run.Start}
	if s.Node == "" {
		res.Checks = []sites.Check{{Outcome: sites.Up}}
		if w.cut[s.Site] || w.resolver[s.Site] && w.isResolver(s) {
			w.fail(run, &res, 0)
		}
		return res
	}
	key := s.Site + "/" + s.Node
	n := w.node(s.Site, s.Node)
	if n == nil {
		return res
	}
	res.Checks = make([]sites.Check, len(n.Probes))
	for i, p := range n.Probes {
		res.Checks[i] = sites.Check{Outcome: sites.Up}
		switch {
		case w.unknown[key]:
			res.Checks[i] = sites.Check{Outcome: sites.Unknown, Cause: string(probes.CauseLocalBusy), Text: "as the rehearsal says"}
		case w.cut[s.Site], w.down[key], w.failing[key+" "+p.Name], w.failing[key+" "+probeType(p)]:
			w.fail(run, &res, i)
		}
		if res.Checks[i].Outcome == sites.Up && config.GivesFigures(p) {
			res.Checks[i].Figures = w.work[key]
		}
	}
	return res
}

// fail makes a check one that ran into its timeout.
func (w *world) fail(run probes.Run, res *sites.Result, i int) {
	took := run.Deadline - run.Start
	res.Finish = run.Deadline
	res.Checks[i] = sites.Check{
		Outcome: sites.Down, Cause: string(probes.CauseTimeout),
		Text: "no answer within " + took.String(), Duration: took,
	}
}

// isResolver says whether a witness is a resolver of its site.
func (w *world) isResolver(s sites.Subject) bool { return strings.HasPrefix(s.Witness, "resolver") }

// probeType is the word that a probe's definition begins with.
func probeType(p sites.Probe) string {
	word, _, _ := strings.Cut(p.Key, " ")
	return word
}

func (w *world) site(name string) *sites.Site {
	for i := range w.cfg.Sites.Sites {
		if s := &w.cfg.Sites.Sites[i]; s.Name == name {
			return s
		}
	}
	return nil
}

func (w *world) node(site, name string) *sites.Node {
	s := w.site(site)
	if s == nil {
		return nil
	}
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i]
		}
	}
	return nil
}

// sites gives the names that a `cut` or `heal` means.
func (w *world) sites(name string) []string {
	if name != "all" {
		return []string{name}
	}
	var all []string
	for _, s := range w.cfg.Sites.Sites {
		all = append(all, s.Name)
	}
	return all
}

// checkSite, checkNode and checkProbe refuse names that the configuration does
// not have.
func (w *world) checkSite(name string) error {
	if w.site(name) == nil {
		return fmt.Errorf("there is no site %q in the configuration", name)
	}
	return nil
}

func (w *world) checkNode(name string) error {
	site, node, ok := strings.Cut(name, "/")
	if !ok {
		return fmt.Errorf("found %q, expected SITE/NODE", name)
	}
	if err := w.checkSite(site); err != nil {
		return err
	}
	if w.node(site, node) == nil {
		return fmt.Errorf("site %s has no node %q", site, node)
	}
	return nil
}

// pass has a probe of a node answer again, whether it was made to fail by its name
// or by its type.
func (w *world) pass(name string) {
	node, word, _ := strings.Cut(name, " ")
	site, n, _ := strings.Cut(node, "/")
	list := w.node(site, n).Probes
	for _, p := range list {
		if !isCalled(p, word) {
			continue
		}
		delete(w.failing, node+" "+p.Name)
		kind := node + " " + probeType(p)
		if !w.failing[kind] {
			continue
		}
		delete(w.failing, kind)
		for _, other := range list { // those of its type go on failing
			if probeType(other) == probeType(p) && !isCalled(other, word) {
				w.failing[node+" "+other.Name] = true
			}
		}
	}
}

func (w *world) checkProbe(name string) error {
	node, probe, ok := strings.Cut(name, " ")
	if !ok {
		return fmt.Errorf("found %q, expected \"SITE/NODE PROBE\"", name)
	}
	if err := w.checkNode(node); err != nil {
		return err
	}
	site, n, _ := strings.Cut(node, "/")
	for _, p := range w.node(site, n).Probes {
		if isCalled(p, probe) {
			return nil
		}
	}
	return fmt.Errorf("%s has no probe %q", node, probe)
}

// isCalled says whether a word is a probe's name or its type.
func isCalled(p sites.Probe, word string) bool { return p.Name == word || probeType(p) == word }

// pending is a run that has not ended yet.
type pending struct {
	run probes.Run
	res sites.Result
	at  time.Duration
}
