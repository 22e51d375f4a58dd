package simulation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// calm ends all faults, and looks at what they have left: everything must be as
// if nothing had been. Then some nodes die, go out, and come back, each in its
// time.
func (w *world) calm(chance uint64) {
	w.heal()
	if w.variant != usual {
		w.reload(usual)
	}
	w.endHolds()
	time.Sleep(w.plan.restTime() - 5*w.plan.interval)
	w.failback()
	w.quiet(5 * w.plan.interval)
	w.look("after the faults")
	dead := w.deaths(chance)
	w.look("with dead nodes")
	w.returns(dead)
	w.quiet(w.plan.restTime())
	w.look("after they came back")
	w.told()
}

// failback puts back what waits for an operator.
func (w *world) failback() {
	for i, s := range w.plan.sites {
		if s.manual {
			w.command(sites.Command{Verb: sites.FailbackNow, Site: siteName(i)})
		}
	}
	time.Sleep(time.Minute)
}

// endHolds takes back what the operator has ordered.
func (w *world) endHolds() {
	for i, s := range w.plan.sites {
		for j := range s.nodes {
			for _, verb := range []sites.Verb{sites.Enable, sites.MaintenanceEnd, sites.DrillEnd} {
				w.command(sites.Command{Verb: verb, Site: siteName(i), Node: nodeName(j)})
			}
		}
		w.command(sites.Command{Verb: sites.Resume, Site: siteName(i)})
		if s.target { // it may have refused the password too often
			name := fmt.Sprintf("t%d", i)
			enable := api.TargetRequest{Verb: api.TargetEnable, Target: name}
			reply, err := w.life.app.Operate(context.Background(), enable)
			if err == nil && reply.Refused { // a disk that has failed is tried again within half a minute
				time.Sleep(time.Minute)
				reply, err = w.life.app.Operate(context.Background(), enable)
			}
			if err != nil || reply.Refused {
				w.fault("enable %s: %v %v", name, reply, err)
			}
		}
	}
}

// quiet waits, and nothing may be said meanwhile (P5).
func (w *world) quiet(d time.Duration) {
	set := func(on bool) {
		w.ledger.mu.Lock()
		w.ledger.quiet = on
		w.ledger.mu.Unlock()
	}
	set(true)
	time.Sleep(d)
	set(false)
}

// alive lists the addresses of the nodes of a site that answer, in order.
func (w *world) alive(site int) (list []netip.Addr) {
	for j := range w.plan.sites[site].nodes {
		n := w.places[site].nodes[j]
		if w.since() >= n.dead {
			list = append(list, addrOf(site, j))
		}
	}
	return list
}

// expected is what a site is answered in the calm, as far as the truth alone
// decides it.
func (w *world) expected(site int) (list []netip.Addr, known bool) {
	s := &w.plan.sites[site]
	list = w.alive(site)
	switch {
	case len(list) > 0 && s.passive:
		return list[:1], true
	case len(list) > 0:
		return list, true
	case s.emergency && len(w.plan.sites) > 1:
		next := (site + 1) % len(w.plan.sites)
		if len(w.alive(next)) == 0 {
			return nil, false
		}
		return w.expected(next)
	case s.passive:
		return nil, false // the one that was active last
	default:
		for j := range s.nodes {
			list = append(list, addrOf(site, j))
		}
		return list, true
	}
}

// look holds what is served and what the targets hold against the truth.
func (w *world) look(when string) {
	for i := range w.plan.sites {
		got := sorted(w.life.app.Published(siteName(i), host))
		if want, known := w.expected(i); known && !slices.Equal(got, sorted(want)) {
			w.fault("%s: %s is answered %v, and should be %v", when, siteName(i), got, want)
		}
		if d := w.places[i].device; d != nil {
			if has := d.answers(host); !slices.Equal(has, got) {
				w.fault("%s: the target of %s holds %v, and clients of the built-in server get %v", when, siteName(i), has, got)
			}
		}
	}
}

// deaths has nodes die one after another, and looks when each leaves.
func (w *world) deaths(chance uint64) (dead []*machine) {
	type death struct {
		site, node int
		at         time.Duration
	}
	var list []death
	// What is to be told of the first of them meets a receiver that does not answer.
	w.mu.Lock()
	w.mailBad, w.mailMode = time.Since(w.began)+w.plan.decideTime()+2*time.Minute, chance>>60
	w.mu.Unlock()
	for i, s := range w.plan.sites {
		for j := range s.nodes {
			if chance>>(4*i+j)&1 == 0 {
				continue
			}
			n := w.places[i].nodes[j]
			w.mu.Lock()
			n.dead, n.silent = 1000*time.Hour, chance>>(32+4*i+j)&1 == 0
			w.mu.Unlock()
			w.say("%s/%s dies for good", siteName(i), nodeName(j))
			dead = append(dead, n)
			list = append(list, death{i, j, w.boot()})
			time.Sleep(spacing + 7*time.Millisecond)
		}
	}
	time.Sleep(w.plan.decideTime() + 2*w.plan.interval)
	for _, d := range list {
		if took := w.ledger.out(siteName(d.site)+"/"+nodeName(d.node)) - d.at; took < w.plan.threshold || took > w.plan.decideTime() {
			w.fault("%s/%s was taken out %v after it died, and should be within %v to %v", siteName(d.site), nodeName(d.node), took, w.plan.threshold, w.plan.decideTime())
		}
	}
	return dead
}

func (g *ledger) out(node string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.outAt[node]
}

// returns has them answer again, and waits until they should be back.
func (w *world) returns(dead []*machine) {
	w.mu.Lock()
	for _, n := range dead {
		n.dead = 0
	}
	w.mu.Unlock()
	w.say("the dead answer again")
	time.Sleep(w.plan.backTime() + 2*w.plan.interval)
	w.failback()
}
