package main

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// zone serves the zone's records by name and type, the wildcard's too.
type zone map[string]int

func newZone(t *testing.T) zone {
	t.Helper()
	z := zone{}
	p := dns.NewZoneParser(strings.NewReader(zoneText(true)), "", "")
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		z[rr.Header().Name+" "+dns.TypeToString[rr.Header().Rrtype]]++
		z[rr.Header().Name]++
	}
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	return z
}

// at gives what the zone has for a question.
func (z zone) at(name string, qtype uint16) (rcode, count int) {
	name = strings.ToLower(name)
	if z[name] == 0 {
		if _, up, _ := strings.Cut(name, "."); z["*."+up] > 0 {
			name = "*." + up
		} else {
			return dns.RcodeNameError, 0
		}
	}
	return dns.RcodeSuccess, z[name+" "+dns.TypeToString[qtype]]
}

// If this fails, right answers are taken for wrong ones, or every server is asked
// for nothing.
func TestQuestionsFitTheZone(t *testing.T) {
	z := newZone(t)
	list, err := makeQuestions()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, q := range list {
		m := new(dns.Msg)
		if err := m.Unpack(q.wire); err != nil {
			t.Fatal(err)
		}
		rcode, count := z.at(m.Question[0].Name, m.Question[0].Qtype)
		if rcode != int(q.rcode) || (count > 0) != q.filled {
			t.Fatalf("%s: rcode %d with %d records, expected %d, %t", m.Question[0].String(), rcode, count, q.rcode, q.filled)
		}
		switch {
		case q.rcode != 0:
			kinds["no name"]++
		case !q.filled:
			kinds["no data"]++
		default:
			kinds["records"]++
		}
		if m.IsEdns0() != nil {
			kinds["EDNS"]++
		}
	}
	for kind, want := range map[string]int{"no name": 10, "no data": 10, "records": 80, "EDNS": 50} {
		if got := kinds[kind] * 100 / len(list); got < want-2 || got > want+2 {
			t.Errorf("%s: %d %%, want about %d", kind, got, want)
		}
	}
}

// If this fails, a server is credited with answers that it did not give, or that
// are wrong.
func TestLoadJudgesAnswers(t *testing.T) {
	z := newZone(t)
	tests := []struct {
		name         string
		spoil        func(*dns.Msg) *dns.Msg
		wrong, fewer bool
	}{
		{"right", func(m *dns.Msg) *dns.Msg { return m }, false, false},
		{"another rcode", func(m *dns.Msg) *dns.Msg { m.Rcode = dns.RcodeServerFailure; return m }, true, false},
		{"without the records", func(m *dns.Msg) *dns.Msg { m.Answer = nil; return m }, true, false},
		{"another ID", func(m *dns.Msg) *dns.Msg { m.Id += window; return m }, false, true},
		{"silence", func(*dns.Msg) *dns.Msg { return nil }, false, true},
	}
	list, err := makeQuestions()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, in *dns.Msg) {
				m := new(dns.Msg)
				m.SetReply(in)
				rcode, count := z.at(in.Question[0].Name, in.Question[0].Qtype)
				m.Rcode = rcode
				for range count {
					m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: in.Question[0].Name, Rrtype: dns.TypeTXT, Class: 1}, Txt: []string{"x"}})
				}
				if tt.spoil(m) != nil {
					_ = w.WriteMsg(m)
				}
			})}
			done := make(chan error, 1)
			go func() { done <- s.ActivateAndServe() }()
			defer func() {
				_ = s.Shutdown()
				<-done
			}()
			port := uint16(pc.LocalAddr().(*net.UDPAddr).Port)
			l, err := newLoad(port, list, false, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			var got measured
			for limit := time.Now().Add(time.Minute); ; { // a busy machine may answer nothing for a while
				if got, err = l.run(200 * time.Millisecond); err != nil {
					t.Fatal(err)
				}
				if tt.fewer || got.answered > 0 || time.Now().After(limit) {
					break
				}
			}
			if (got.wrong > 0) != tt.wrong || (got.answered == 0) != tt.fewer {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// If this fails, the table compares rounds that do not belong together.
func TestReport(t *testing.T) {
	rounds := []map[string]sample{
		{"ours": {100, 2, 10, 20, 5}, "nsd": {50, 4, 11, 21, 40}},
		{"ours": {300, 1, 10, 20, 5}}, // nsd failed
		{"ours": {100, 3, 10, 20, 5}, "nsd": {100, 2, 11, 21, 40}},
	}
	var b strings.Builder
	if err := report(&b, "free", "ours", []string{"ours", "nsd", "absent"}, rounds); err != nil {
		t.Fatal(err)
	}
	want := `
free, 3 rounds

| server | q/s | CPU µs/answer | p50 µs | p99 µs | MiB | CPU ours/theirs | q/s ours/theirs |
|---|---|---|---|---|---|---|---|
| ours | 100 | 2.00 | 10 | 20 | 5 | – | – |
| nsd | 75 | 3.00 | 11 | 21 | 40 | 0.50 **1.00** 1.50 | 1.00 **1.50** 2.00 |
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// If this fails, somebody who mistypes waits for a measurement of nothing.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-ours /nowhere/dnsteer":      "there is no /nowhere/dnsteer: make build makes it",
		"-ours /bin/true -modes both": `mode "both": free, pinned or disturbed`,
	} {
		err := run(t.Context(), strings.Fields(args), os.Stdout, os.Stderr)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// If this fails, a disturbance is held against another server's calm, or a round
// that failed counts.
func TestReportDisturbed(t *testing.T) {
	list := []disturbance{{name: "nothing"}, {name: "reloads"}, {name: "nothing, signed"}, {name: "flood"}}
	rounds := []map[string]disturbedSample{
		{"nothing": {100, 10, 20, 0}, "reloads": {90, 11, 22, 1}, "nothing, signed": {50, 10, 40, 0}, "flood": {25, 10, 80, 2}},
		{"nothing": {100, 10, 20, 0}, "nothing, signed": {50, 10, 40, 0}, "flood": {25, 10, 80, 2}},
	}
	var b strings.Builder
	if err := reportDisturbed(&b, list, rounds); err != nil {
		t.Fatal(err)
	}
	want := `
disturbed, 2 rounds, delays at 20000 questions a second

| beside it | q/s | p50 µs | p99 µs | lost % | q/s with/without | p99 with/without |
|---|---|---|---|---|---|---|
| nothing | 100 | 10 | 20 | 0.00 | – | – |
| reloads | 90 | 11 | 22 | 1.00 | 0.90 **0.90** 0.90 | 1.10 **1.10** 1.10 |
| nothing, signed | 50 | 10 | 40 | 0.00 | – | – |
| flood | 25 | 10 | 80 | 2.00 | 0.50 **0.50** 0.50 | 2.00 **2.00** 2.00 |
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// If this fails, a disturbance is compared with the calm of another server.
func TestChosen(t *testing.T) {
	names := func(word string) (out []string) {
		for _, d := range chosen(disturbances(), word) {
			out = append(out, d.name)
		}
		return out
	}
	if got := names(""); len(got) != len(disturbances()) {
		t.Errorf("all are %v", got)
	}
	if d := cmp.Diff([]string{"nothing, where answers can be swapped", "100 swaps a second"}, names("swaps")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"nothing", "a flood of three times the capacity", "nothing, zone signed", "a flood of made-up names with DO"}, names("flood")); d != "" {
		t.Error(d)
	}
	if got := names("nothing else"); got != nil {
		t.Errorf("chosen %v", got)
	}
}
