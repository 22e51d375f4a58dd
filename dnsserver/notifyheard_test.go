package dnsserver

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// If this fails, the status says for days that a secondary has not heard of a change
// that it took long ago.
func TestSecondaryThatTookTheZoneHasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := notifyServer(t, &town{answer: func(netip.AddrPort, *dns.Msg) []byte { return nil }})
		defer stop()
		judge := func(when string, faults ...bool) {
			t.Helper()
			time.Sleep(time.Hour)
			for i, state := range s.Stats().Secondaries {
				if (state.Fault != "") != faults[i] || state.Answered == faults[i] {
					t.Errorf("%s: %+v", when, state)
				}
			}
		}
		judge("both are down", true, true)
		take(t, s, zoneQuery("example.lan.")) // as 10.9.0.1
		judge("one has taken the zone", false, true)
		take(t, s, zoneQuery("inner.example.lan."))
		s.SetAnswer("berlin", "default", answer("10.1.0.12"))
		judge("a change, and another zone", true, true)
		s.SetAnswer("berlin", "default", answer("10.1.0.13"))
		time.Sleep(time.Second)
		take(t, s, zoneQuery("example.lan.", s.Serials()["example.lan"]-1))
		judge("one has taken the change while it was told", false, true)
	})
}

// If this fails, a secondary whose key was wrong hears nothing after it is put right,
// until something else changes.
func TestNotifyWithARightKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{answer: func(netip.AddrPort, *dns.Msg) []byte { return nil }}
		s, stop := notifyServer(t, w)
		defer stop()
		for i, secret := range []string{"the wrong one of the two secrets", testSecret, testSecret} {
			cfg := transferConfig(t)
			cfg.Keys[0].Secret = Secret(secret)
			cfg.Zones[0].Notify = []Secondary{{Addr: netip.MustParseAddrPort("10.9.0.1:53"), Key: "xfr.example.lan"}}
			time.Sleep(time.Hour)
			synctest.Wait()
			w.taken()
			if err := s.Reload(cfg); err != nil {
				t.Fatal(err)
			}
			time.Sleep(notifyGather)
			synctest.Wait()
			if told := len(w.taken()) > 0; told != (i < 2) {
				t.Errorf("reload %d: told %v", i, told)
			}
		}
	})
}
