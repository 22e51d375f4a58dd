package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// plan is all that chance decides of a run: the configuration and the script of
// faults. The same seed gives the same plan.
type plan struct {
	seed  uint64
	sites []siteOf
	// interval, timeout, threshold and grace of every node.
	interval, timeout, threshold, grace time.Duration
	siteThreshold                       time.Duration
	script                              []act
}

// siteOf is a site of a plan.
type siteOf struct {
	nodes     int
	passive   bool
	emergency bool // the next site steps in
	manual    bool // an operator puts nodes back
	// target: the answers are pushed to a device; marks: it has room for marks.
	target, marks bool
}

// act is one thing that happens to the world.
type act struct {
	at   time.Duration
	what deed
	site int
	node int
	// span is how long it lasts; chance decides the rest.
	span   time.Duration
	chance uint64
}

type deed string

const (
	nodeDies      deed = "node dies"
	nodeLies      deed = "node answers wrongly"
	nodeLoses     deed = "node loses packets"
	nodeSlows     deed = "node is slow"
	lineCut       deed = "line is cut"
	allCut        deed = "all lines are cut"
	resolverMute  deed = "resolver is silent"
	resolverLies  deed = "resolver answers wrongly"
	resolverStale deed = "resolver answers what was"
	starved       deed = "no descriptors are left"
	restarted     deed = "controller is restarted"
	killed        deed = "controller is killed"
	killedInPush  deed = "controller is killed while it pushes"
	suspended     deed = "machine sleeps"
	clockSet      deed = "wall clock is set"
	diskFails     deed = "disk fails"
	diskHangs     deed = "disk hangs"
	commanded     deed = "operator"
	reloaded      deed = "configuration changes"
	targetFails   deed = "target fails"
	targetEdited  deed = "a human edits the target"
	mailFails     deed = "alerts do not get through"
	// The calm, in which it is looked at what all of it has come to.
	calm deed = "calm"
)

// deeds and how often each is drawn.
var deeds = []struct {
	what  deed
	often int
}{
	{nodeDies, 12},
	{nodeLies, 3},
	{nodeLoses, 4},
	{nodeSlows, 2},
	{lineCut, 10},
	{allCut, 2},
	{resolverMute, 4},
	{resolverLies, 2},
	{resolverStale, 2},
	{starved, 1},
	{restarted, 3},
	{killed, 3},
	{killedInPush, 3},
	{suspended, 2},
	{clockSet, 2},
	{diskFails, 2},
	{diskHangs, 1},
	{commanded, 10},
	{reloaded, 3},
	{targetFails, 8},
	{targetEdited, 6},
	{mailFails, 4},
}

// day is how long a run is, half how much of that lies before each calm ends.
const (
	day  = 24 * time.Hour
	half = day / 2
)

// newPlan draws a plan.
func newPlan(seed uint64) *plan {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	// Fast ones, in which short cuts meet many probes, are dear.
	p := &plan{seed: seed, interval: 2 * time.Minute, timeout: 5 * time.Second}
	if r.IntN(16) == 0 {
		p.interval, p.timeout = 15*time.Second, 2*time.Second
	}
	p.threshold = p.interval * time.Duration(2+r.IntN(2))
	p.grace = p.interval * time.Duration(2+r.IntN(4))
	p.siteThreshold = p.interval * time.Duration(1+r.IntN(2))
	for i := range 1 + r.IntN(3) {
		p.sites = append(p.sites, siteOf{
			nodes: 1 + r.IntN(3), passive: r.IntN(3) == 0, emergency: r.IntN(2) == 0,
			target: i < 2 && r.IntN(4) != 0, marks: r.IntN(2) == 0, manual: r.IntN(4) == 0,
		})
	}
	total := 0
	for _, d := range deeds {
		total += d.often
	}
	for h := range int(day / half) {
		start, quiet := time.Duration(h)*half, time.Duration(h+1)*half-p.calmTime()
		for range 10 + r.IntN(30) {
			p.script = append(p.script, p.draw(r, total, start, quiet))
		}
		p.script = append(p.script, act{at: quiet, what: calm, chance: r.Uint64()})
	}
	slices.SortStableFunc(p.script, func(a, b act) int { return int(a.at - b.at) })
	return p
}

// draw draws one act that begins and ends between two times.
func (p *plan) draw(r *rand.Rand, total int, from, to time.Duration) act {
	n := r.IntN(total)
	i := 0
	for n >= deeds[i].often {
		n -= deeds[i].often
		i++
	}
	a := act{
		what: deeds[i].what, site: r.IntN(len(p.sites)), chance: r.Uint64(),
		at: from + 10*p.interval + time.Duration(r.Int64N(int64(to-from-10*p.interval))),
	}
	a.node = r.IntN(p.sites[a.site].nodes)
	// From 0.3 s to an hour, each order of magnitude as often as the others.
	a.span = 300 * time.Millisecond
	for limit := time.Hour; a.span < limit/2 && r.IntN(5) != 0; {
		a.span *= 2
	}
	a.span += time.Duration(r.Int64N(int64(a.span)))
	if a.what == restarted || a.what == killed || a.what == killedInPush {
		a.span = min(a.span, 10*time.Minute)
	}
	return a
}

// calmTime is how long a calm lasts: everything comes to rest, nodes go out, and
// come back.
func (p *plan) calmTime() time.Duration { return 2*p.restTime() + p.deathTime() + p.returnTime() }

// restTime is how long it takes at most until all is well after the last fault.
func (p *plan) restTime() time.Duration {
	return max(p.threshold, p.siteThreshold) + p.grace + 12*p.interval + 10*time.Minute
}

// decideTime is from when a node falls silent until it is out: its next probe,
// the threshold, the round, and what jitter and latencies add.
func (p *plan) decideTime() time.Duration {
	return p.interval + p.threshold + p.timeout + 2*time.Second
}

// backTime is from when a node answers again until it is back: its next probe, a
// second, the grace, and the next probe after it.
func (p *plan) backTime() time.Duration { return p.interval + p.grace + p.timeout + 2*time.Second }

// spacing lies between two deaths in a calm: the brake does not take them for
// one (A10).
const spacing = 3 * time.Minute

func (p *plan) deathTime() time.Duration {
	return time.Duration(p.nodes())*spacing + p.decideTime() + 2*p.interval
}

func (p *plan) returnTime() time.Duration { return p.backTime() + 4*p.interval + 2*time.Minute }

func (p *plan) nodes() (n int) {
	for i := range p.sites {
		n += p.sites[i].nodes
	}
	return n
}

// The names of things.
func siteName(i int) string { return "s" + string(rune('a'+i)) }
func nodeName(j int) string { return "n" + string(rune('a'+j)) }

const host = "app.example.lan"

// variant is which of the configurations of a plan is in place.
type variant int

const (
	usual      variant = iota
	bigger             // the first site has a node more, and grace is longer
	wrong              // it is not valid
	retargeted         // the targets take another password, so each begins anew
	untargeted         // they have left
	unheard            // nobody is to be told of anything
	variants
)

// extra is the number of the node that the bigger configuration has more.
func (p *plan) extra() int { return p.sites[0].nodes }

// yaml writes a configuration.
func (p *plan) yaml(v variant) string {
	var b strings.Builder
	grace := p.grace
	if v == bigger {
		grace += 10 * time.Second
	}
	fmt.Fprintf(&b, "instance: sim%d\nstate: {path: state}\ndns:\n  listen: [\"127.0.0.1:5353\"]\n  default_site: sa\n", p.seed)
	b.WriteString("  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: [\"ns1 300 IN A 127.0.0.1\"]}]\n")
	fmt.Fprintf(&b, "defaults:\n  threshold: %s\n  grace: %s\n  probe_interval: %s\n  probe_timeout: %s\n  site_threshold: %s\n  probes: [{type: tcp, port: 443}]\n",
		p.threshold, grace, p.interval, p.timeout, p.siteThreshold)
	if v != unheard {
		b.WriteString("alerts:\n  webhooks: [{name: ops, url: \"https://ops.example.com/\"}]\n  routes: [{to: [ops]}]\n  wait: 30s\n")
	}
	b.WriteString("sites:\n")
	for i := range p.sites {
		s := &p.sites[i]
		fmt.Fprintf(&b, "  - name: %s\n    resolver: \"10.%d.0.1\"\n    clients: [10.%d.0.0/16]\n", siteName(i), i+1, i+1)
		if s.passive {
			b.WriteString("    mode: active_passive\n")
		}
		if s.manual {
			b.WriteString("    failback: manual\n")
		}
		if s.emergency && len(p.sites) > 1 {
			fmt.Fprintf(&b, "    emergency_site: %s\n", siteName((i+1)%len(p.sites)))
		}
		if s.target && v != untargeted {
			fmt.Fprintf(&b, "    targets: [builtin, t%d]\n", i)
		}
		b.WriteString("    nodes:\n")
		n := s.nodes
		if i == 0 && v == bigger {
			n++
		}
		for j := range n {
			fmt.Fprintf(&b, "      - {name: %s, addresses: [%s]}\n", nodeName(j), addrOf(i, j))
		}
	}
	if v == wrong {
		b.WriteString("    nodez: []\n")
	}
	fmt.Fprintf(&b, "services:\n  - {hosts: [%s]}\n", host)
	targets, password := "", "secret"
	if v == retargeted {
		password = "another"
	}
	for i := range p.sites {
		if p.sites[i].target && v != untargeted {
			targets += fmt.Sprintf("  - {name: t%d, type: routeros, address: \"10.%d.0.1:8728\", username: dnsteer, password: %s, plain: true}\n", i, i+1, password)
		}
	}
	if targets != "" {
		b.WriteString("targets:\n" + targets)
	}
	return b.String()
}

func (a act) String() string {
	return fmt.Sprintf("%-12s %s %s/%s for %s (%x)", a.at.Round(time.Millisecond), a.what, siteName(a.site), nodeName(a.node), a.span.Round(time.Millisecond), a.chance)
}
