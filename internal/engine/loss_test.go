package engine_test

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// lossy is how a line that loses packets ends some hours of two sites with two nodes
// each, at the default settings.
type lossy struct {
	failed  int // times that a node began to fail
	outages int // nodes that were taken out
	silent  int // times that a resolver or a site was said to be silent
}

// lose plays hours in which so many of a thousand probes find nobody.
func lose(loss, hours int) (l lossy, w *world) {
	w = newWorld(usual(2, 2, 0), 1, nil)
	words := map[string]sites.Word{}
	w.hear = func(t engine.Turn) {
		for i := range t.Events {
			switch t.Events[i].Kind {
			case sites.FailoverOutage:
				l.outages++
			case sites.SiteDown, sites.ResolverDown, sites.ControllerIsolated:
				l.silent++
			default:
			}
		}
		for _, name := range []string{"s0/n0", "s0/n1", "s1/n0", "s1/n1"} {
			word, _ := w.machine().NodeWord(name)
			if word == sites.WordFailing && words[name] != sites.WordFailing {
				l.failed++
			}
			words[name] = word
		}
	}
	w.start(sites.Saved{})
	w.until(w.now + 10*time.Second)
	w.loss = loss
	w.until(w.now + time.Duration(hours)*time.Hour)
	return l, w
}

// A line that loses one packet of a hundred, of ten or of three, as bad ones do for
// weeks, would take healthy nodes out, or a dead one be kept in. A probe sends its
// question three times (ICMP, DNS), or has TCP do it, so that one of a million, one of a
// thousand and 27 of a thousand probes are lost. At the last a resolver is silent for
// three probes in a row once in 72 hours (0.027³ of 720 an hour), which is told of and
// moves nothing.
func TestLossByChance(t *testing.T) {
	hours := int(worlds(t, "DNSTEER_LOSS", 24))
	for _, tt := range []struct {
		name string
		loss int // of a thousand probes
		fail int // at least so many times in an hour does a node begin to fail
	}{
		{"1 % and 10 % of the packets", 1, 2},
		{"30 % of the packets", 27, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, w := lose(tt.loss, hours)
			t.Logf("in %d hours: %+v", hours, l)
			if most := hours / 6 * tt.loss / 27; l.outages > 0 || l.silent > most {
				t.Errorf("%d healthy nodes were taken out; silence was told of %d times, want %d at most", l.outages, l.silent, most)
			}
			if l.failed < tt.fail*hours {
				t.Errorf("nodes failed %d times: that is no loss", l.failed)
			}
			w.down["s0/n0"] = true
			w.until(w.now + time.Minute)
			if word, _ := w.machine().NodeWord("s0/n0"); word != sites.WordOut {
				t.Errorf("a minute after its death a node is %s", word)
			}
		})
	}
	// With one packet a probe, a line that loses half of them would do it: the worlds
	// above are not too kind to show anything.
	if l, _ := lose(500, hours); l.outages == 0 {
		t.Errorf("with every second probe lost no node was taken out: %+v", l)
	}
}
