package dnsserver

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// toldOf gives the serial that a server's first secondary has said that it knows.
func toldOf(s *Server) uint32 {
	for _, state := range s.Stats().Secondaries {
		if state.Addr.Addr() == netip.MustParseAddr("10.9.0.1") && state.Answered {
			return state.Serial
		}
	}
	return 0
}

// If this fails, secondaries hear of a failover later than two seconds after it when
// two packets in a row are lost.
func TestNotifyThroughLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[uint32]int{}
		w := &town{}
		w.answer = func(_ netip.AddrPort, m *dns.Msg) []byte {
			soa, ok := m.Answer[0].(*dns.SOA)
			if !ok {
				return nil
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if tries[soa.Serial]++; tries[soa.Serial] <= 2*2 { // to both secondaries
				return nil
			}
			return said(m, dns.RcodeSuccess)
		}
		s, stop := notifyServer(t, w)
		defer stop()
		time.Sleep(time.Minute)
		s.SetAnswer("berlin", "default", answer("10.1.0.99"))
		time.Sleep(notifyGather + 3*notifyFirst)
		synctest.Wait()
		if got, want := toldOf(s), s.Serials()["example.lan"]; got != want {
			t.Errorf("it knows of %d, want %d", got, want)
		}
	})
}

// If this fails, secondaries fall behind, or hear nothing at all, while one failover
// follows another without a pause.
func TestNotifyUnderChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{answer: func(_ netip.AddrPort, m *dns.Msg) []byte { return said(m, dns.RcodeSuccess) }}
		s, stop := notifyServer(t, w)
		defer stop()
		const apart = 10 * time.Millisecond
		since := map[uint32]time.Time{}
		for i := range 1000 {
			s.SetAnswer("berlin", "default", answer(numbered(uint32(i+1))))
			since[s.Serials()["example.lan"]] = time.Now()
			time.Sleep(apart)
			synctest.Wait()
			// What it was told last had been served for the time in which changes are
			// gathered, and then they are gathered once more.
			if late := time.Since(since[toldOf(s)]); i > int(2*notifyGather/apart) && late > 2*notifyGather+2*apart {
				t.Fatalf("after %d changes it knows what was served %s ago", i+1, late)
			}
		}
	})
}
