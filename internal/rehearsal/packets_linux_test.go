package rehearsal

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/realnet"
)

func TestMain(m *testing.M) { os.Exit(realnet.Main(m)) }

// faster is how much faster a rehearsal is played with packets than it is written:
// thresholds, intervals and pauses are that much shorter. Timeouts are a second, for
// a busy machine.
const faster = 10

// withPackets are the rehearsals that are played with packets too, each with how much
// shorter its graces are. Those in which something happens within a grace keep more of
// it. Left out are those with clocks or hours, for which nothing is faster, and those
// about single decisions, which packets add nothing to.
func withPackets() map[string]int {
	return map[string]int{
		"active-active": 60, "active-passive": 60, "mirrored-pools": 60, "operator": 2,
		"resolver-silent": 10, "restart": 10, "site-cut": 10, "vrrp-pair": 10, "window": 10,
	}
}

// If this fails, what a rehearsal shows is not what happens in a network.
func TestWithPackets(t *testing.T) {
	for name, graces := range withPackets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", name+".yaml")
			r, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &packets{t: t, r: r, graces: graces, ends: map[string]func(){}, watches: map[string]*watched{}}
			p.play(p.configuration(path))
		})
	}
}

// configuration gives the text of a rehearsal's configuration, with shorter times.
func (p *packets) configuration(path string) string {
	p.t.Helper()
	text := read(p.t, path)
	if m := regexp.MustCompile(`(?m)^config: (\S+)$`).FindStringSubmatch(text); m != nil {
		text = read(p.t, filepath.Join(filepath.Dir(path), m[1]))
	} else {
		_, text, _ = strings.Cut(text, "\nconfig:\n")
		text = regexp.MustCompile(`(?ms)^\S.*`).ReplaceAllString(text, "") // what follows it
		text = strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
	}
	text = strings.Replace(text, `"127.0.0.1:5353"`, `"`+realnet.DNSListen+`"`, 1)
	// What is not written has to be, to be shorter.
	text = strings.Replace(text, "defaults: {", "defaults: {threshold: 30s, grace: 5m, site_threshold: 10s, ", 1)
	text = strings.Replace(text, "defaults:\n", "defaults:\n  site_threshold: 10s\n", 1)
	return regexp.MustCompile(`\b(threshold|site_threshold|grace|probe_interval|probe_timeout): (\w+)`).ReplaceAllStringFunc(text, func(found string) string {
		key, value, _ := strings.Cut(found, ": ")
		d, err := config.ParseDuration(value)
		if err != nil {
			p.t.Fatal(err)
		}
		switch key {
		case "probe_timeout":
			d = time.Second
		case "grace":
			d /= time.Duration(p.graces)
		default:
			d /= faster
		}
		return key + ": " + d.String()
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// places are the sites of a rehearsal: their resolvers have the first address of the
// network that their nodes are in.
func (p *packets) places() (list []realnet.Place) {
	for _, s := range p.r.config.Sites.Sites {
		place := realnet.Place{Name: s.Name}
		for _, n := range s.Nodes {
			for _, a := range n.Addresses {
				if a.Is4() {
					place.Nodes = append(place.Nodes, realnet.Machine{Name: n.Name, Addr: a})
					octets := a.As4()
					octets[3] = 1
					place.Resolver = netip.AddrFrom4(octets)
				}
			}
		}
		list = append(list, place)
	}
	return list
}

// questions are those whose answers the rehearsal expects, sorted.
func (p *packets) questions() (list []string) {
	for i := range p.r.steps {
		for q := range p.r.steps[i].Expect.Answers {
			if !slices.Contains(list, q) {
				list = append(list, q)
			}
		}
	}
	slices.Sort(list)
	return list
}
