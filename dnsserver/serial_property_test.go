package dnsserver

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ledger keeps the serials of a server as its owner does: it stores them ahead, until a
// stop, on a disk that may take nothing for a while.
type ledger struct {
	stored, queued, last map[string]uint32
	hangs                bool
}

func (l *ledger) queue(more map[string]uint32) {
	maps.Copy(l.queued, more)
	if !l.hangs {
		maps.Copy(l.stored, l.queued)
		clear(l.queued)
	}
}

func (l *ledger) keep(s *Server) {
	more := s.Reserve(l.last)
	maps.Copy(l.last, more)
	l.queue(more)
}

// If this fails, some order of moves, reloads, stops and kills, with a disk that hangs,
// has a zone's serial fall or given out twice: secondaries stay with what they have.
func TestSerialsInAnyOrder(t *testing.T) {
	whole := lanConfig(t)
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		l := &ledger{stored: map[string]uint32{}}
		config := func() *Config {
			c := *whole
			c.Zones = nil
			for i, z := range whole.Zones {
				if i == 1 && !rapid.Bool().Draw(rt, "the inner zone") {
					continue
				}
				z.Records = records(t, fmt.Sprintf("%[1]s. 300 IN SOA ns1.%[1]s. admin.%[1]s. %[2]d 3600 600 86400 60\n%[1]s. 300 IN NS ns1.%[1]s.\nns1.%[1]s. 300 IN A 10.0.0.%[3]d\n",
					z.Name, rapid.SampledFrom([]uint32{1, 2023110101, 2023110201, 4_000_000_000}).Draw(rt, "written"), rapid.IntRange(1, 9).Draw(rt, "record")))
				c.Zones = append(c.Zones, z)
			}
			if !rapid.Bool().Draw(rt, "services") {
				c.Services = nil
			}
			return &c
		}
		given := map[string]uint32{}
		var s *Server
		start := func() {
			l.queued, l.last = map[string]uint32{}, map[string]uint32{}
			var err error
			if s, err = New(config(), Options{Serials: l.stored, Now: func() time.Time { return now }}); err != nil {
				rt.Fatal(err)
			}
		}
		// see holds what is served now against what was before.
		see := func(what string, anew bool) {
			for name, serial := range s.Serials() {
				if was, ok := given[name]; ok && (after(was, serial) || anew && was == serial) {
					rt.Fatalf("%s: %s has %d after %d", what, name, serial, was)
				}
				given[name] = serial
			}
			l.keep(s)
		}
		start()
		see("the start", true)
		moves := 0
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{-100_000, 0, 1, 100_000}).Draw(rt, "seconds")) * time.Second)
			switch what := rapid.SampledFrom([]string{"moves", "moves", "reload", "hang", "stop", "kill"}).Draw(rt, "step"); what {
			case "moves":
				for range rapid.SampledFrom([]int{1, 300}).Draw(rt, "many") {
					moves++
					s.SetAnswer("berlin", "default", answer(fmt.Sprintf("10.1.%d.%d", moves/250%250, 1+moves%250)))
				}
				see(what, false)
			case "reload":
				if l.hangs { // what it brings may be stored nowhere
					continue
				}
				if err := s.Reload(config()); err != nil {
					rt.Fatal(err)
				}
				see(what, false)
			case "hang":
				l.hangs = true
			case "stop", "kill":
				if what == "stop" {
					l.queue(s.Serials())
				}
				l.hangs = false
				start()
				see(what, true)
			}
		}
	})
}

// If this fails, a serial of more than nine digits in a zone file has that of the next start
// fall: of three serials each may be after the one before it, and the first after the last.
func TestFirstSerialFollowsTheStored(t *testing.T) {
	const written, stored = 4_000_000_000, 2_023_110_101
	if got := firstSerial(written, stored, true, true, time.Unix(1_700_000_000, 0)); !after(got, stored) {
		t.Errorf("%d after %d was stored", got, stored)
	}
}
