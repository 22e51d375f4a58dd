package rehearsal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// names are those that a rehearsal can speak of at one of its steps: a reload
// changes them.
type names struct {
	world *world
	past  map[string]bool // subjects of events, those of earlier configurations too
}

// use puts a configuration in place.
func (n *names) use(cfg *config.Config) {
	n.world.cfg = cfg
	for i := range cfg.Sites.Sites {
		s := &cfg.Sites.Sites[i]
		n.past[s.Name] = true
		for j := range s.Nodes {
			n.past[s.Name+"/"+s.Nodes[j].Name] = true
		}
		for j := range s.Pools {
			n.past[s.Name+"/"+s.Pools[j].Name] = true
		}
	}
}

// check refuses what can be seen to be wrong before anything is played.
func (r *Rehearsal) check() error {
	n := names{world: newWorld(r.config), past: map[string]bool{}}
	n.use(r.config)
	var f faults
	last := time.Duration(0)
	for i := range r.steps {
		s := &r.steps[i]
		if s.At.V < last {
			f.add(s.Pos, fmt.Errorf("at %s comes after %s: the times of steps do not decrease", s.At.V, last))
		}
		last = max(last, s.At.V)
		for j := range s.Do {
			a := &s.Do[j]
			err := a.check(n.world)
			f.add(a.Pos, err)
			if err != nil || a.Config.IsZero() {
				continue
			}
			cfg, err := configuration(a.Config)
			if err != nil && !a.Refused.V && !r.expectsRejection(i) {
				return err
			}
			if r.reloads[a] = (reload{cfg, err}); err == nil {
				n.use(cfg)
			}
		}
		s.Expect.check(&n, &f)
	}
	return errors.Join(f...)
}

// expectsRejection says whether the events that are named next, at a step or
// after it, are of a configuration that was rejected.
func (r *Rehearsal) expectsRejection(step int) bool {
	for i := step; i < len(r.steps); i++ {
		if e := r.steps[i].Expect.Events; len(e) > 0 {
			return slices.ContainsFunc(e, func(v config.Value[string]) bool { return v.V == string(sites.ConfigRejected) })
		}
	}
	return false
}

// checkQuestion refuses what cannot be looked up.
func (n *names) checkQuestion(text string) error {
	site, _, typ := question(text)
	if typ == 0 {
		return fmt.Errorf("found %q, expected \"SITE HOST TYPE\", for example \"berlin app.example.lan A\"", text)
	}
	return n.world.checkSite(site)
}

// checkPool refuses the name of a pool that the configuration does not have.
func (n *names) checkPool(name string) error {
	site, pool, ok := strings.Cut(name, "/")
	if err := n.world.checkSite(site); err != nil {
		return err
	}
	if !ok {
		return nil
	}
	for _, p := range n.world.site(site).Pools {
		if p.Name == pool {
			return nil
		}
	}
	return fmt.Errorf("site %s has no pool %q", site, pool)
}

// checkEvent refuses an event that cannot be: one of a kind that there is none
// of, or about what no configuration of the rehearsal has had so far.
func (n *names) checkEvent(text string) error {
	kind, subject, named := strings.Cut(text, " ")
	switch {
	case !sites.Kind(kind).Known():
		var kinds []string
		for _, k := range sites.Kinds() {
			kinds = append(kinds, string(k))
		}
		return fmt.Errorf("there is no kind of event %q%s", kind, config.Suggest(kind, kinds))
	case named && !n.past[subject]:
		return fmt.Errorf("event %q: there is no site, node or pool %q in the configuration%s",
			text, subject, config.Suggest(subject, slices.Sorted(maps.Keys(n.past))))
	default:
		return nil
	}
}

// faults are those of a file.
type faults []error

// add keeps a fault, if it is one, with its place.
func (f *faults) add(at config.Pos, err error) {
	if err != nil {
		*f = append(*f, fmt.Errorf("%s: %w", at, err))
	}
}

// oneOf keeps the fault of a word that is none of those that it can be.
func (f *faults) oneOf(v config.Value[string], what string, words []string) {
	if !slices.Contains(words, v.V) {
		f.add(v.At, fmt.Errorf("%s: found %q, expected one of %s%s", what, v.V, strings.Join(words, ", "), config.Suggest(v.V, words)))
	}
}
