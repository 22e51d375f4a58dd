package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// builder checks and resolves what was decoded. Faults and warnings go to the
// loader's report; what is built from a part with faults is not used.
type builder struct {
	*loader
	file file
	cfg  *Config
	// siteAt finds sites by name; only the first of two of the same name.
	siteAt map[string]int
	// tokens finds the node of each heartbeat's token.
	nodeTokens map[string]string
	// targetAt finds targets by name, targetUse the sites that use them.
	targetAt  map[string]int
	targetUse map[string]Value[string]
}

func (b *builder) build() *Config {
	b.nodeTokens = make(map[string]string)
	b.cfg = &Config{probers: make(map[sites.Subject][]probes.Prober)}
	b.known.fill(&b.file.State, true)
	b.known.fill(&b.file.Defaults, true)
	b.known.fill(&b.file.Brake, true)
	b.cfg.Instance = b.instanceName()
	b.cfg.StatePath = relative(b.file.State.Path)
	if k := &b.file.Brake; !k.Word.Set {
		b.cfg.Sites.Brake = sites.Brake{Percent: int(k.Nodes.V), Within: k.Within.V}
	}
	b.index()
	b.indexTargets()
	for i := range b.file.Sites {
		b.cfg.Sites.Sites = append(b.cfg.Sites.Sites, b.site(&b.file.Sites[i]))
	}
	b.cfg.lookUpPools(b.siteAt)
	b.emergencies()
	b.sitesDown()
	b.services()
	b.dns()
	b.http()
	b.apart()
	b.targets()
	b.published()
	b.cfg.lookUpPublished()
	b.alerts()
	b.suspicions()
	return b.cfg
}

func (b *builder) instanceName() string {
	if name := b.file.Instance; name.Set {
		return string(name.V)
	}
	if b.loader.instance == "" {
		host, err := os.Hostname()
		if err != nil {
			b.fault(b.file.At, "the host's name cannot be read (%s): give the key \"instance\"", err)
		}
		b.loader.instance = host
	}
	b.bundle.Instance = b.loader.instance
	return b.loader.instance
}

// relative gives a path that starts at the file it stands in.
func relative(v Value[string]) string {
	if v.At.File == "" || filepath.IsAbs(v.V) {
		return v.V
	}
	return filepath.Join(filepath.Dir(v.At.File), v.V)
}

// index finds the sites by name and refuses a name that stands twice.
func (b *builder) index() {
	b.siteAt = make(map[string]int)
	seen := newNames(b.report, "site")
	for i := range b.file.Sites {
		name := text(b.file.Sites[i].Name)
		if name.V == "all" {
			b.fault(name.At, "found \"all\", expected another name: commands use it for every site")
		}
		if seen.add(name) {
			b.siteAt[name.V] = i
		}
	}
}

// siteNames lists the sites in order.
func (b *builder) siteNames() []string {
	var list []string
	for i := range b.file.Sites {
		list = append(list, string(b.file.Sites[i].Name.V))
	}
	return list
}

// seenNames refuses what stands twice.
type seenNames struct {
	*report
	what string
	at   map[string]Pos
}

func newNames(r *report, what string) *seenNames {
	return &seenNames{r, what, make(map[string]Pos)}
}

// add says whether the name is new.
func (s *seenNames) add(name Value[string]) bool {
	if first, twice := s.at[name.V]; twice {
		s.fault(name.At, "the %s %q stands twice, first at %s", s.what, name.V, first)
		return false
	}
	s.at[name.V] = name.At
	return true
}

// unknownName refuses a reference to nothing; what is the sentence that the
// name ends.
func (b *builder) unknownName(ref Value[string], what string, known []string) {
	hint := Suggest(ref.V, known)
	switch {
	case hint != "":
	case len(known) == 0:
		hint = ", there is none"
	default:
		hint = ", expected " + clipWords(known)
	}
	b.fault(ref.At, "%s %q%s", what, clip(ref.V), hint)
}

// emergencies checks the references between sites (A4).
func (b *builder) emergencies() {
	for i := range b.file.Sites {
		k := &b.file.Sites[i]
		if !k.Emergency.Set {
			continue
		}
		_, known := b.siteAt[k.Emergency.V]
		switch own := string(k.Name.V); {
		case k.Emergency.V == own:
			others := slices.DeleteFunc(b.siteNames(), func(s string) bool { return s == own })
			b.fault(k.Emergency.At, "a site cannot be its own emergency site, expected another site%s", orNone(others))
		case !known:
			b.unknownName(k.Emergency, "there is no site", b.siteNames())
		}
	}
}

func orNone(list []string) string {
	if len(list) == 0 {
		return " (there is none: remove the key)"
	}
	return ": " + clipWords(list)
}

// unwrap gives the values of a list.
func unwrap[T any](list []Value[T]) []T {
	var out []T
	for _, v := range list {
		out = append(out, v.V)
	}
	return out
}

// distinct refuses an address that stands twice in a node.
func (b *builder) distinct(lists ...[]Value[netip.Addr]) {
	seen := make(map[netip.Addr]Pos)
	for _, list := range lists {
		for _, a := range list {
			if first, twice := seen[a.V]; twice {
				b.fault(a.At, "the address %s stands twice in this node, first at %s", a.V, first)
			}
			seen[a.V] = a.At
		}
	}
}
