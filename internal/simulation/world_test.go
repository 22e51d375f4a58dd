package simulation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// world is everything around the controller: the truth about nodes, lines,
// resolvers, disks and clocks, by the time since the run began.
type world struct {
	plan  *plan
	dir   string
	began time.Time

	mu     sync.Mutex
	slept  time.Duration // of the machine
	set    time.Duration // how far the wall clock is off
	places []*place
	// cut, starved, diskBad, diskStuck, mailBad, suspect: until when.
	cut, starved, diskBad, diskStuck, mailBad, suspect time.Duration
	mailMode                                           uint64
	variant                                            variant
	life                                               *life
	lives                                              int
	lines                                              []string
	faults                                             []string
	ledger                                             *ledger
	people                                             *people
	// written holds one while a target has been written to since it was looked.
	written chan struct{}
}

// place is the truth about a site.
type place struct {
	nodes              []*machine
	device             *device // nil without a target
	cut                time.Duration
	mute, lying, stale time.Duration // the resolver
}

// machine is the truth about a node: until when it is so.
type machine struct {
	dead, lying, lossy, slow time.Duration
	silent                   bool // when dead it does not refuse
}

// alien is an address that nobody of ours has.
var alien = netip.MustParseAddr("198.51.100.66")

func addrOf(site, node int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(site + 1), 0, byte(11 + node)})
}

func newWorld(p *plan, dir string) *world {
	w := &world{plan: p, dir: dir, began: time.Now(), written: make(chan struct{}, 1)}
	w.ledger, w.people = newLedger(w), newPeople(w)
	for i := range p.sites {
		pl := &place{}
		for range p.sites[i].nodes + 1 { // one more, for the bigger configuration
			pl.nodes = append(pl.nodes, &machine{})
		}
		if p.sites[i].target {
			pl.device = &device{w: w, site: i, marks: p.sites[i].marks}
		}
		w.places = append(w.places, pl)
	}
	return w
}

// since is the time of the run: it stands still while the machine sleeps.
func (w *world) since() time.Duration { return time.Since(w.began) }

// instant is what the controller's clocks say.
func (w *world) instant() sites.Instant {
	now := w.since()
	w.mu.Lock()
	defer w.mu.Unlock()
	return sites.Instant{
		Boot: time.Hour + now + w.slept, Wall: w.began.Add(now + w.slept + w.set).Round(0), Suspect: now < w.suspect,
	}
}

func (w *world) boot() time.Duration { return w.instant().Boot }

// say writes into the transcript.
func (w *world) say(format string, args ...any) {
	line := fmt.Sprintf("%-14s ", w.since().Round(time.Microsecond)) + strings.ReplaceAll(fmt.Sprintf(format, args...), w.dir, "DIR")
	w.mu.Lock()
	w.lines = append(w.lines, line)
	w.mu.Unlock()
}

// fault notes that something does not hold.
func (w *world) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.say("FAULT %s", text)
	w.mu.Lock()
	w.faults = append(w.faults, text)
	w.mu.Unlock()
}

func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.faults) > 0
}

// lineWorks says whether packets come through to a site now.
func (w *world) lineWorks(site int) bool {
	now := w.since()
	w.mu.Lock()
	defer w.mu.Unlock()
	return now >= w.cut && now >= w.places[site].cut
}

// heal ends every fault.
func (w *world) heal() {
	for _, p := range w.places {
		if p.device != nil {
			p.device.fail(refuses, 0)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.starved, w.diskBad, w.diskStuck, w.mailBad, w.set, w.suspect = 0, 0, 0, 0, 0, 0, 0
	for _, p := range w.places {
		p.cut, p.mute, p.lying, p.stale = 0, 0, 0, 0
		for _, n := range p.nodes {
			*n = machine{}
		}
	}
}

// hash is a number of its own for everything that has one name.
func hash(parts ...uint64) uint64 {
	x := uint64(0x9E3779B97F4A7C15)
	for _, p := range parts {
		x ^= p
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		x ^= x >> 31
	}
	return x
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prober asks a subject of the world.
type prober struct {
	w          *world
	life       *life
	subject    sites.Subject
	site, node int // node -1 for the resolver
	asked      probes.Resolver
}

// probers stand in for those of the configuration.
func (w *world) probers(l *life) func(sites.Subject, []probes.Prober) []probes.Prober {
	return func(s sites.Subject, configured []probes.Prober) []probes.Prober {
		p := &prober{w: w, life: l, subject: s, site: int(s.Site[1] - 'a'), node: -1}
		if s.Node != "" {
			p.node = int(s.Node[1] - 'a')
		}
		if len(configured) > 0 {
			p.asked, _ = configured[0].(probes.Resolver)
		}
		return []probes.Prober{p}
	}
}

// Probe asks once. Whatever happens in the world has a moment of its own: no two
// answers come at the same time.
func (p *prober) Probe(ctx context.Context, _ netip.Addr) sites.Check {
	w := p.w
	start := w.boot()
	own := uint64(p.site)<<8 | uint64(p.node+1)
	fate := hash(w.plan.seed, own, uint64(start))
	wait := time.Millisecond + time.Duration(fate%30_000_000)
	check := p.result(ctx, fate, wait, time.Duration(own+1)*time.Microsecond)
	if ctx.Err() != nil && check.Outcome == sites.Down {
		if check.Cause != string(probes.CauseTimeout) || p.life.ending() {
			check.Outcome = sites.Unknown
		}
	}
	w.ledger.observed(p.life, p.subject, start, w.boot(), check)
	return check
}

func (p *prober) result(ctx context.Context, fate uint64, wait, own time.Duration) sites.Check {
	w := p.w
	down := func(c probes.Cause) sites.Check { return sites.Check{Outcome: sites.Down, Cause: string(c)} }
	if p.is(&w.starved) {
		_ = sleep(ctx, wait)
		return sites.Check{Outcome: sites.Unknown, Cause: string(probes.CauseLocalBusy)}
	}
	silence := func() sites.Check {
		<-ctx.Done()
		time.Sleep(own)
		return down(probes.CauseTimeout)
	}
	pl := w.places[p.site]
	if !w.lineWorks(p.site) {
		return silence()
	}
	if p.node < 0 {
		if p.is(&pl.mute) || sleep(ctx, wait) != nil || !w.lineWorks(p.site) {
			return silence()
		}
		return p.resolve(down)
	}
	n := pl.nodes[p.node]
	if p.is(&n.dead) {
		if n.silent {
			return silence()
		}
		_ = sleep(ctx, wait)
		return down(probes.CauseRefused)
	}
	if p.is(&n.slow) {
		wait += time.Duration(fate >> 32 % uint64(2*w.plan.timeout))
	}
	if p.is(&n.lossy) && fate>>40%3 != 0 || sleep(ctx, wait) != nil || !w.lineWorks(p.site) || p.is(&n.dead) {
		return silence()
	}
	if p.is(&n.lying) {
		return down("status")
	}
	return sites.Check{Outcome: sites.Up, Duration: wait}
}

// resolve is the answer of a resolver that can be reached (O3).
func (p *prober) resolve(down func(probes.Cause) sites.Check) sites.Check {
	if len(p.asked.Expect) == 0 {
		return sites.Check{Outcome: sites.Up}
	}
	got := p.w.resolves(p.site, p.asked.Ask[:len(p.asked.Ask)-1])
	if p.asked.Tell != nil {
		p.asked.Tell(got)
	}
	if len(got) == 0 || slices.ContainsFunc(got, func(a netip.Addr) bool { return !slices.Contains(p.asked.Expect, a) }) {
		return down("answer")
	}
	return sites.Check{Outcome: sites.Up}
}

// is says whether something is so now, by until when it is.
func (p *prober) is(until *time.Duration) bool {
	now := p.w.since()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return now < *until
}

// resolves gives what the resolver of a site answers.
func (w *world) resolves(site int, name string) []netip.Addr {
	now := w.since()
	w.mu.Lock()
	pl := w.places[site]
	lying, stale := now < pl.lying, now < pl.stale
	w.mu.Unlock()
	switch {
	case lying:
		return []netip.Addr{alien}
	case pl.device == nil:
		return nil
	case stale:
		pl.device.mu.Lock()
		defer pl.device.mu.Unlock()
		return slices.Clone(pl.device.before)
	default:
		return pl.device.answers(name)
	}
}

// ask is how the publisher asks the resolver of a site.
func (w *world) ask(ctx context.Context, server netip.AddrPort, name string, _ bool) ([]netip.Addr, error) {
	site := int(server.Addr().As4()[1]) - 1
	if err := sleep(ctx, 3*time.Millisecond); err != nil {
		return nil, err
	}
	w.mu.Lock()
	mute := time.Since(w.began) < w.places[site].mute
	w.mu.Unlock()
	if mute || !w.lineWorks(site) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return w.resolves(site, name), nil
}
