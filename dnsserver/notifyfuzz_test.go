package dnsserver

import (
	"bytes"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, what comes to the socket that waits for a secondary's answer ends the
// controller, or whoever does not know the key has a NOTIFY taken for answered.
func FuzzNotifyAnswer(f *testing.F) {
	key, err := newKey(&Key{Name: "xfr.example.lan", Algorithm: HMACSHA256, Secret: Secret(testSecret)})
	if err != nil {
		f.Fatal(err)
	}
	z := lanServerOf(f, transferConfig(f)).snap.Load().zones["\x07example\x03lan\x00"]
	message := func(key *tsigKey) *notifyMessage {
		m := newNotify(&news{zone: z, serial: 5, key: key}, uint64(testStart.Unix()))
		m.octets[0], m.octets[1] = 0x12, 0x34
		return m
	}
	in := new(dns.Msg)
	if err := in.Unpack(message(nil).octets); err != nil {
		f.Fatal(err)
	}
	for _, rcode := range []int{dns.RcodeSuccess, dns.RcodeRefused} {
		answer, err := new(dns.Msg).SetRcode(in, rcode).Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(answer)
		f.Add(answer[:headerLen])
		forged, _ := withKey(f, new(dns.Msg).SetRcode(in, rcode), "xfr.example.lan.", testStart)
		f.Add(forged) // signed as a request, not for this message
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if m := message(nil); m.check(answer) && !bytes.Equal(answer[:2], m.octets[:2]) {
			t.Error("the answer to another message is taken")
		}
		if m := message(key); m.check(answer) {
			t.Errorf("an answer that is not signed for the message is taken: %x", answer)
		}
	})
}
