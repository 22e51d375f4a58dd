package app

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/keyfile"
)

// proved asks for a name as a validator would that knows a DS record of the zone,
// and gives the addresses, sorted.
func (r *running) proved(p *place, host, ds string) string {
	r.t.Helper()
	client := dns.Client{Timeout: patience, Dialer: &net.Dialer{LocalAddr: &net.UDPAddr{IP: p.host(200).AsSlice()}}}
	ask := func(name string, qtype uint16) (set []dns.RR, sig *dns.RRSIG) {
		m := new(dns.Msg).SetQuestion(name, qtype)
		m.SetEdns0(1232, true)
		reply, _, err := client.Exchange(m, r.at.String())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, rr := range reply.Answer {
			if s, ok := rr.(*dns.RRSIG); ok {
				sig = s
			} else {
				set = append(set, rr)
			}
		}
		if sig == nil || !sig.ValidityPeriod(time.Now()) {
			r.t.Fatalf("no signature that counts now:\n%v", reply)
		}
		return set, sig
	}
	keys, keySig := ask("example.lan.", dns.TypeDNSKEY)
	key, ok := keys[0].(*dns.DNSKEY)
	if !ok || keyfile.DSText(key.ToDS(dns.SHA256)) != ds {
		r.t.Fatalf("the key is not that of %s", ds)
	}
	set, sig := ask(host+".", dns.TypeA)
	for sig, set := range map[*dns.RRSIG][]dns.RR{keySig: keys, sig: set} {
		if err := sig.Verify(key, set); err != nil {
			r.t.Fatalf("%v: %v", err, set)
		}
	}
	var list []string
	for _, rr := range set {
		if a, ok := rr.(*dns.A); ok {
			list = append(list, a.A.String())
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// If this fails, a signed name is a forgery to validators once a node has failed, or
// after a restart, which has made another key.
func TestSignedNamesFailOver(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"))
	r := w.start()
	r.settled()
	p := w.sites[0]
	status := func() (ds string) {
		st, err := r.Status(t.Context())
		if err != nil || len(st.DNS.Signed) != 1 || len(st.DNS.Signed[0].DS) != 1 {
			t.Fatalf("the status says %+v of the names: %v", st.DNS, err)
		}
		return st.DNS.Signed[0].DS[0]
	}
	ds := status()
	if got, want := r.proved(p, "app.example.lan", ds), p.all(11, 12); got != want {
		t.Errorf("at first %q, want %q", got, want)
	}
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	r.until("the answer has moved", func() bool { return r.proved(p, "app.example.lan", ds) == p.all(12) })
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	if got, want := r.proved(p, "app.example.lan", ds), p.all(12); got != want || status() != ds {
		t.Errorf("after a restart %q with %s, want %q with %s", got, status(), want, ds)
	}
	// The zone stops to be signed, and is again, by the same key.
	w.write(w.config())
	r.await("config_reloaded")
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: {cds: none}"))
	r.await("config_reloaded")
	if got, want := r.proved(p, "app.example.lan", ds), p.all(12); got != want {
		t.Errorf("after two reloads %q, want %q", got, want)
	}
}

// If this fails, a reload that was refused binds the next one to a key that no zone was
// ever signed with, and that may be gone with the rest of the attempt.
func TestRefusedReloadSignsNothing(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	w.write(zones(nil))
	r := w.start()
	signed := strings.Replace(zones(map[string]int{"one.lan": 1}), "      hostmaster:", "      dnssec: on\n      hostmaster:", 1)
	w.write(strings.Replace(signed, "127.0.0.1:0", taken.LocalAddr().String(), 1))
	if _, err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Fatalf("a port that is taken: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "state", "keys")); err != nil {
		t.Fatal(err)
	}
	w.write(signed)
	if _, err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
}

// If this fails, a second key in the state folder, made there for a change of keys or put
// back after a loss, keeps the next start from answering at all, or signs in the place of
// the first.
func TestSeveralKeptKeys(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	text := strings.Replace(zones(map[string]int{"one.lan": 1}), "      hostmaster:", "      dnssec: on\n      hostmaster:", 1)
	w.write(text)
	r := w.start()
	signing := func(when string, want ...string) []string {
		t.Helper()
		st, err := r.Status(t.Context())
		if err != nil || len(st.DNS.Signed) != 1 {
			t.Fatalf("%s: %+v, %v", when, st.DNS, err)
		}
		if list := st.DNS.Signed[0].DS; want != nil && !slices.Equal(list, want) {
			t.Errorf("%s: signed with %q, want %q", when, list, want)
		}
		return st.DNS.Signed[0].DS
	}
	first := signing("at first")[0]
	other, err := keyfile.New("one.lan", dns.ECDSAP256SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write(filepath.Join(w.dir, "state", "keys")); err != nil {
		t.Fatal(err)
	}
	both := []string{first, keyfile.DSText(other.DS())}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	signing("after a start", both...)
	w.write(strings.Replace(text, "h0 300", "h0 301", 1))
	if _, err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	signing("after a reload", both...)
}
