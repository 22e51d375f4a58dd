package sites

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shown is a moment at which probes of berlin/a are shown a certificate.
type shown struct {
	day  float64 // since the start
	v6   bool
	ends []float64 // by probe, as days since the start; 0 for no certificate
}

// dualTLS gives berlin/a both families and two probes that see a certificate.
func dualTLS(c *Config) {
	s := &c.Sites[0]
	s.Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
	s.Nodes[0].Probes = []Probe{{"tls", "tls 443", true}, {"https", "https 443", true}}
	s.Witnesses = append(s.Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
}

func (d *driver) show(s shown) {
	d.now = time.Duration(s.day * float64(day))
	addr := addrs("10.1.0.11", "fd00:1::11")[map[bool]int{true: 1}[s.v6]]
	res := Result{Subject: Subject{Site: "berlin", Node: "a", Addr: addr}, Start: d.now, Finish: d.now}
	for _, end := range s.ends {
		c := Check{Outcome: Up}
		if end != 0 {
			c.Expires = d.wall.Add(time.Duration(end * float64(day)))
		}
		res.Checks = append(res.Checks, c)
	}
	d.held = true
	d.step(Input{}) // whatever else was due by then
	d.step(Input{Results: []Result{res}})
}

// certificates gives the events about certificates, in short.
func certificates(events []Event) (list []string) {
	for _, e := range events {
		if e.Kind == CertificateExpiring || e.Kind == CertificateRenewed {
			list = append(list, fmt.Sprintf("%s %s", e.Kind, e.Subject()))
		}
	}
	return list
}

// People must be told of a certificate's end in good time, and only once for
// each of the times, however many probes see it.
func TestCertificateExpiring(t *testing.T) {
	const expiring, renewed = "certificate_expiring berlin/a", "certificate_renewed berlin/a"
	tests := []struct {
		name string
		in   []shown
		want []string
	}{
		{"long valid", []shown{{1, false, []float64{90, 90}}}, nil},
		{"just long enough", []shown{{1, false, []float64{22.01, 0}}}, nil},
		{"21 days", []shown{{1, false, []float64{22, 0}}}, []string{expiring}},
		{"once", []shown{{1, false, []float64{22, 0}}, {2, false, []float64{22, 0}}, {3, false, []float64{22, 0}}}, []string{expiring}},
		{"one for both probes and families", []shown{{1, false, []float64{22, 22}}, {2, true, []float64{22, 22}}}, []string{expiring}},
		{"each of the times", []shown{{1, false, []float64{22, 0}}, {15, false, []float64{22, 0}}, {21, false, []float64{22, 0}}, {23, false, []float64{22, 0}}}, []string{expiring, expiring, expiring}},
		{"several times at once", []shown{{1, false, []float64{1.5, 0}}, {2, false, []float64{1.5, 0}}}, []string{expiring}},
		{"expired", []shown{{5, false, []float64{2, 0}}}, []string{expiring}},
		{"a new one", []shown{{1, false, []float64{22, 0}}, {2, false, []float64{92, 0}}, {3, false, []float64{92, 0}}}, []string{expiring, renewed}},
		{"a new one that ends soon too", []shown{{1, false, []float64{8, 0}}, {2, false, []float64{10, 0}}, {9.5, false, []float64{10, 0}}}, []string{expiring, renewed, expiring, expiring}},
		{"another that ends sooner", []shown{{1, false, []float64{22, 0}}, {2, false, []float64{8, 0}}}, []string{expiring, expiring}},
		{"new for one family alone", []shown{{1, false, []float64{22, 0}}, {1, true, []float64{22, 0}}, {2, false, []float64{92, 0}}}, []string{expiring}},
		{"new for both", []shown{{1, false, []float64{22, 0}}, {1, true, []float64{22, 0}}, {2, false, []float64{92, 0}}, {2, true, []float64{92, 0}}}, []string{expiring, renewed}},
		{"two in turn", []shown{{1, false, []float64{22, 0}}, {2, false, []float64{92, 0}}, {3, false, []float64{22, 0}}, {4, false, []float64{92, 0}}, {5, false, []float64{22, 0}}}, []string{expiring, renewed}},
		{"two probes in turn", []shown{{1, false, []float64{22, 0}}, {15, false, []float64{0, 22}}, {16, false, []float64{22, 0}}, {17, false, []float64{92, 92}}}, []string{expiring, expiring, renewed}},
		{"seen no more", []shown{{1, false, []float64{22, 0}}, {2, false, []float64{0, 0}}, {3, false, []float64{22, 0}}}, []string{expiring}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(dualTLS))
			open := map[uint64]bool{}
			for _, s := range tt.in {
				d.show(s)
			}
			if diff := cmp.Diff(tt.want, certificates(d.all)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for _, e := range d.all {
				if e.Kind == CertificateExpiring || e.Kind == CertificateRenewed {
					if e.Resolves != 0 && !open[e.Resolves] {
						t.Errorf("%s resolves %d, which is not open", e.Kind, e.Resolves)
					}
					delete(open, e.Resolves)
					open[e.ID] = e.Kind == CertificateExpiring
				}
			}
		})
	}
}

// A restart must tell nothing twice, and still know what a new certificate ends.
func TestCertificateRestart(t *testing.T) {
	d := newDriver(t, usual(dualTLS))
	d.show(shown{1, false, []float64{22, 0}})
	b, err := json.Marshal(d.saved())
	if err != nil {
		t.Fatal(err)
	}
	var saved Saved
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	d.start(saved)
	d.show(shown{2, false, []float64{22, 0}})
	d.show(shown{3, false, []float64{92, 0}})
	if diff := cmp.Diff([]string{"certificate_expiring berlin/a", "certificate_renewed berlin/a"}, certificates(d.all)); diff != "" {
		t.Error(diff)
	}
}

// People are told which certificate it is, when it ends and who has seen it.
func TestCertificateTexts(t *testing.T) {
	d := newDriver(t, usual(dualTLS))
	d.show(shown{1, false, []float64{22, 0}})
	d.show(shown{23, false, []float64{0, 22}})
	d.show(shown{26, false, []float64{90, 90}})
	var got []string
	for _, e := range d.all {
		if strings.HasPrefix(string(e.Kind), "certificate") {
			got = append(got, e.Text)
		}
	}
	want := []string{
		`The certificate of berlin/a (IPv4) expires in 21 days, at 2026-03-23T12:00:00Z (seen by the probe "tls"). A new one ends this.`,
		`The certificate of berlin/a (IPv4) expired 24h ago, at 2026-03-23T12:00:00Z (seen by the probe "https"). A new one ends this.`,
		`berlin/a (IPv4) has a new certificate: it is valid for another 64 days, until 2026-05-30T12:00:00Z (seen by the probe "https").`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// After a boot with a wrong clock every certificate would count as expired, and
// every node be taken out at once (O6).
func TestO6CertificateTimes(t *testing.T) {
	for _, cause := range []string{CauseTLSExpired, CauseTLSNotYet, CauseTLSExpiring} {
		t.Run(cause, func(t *testing.T) {
			fail := func(d *driver) *node {
				d.held = true
				for d.now = time.Minute; d.now < 5*time.Minute; d.now += 5 * time.Second {
					check := Check{Outcome: Down, Cause: cause, Text: "the certificate expired 9 days ago", Expires: d.wall.Add(-9 * day)}
					d.step(Input{Results: []Result{{
						Subject: Subject{Site: "berlin", Node: "a", Addr: addrs("10.1.0.11")[0]},
						Start:   d.now, Finish: d.now, Checks: []Check{check},
					}}})
				}
				return d.m.byName["berlin"].nodes[0]
			}
			d := newDriver(t, usual(nil))
			d.at(30 * time.Second)
			d.suspect = true
			n := fail(d)
			if got := n.lines[IPv4]; got.Word != WordUp || got.recent != Unknown || !strings.Contains(got.checks[0].last.Text, "cannot be right") {
				t.Errorf("with a clock that cannot be right: %s, %v, %q", got.Word, got.recent, got.checks[0].last.Text)
			}
			if got := certificates(d.all); got != nil {
				t.Errorf("told by a clock that cannot be right: %v", got)
			}
			d = newDriver(t, usual(nil))
			d.at(30 * time.Second)
			if got := fail(d).lines[IPv4]; got.Word != WordFailing || got.last != Down {
				t.Errorf("with a clock that is right: %s, %v", got.Word, got.last)
			}
		})
	}
}

// A witness that is asked by TLS would be silent after such a boot.
func TestO6WitnessCertificate(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.at(30 * time.Second)
	d.suspect, d.held = true, true
	w := Subject{Site: "berlin", Witness: "resolver 10.1.0.1", Addr: addrs("10.1.0.1")[0]}
	d.now += time.Second
	d.step(Input{Results: []Result{{Subject: w, Start: d.now, Finish: d.now, Checks: []Check{{Outcome: Down, Cause: CauseTLSExpired}}}}})
	if got := d.m.byName["berlin"].witnesses[0]; got.last != Up || got.recent != Unknown {
		t.Errorf("%v, %v", got.last, got.recent)
	}
}
