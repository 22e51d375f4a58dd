package dnsserver

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// heard is a NOTIFY that a secondary got.
type heard struct {
	Zone, To string
	Serial   uint32 // after the first
	At       time.Duration
}

// town is the secondaries of a test: answer says what each says, nil for nothing.
type town struct {
	mu     sync.Mutex
	start  time.Time
	first  uint32
	heard  []heard
	answer func(to netip.AddrPort, m *dns.Msg) []byte
}

func (w *town) exchange(ctx context.Context, to netip.AddrPort, msg []byte, check func([]byte) bool) error {
	m := new(dns.Msg)
	if err := m.Unpack(msg); err != nil {
		return err
	}
	soa, ok := m.Answer[0].(*dns.SOA)
	if !ok || m.Opcode != dns.OpcodeNotify || !m.Authoritative || m.Question[0].Qtype != dns.TypeSOA {
		return errors.New("not a NOTIFY")
	}
	w.mu.Lock()
	w.heard = append(w.heard, heard{m.Question[0].Name, to.String(), soa.Serial - w.first, time.Since(w.start)})
	w.mu.Unlock()
	if a := w.answer(to, m); a != nil && check(a) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// taken gives what was heard, of each moment in the order of the addresses.
func (w *town) taken() []heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.heard
	w.heard = nil
	if len(out) > 1 && out[0].At == out[1].At && out[0].To > out[1].To {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// said packs a secondary's answer.
func said(m *dns.Msg, rcode int) []byte {
	r := new(dns.Msg)
	r.SetRcode(m, rcode)
	b, err := r.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// notifyServer is a server with two secondaries of one zone, in a bubble.
func notifyServer(t *testing.T, w *town) (server *Server, stop func()) {
	t.Helper()
	cfg := transferConfig(t)
	cfg.Zones[0].Notify = []Secondary{{Addr: netip.MustParseAddrPort("10.9.0.1:53")}, {Addr: netip.MustParseAddrPort("10.9.0.2:53")}}
	s := lanServerOf(t, cfg)
	s.notify.exchange = w.exchange
	w.start, w.first = time.Now(), s.Serials()["example.lan"]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.notifySecondaries(ctx); close(done) }()
	return s, func() { cancel(); <-done }
}

// If this fails, secondaries learn of a failover late or several times, or go on
// being told of what they know.
func TestNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{answer: func(to netip.AddrPort, m *dns.Msg) []byte {
			if to.Addr() == netip.MustParseAddr("10.9.0.2") {
				return nil // down
			}
			return said(m, dns.RcodeSuccess)
		}}
		s, stop := notifyServer(t, w)
		defer stop()
		one := func(serial uint32, at time.Duration) heard { return heard{"example.lan.", "10.9.0.1:53", serial, at} }
		two := func(serial uint32, at time.Duration) heard { return heard{"example.lan.", "10.9.0.2:53", serial, at} }
		wait := func(d time.Duration) []heard {
			time.Sleep(d)
			synctest.Wait()
			return w.taken()
		}
		const half = 500 * time.Millisecond
		if diff := cmp.Diff([]heard{one(0, notifyGather), two(0, notifyGather), two(0, notifyGather+half), two(0, notifyGather+3*half)}, wait(2*time.Second)); diff != "" {
			t.Errorf("at the start (-want +got):\n%s", diff)
		}
		s.SetAnswer("berlin", "default", answer("10.1.0.12"))
		time.Sleep(50 * time.Millisecond)
		s.SetAnswer("berlin", "streaming", answer("10.1.0.22"))
		at := 2*time.Second + notifyGather
		if diff := cmp.Diff([]heard{one(2, at), two(2, at), two(2, at+half)}, wait(time.Second)); diff != "" {
			t.Errorf("after two changes (-want +got):\n%s", diff)
		}
		near := answer("10.1.0.22")
		near.Horizon = 0
		s.SetAnswer("berlin", "streaming", near)
		for _, h := range wait(time.Hour) {
			if h.To == "10.9.0.1:53" {
				t.Errorf("told again, of a TTL perhaps: %v", h)
			}
		}
		state := s.Stats().Secondaries
		if len(state) != 2 || !state[0].Answered || state[1].Answered || state[1].Fault == "" {
			t.Errorf("states %+v", state)
		}
		if got := wait(time.Hour); len(got) != 0 {
			t.Errorf("told for ever: %v", got)
		}
	})
}

// If this fails, a secondary that has been removed is still told, or one that is
// added hears nothing until something changes.
func TestNotifyFollowsReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{answer: func(netip.AddrPort, *dns.Msg) []byte { return nil }}
		s, stop := notifyServer(t, w)
		defer stop()
		cfg := transferConfig(t)
		cfg.Zones[0].Notify = []Secondary{{Addr: netip.MustParseAddrPort("10.9.0.3:53")}}
		time.Sleep(time.Second)
		w.taken()
		if err := s.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		time.Sleep(notifyGather)
		synctest.Wait()
		w.taken()
		time.Sleep(time.Minute)
		synctest.Wait()
		got := w.taken()
		for _, h := range got {
			if h.To != "10.9.0.3:53" {
				t.Errorf("told %v", h)
			}
		}
		if state := s.Stats().Secondaries; len(got) == 0 || len(state) != 1 || state[0].Addr.String() != "10.9.0.3:53" {
			t.Errorf("told %v, states %+v", got, state)
		}
	})
}

// signedAnswer is a secondary's answer to a signed message, under the MAC of the
// message or another one.
func signedAnswer(t *testing.T, in, r *dns.Msg, secret, mac string) []byte {
	t.Helper()
	if mac == "" {
		mac = in.IsTsig().MAC
	}
	r.SetTsig("xfr.example.lan.", dns.HmacSHA256, 300, testStart.Unix())
	b, _, err := dns.TsigGenerate(r, base64.StdEncoding.EncodeToString([]byte(secret)), mac, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// If this fails, anybody can keep a secondary from being told by answering in its
// place, or a refusal is repeated for ever.
func TestNotifyAnswers(t *testing.T) {
	key, err := newKey(&Key{Name: "xfr.example.lan", Algorithm: HMACSHA256, Secret: Secret(testSecret)})
	if err != nil {
		t.Fatal(err)
	}
	z := lanServerOf(t, transferConfig(t)).snap.Load().zones["\x07example\x03lan\x00"]
	tests := []struct {
		name        string
		key         *tsigKey
		rcode       int
		edit        func(*dns.Msg)
		secret, mac string
		ends        bool // the message is an answer
		refuses     bool
	}{
		{name: "right", ends: true},
		{name: "refused", rcode: dns.RcodeRefused, ends: true, refuses: true},
		{name: "another ID", edit: func(m *dns.Msg) { m.Id ^= 1 }},
		{name: "no response", edit: func(m *dns.Msg) { m.Response = false }},
		{name: "another opcode", edit: func(m *dns.Msg) { m.Opcode = dns.OpcodeQuery }},
		{name: "another zone", edit: func(m *dns.Msg) { m.Question[0].Name = "example.org." }},
		{name: "without the question", edit: func(m *dns.Msg) { m.Question = nil }, ends: true},
		{name: "signed", key: key, secret: testSecret, ends: true},
		{name: "signed refusal", key: key, rcode: dns.RcodeRefused, secret: testSecret, ends: true, refuses: true},
		{name: "not signed", key: key},
		{name: "refusal that is not signed", key: key, rcode: dns.RcodeNotAuth},
		{name: "signed with another secret", key: key, secret: "another"},
		{name: "signed for another message", key: key, secret: testSecret, mac: "00ff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newNotify(&news{zone: z, serial: 5, key: tt.key}, uint64(testStart.Unix()))
			in, r := new(dns.Msg), new(dns.Msg)
			if err := in.Unpack(m.octets); err != nil {
				t.Fatal(err)
			}
			r.SetRcode(in, tt.rcode)
			if tt.edit != nil {
				tt.edit(r)
			}
			var b []byte
			if tt.secret != "" {
				b = signedAnswer(t, in, r, tt.secret, tt.mac)
			} else if b, err = r.Pack(); err != nil {
				t.Fatal(err)
			}
			if got := m.check(b); got != tt.ends || (m.refusal != nil) != tt.refuses {
				t.Errorf("an answer %v, refusal %v", got, m.refusal)
			}
		})
	}
}

// If this fails, NOTIFY does not leave by the network, or waits for ever.
func TestNotifyOverUDP(t *testing.T) {
	pc, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer pc.Close()
	wg.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = pc.WriteTo([]byte("noise"), from)
			_, _ = pc.WriteTo(b[:n], from)
		}
	})
	s := lanServer(t)
	to := netip.MustParseAddrPort(pc.LocalAddr().String())
	if err := s.exchangeUDP(t.Context(), to, []byte("message"), func(b []byte) bool { return string(b) == "message" }); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.exchangeUDP(ctx, to, []byte("message"), func([]byte) bool { return false }); err == nil {
		t.Error("no error once it is stopped")
	}
}
