package simulation

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// unproven says what the evidence lacks to take a node out now (N2), "" where it
// is whole. The caller holds mu.
func (g *ledger) unproven(site, node string, now time.Duration) string {
	var own, witness []observation
	for s, list := range g.seen {
		switch {
		case s.Site == site && s.Node == node:
			own = list
		case s.Site == site && s.Node == "":
			witness = list
		}
	}
	i := len(own)
	for i > 0 && !own[i-1].up {
		i--
	}
	row := own[i:] // of failures at the end
	if len(row) < 2 {
		return fmt.Sprintf("of its last probes %d failed in a row", len(row))
	}
	// Its clock runs since the first failure after it was last believed (O4); one
	// that ran when the controller was blind begins anew at the end of that (O5).
	// That it answered before a start is not remembered.
	for i > 0 && (!own[i-1].up || i < 2 || !own[i-2].up || own[i-2].start < g.started && own[i-1].start >= g.started) {
		i--
	}
	for i < len(own) && own[i].up {
		i++
	}
	from := max(own[i].start, g.epoch)
	if len(row) > 0 && row[len(row)-1].start < g.epoch {
		return "it has not failed since the controller was blind"
	}
	if dark := g.dark(site, witness, from, now); now-from-dark < g.w.plan.threshold {
		return fmt.Sprintf("it has failed for %v, in %v of which nothing was known, and the threshold is %v", now-from, dark, g.w.plan.threshold)
	}
	for _, f := range row {
		if f.start < g.epoch {
			continue
		}
		before := slices.ContainsFunc(witness, func(o observation) bool { return o.up && o.start >= g.epoch && o.finish <= f.start })
		after := slices.ContainsFunc(witness, func(o observation) bool { return o.up && o.start >= f.finish && o.finish <= now })
		if before && after && f.finish <= now {
			return ""
		}
	}
	return "there was no whole round"
}

// dark is how long the witness did not answer between two times: from the start
// of the first probe that failed to the start of the next that answered (O5). Of a
// silence before the start that nobody was told of, nothing is known after it.
func (g *ledger) dark(site string, witness []observation, from, to time.Duration) (sum time.Duration) {
	var since time.Duration
	for _, o := range witness {
		switch {
		case !o.up && o.start < g.started && !g.silent[site]:
		case !o.up && since == 0:
			since = o.start
		case o.up && since != 0:
			sum += max(0, min(o.start, to)-max(since, from))
			since = 0
		}
	}
	return sum
}

// better says whether a node of a site answers that no operator has taken out:
// else what fails is all that is left.
func (g *ledger) better(m *sites.Machine, site int) bool {
	for s, list := range g.seen {
		if s.Site != siteName(site) || s.Node == "" || len(list) == 0 || !list[len(list)-1].up {
			continue
		}
		word, configured := m.NodeWord(s.Site + "/" + s.Node)
		if configured && word != sites.WordMaintenance && word != sites.WordDisabled {
			return true
		}
	}
	return false
}

// enters holds P3: what enters an answer has answered its last probe.
func (g *ledger) enters(site int, addr netip.Addr) {
	for s, list := range g.seen {
		if s.Addr == addr && s.Site == siteName(site) && s.Node != "" && len(list) > 0 && !list[len(list)-1].up {
			g.w.fault("P3: %s enters the answer of %s, and its last probe failed", s, siteName(site))
		}
	}
}

// checkWrite holds a write to a target against what was decided: an address that
// is put there was an answer lately, and nothing of others is touched. addr is
// not valid for a removal. The caller holds the device.
func (w *world) checkWrite(d *device, x *row, addr netip.Addr) {
	if x != nil && x.foreign {
		w.fault("%s: a record of somebody else is written to: %s", siteName(d.site), x.Text)
	}
	now := w.boot()
	g := w.ledger
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isolated && !g.ordered[siteName(d.site)] {
		w.fault("E8: the target of %s is written to while the controller is cut off", siteName(d.site))
	}
	if !g.sawUp[siteName(d.site)] {
		w.fault("S2: the target of %s is written to, and its site has not been seen since the start", siteName(d.site))
	}
	if !addr.IsValid() {
		return
	}
	list := g.lately[siteName(d.site)]
	for i := range list {
		// It was the answer until the next one came.
		over := i+1 < len(list) && list[i+1].at < now-5*time.Minute
		if !over && slices.Contains(list[i].list, addr) {
			return
		}
	}
	if len(list) > 0 {
		w.fault("%s is given %v, which has not been its answer lately", siteName(d.site), addr)
	}
}

// stored holds what the store has against what it has acknowledged.
func (g *ledger) stored(list []sites.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	have := map[uint64]bool{}
	for i := range list {
		have[list[i].ID] = true
	}
	for i := 1; i < len(list); i++ {
		if list[i].ID != list[i-1].ID+1 {
			g.w.fault("S1: event %d stands behind event %d in the store", list[i].ID, list[i-1].ID)
		}
	}
	for id, e := range g.events {
		if !have[id] {
			g.w.fault("S1: event %d (%s) was stored, and is not there any more", id, e.Kind)
		}
	}
}
