package dnsserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, a secondary does not believe a zone of several messages, or
// cannot ask for the next one on the same connection.
func TestTransferOverTCP(t *testing.T) {
	cfg := transferConfig(t)
	for i := range 2000 {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, fmt.Sprintf("h%d.example.lan. 60 IN A 10.0.%d.%d", i, i/250, 1+i%250))...)
	}
	s, err := New(cfg, Options{}) // the library's clock is the real one
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"default", "streaming", "weighted", "hashed", "uneven"} {
		s.SetAnswer("berlin", p, answer("10.1.0.11"))
		s.SetAnswer("hamburg", p, answer("10.2.0.11"))
	}
	client := dial(s, "10.9.0.1")
	for range 2 {
		tr := &dns.Transfer{Conn: &dns.Conn{Conn: client}, TsigSecret: map[string]string{"xfr.example.lan.": encodedSecret}}
		m := zoneQuery("example.lan.")
		m.SetTsig("xfr.example.lan.", dns.HmacSHA256, 300, time.Now().Unix())
		in, err := tr.In(m, "")
		if err != nil {
			t.Fatal(err)
		}
		count, messages := 0, 0
		for e := range in {
			if e.Error != nil {
				t.Fatal(e.Error)
			}
			count, messages = count+len(e.RR), messages+1
		}
		if count < 2000 || messages < 2 {
			t.Errorf("%d records in %d messages", count, messages)
		}
		if messages > 0 { // the library closes what it has read from
			client = dial(s, "10.9.0.1")
		}
	}
	_ = client.Close() // nothing is lost
	s.net.wg.Wait()
	if st := s.Stats().Transfers; st != (TransferStats{Whole: 2}) {
		t.Errorf("counted %+v", st)
	}
}

// If this fails, questions that are asked in one go with a transfer are not
// answered, or not in their order.
func TestTransferAmongQuestions(t *testing.T) {
	s := lanServerOf(t, transferConfig(t))
	client := dial(s, "10.9.0.1")
	axfr, _ := withKey(t, zoneQuery("inner.example.lan."), "xfr.example.lan.", testStart)
	before, after := ask("mail.example.lan.", dns.TypeA), ask("mail.example.lan.", dns.TypeMX)
	go func() { _, _ = client.Write(framed(before, axfr, after, axfr)) }() // an error shows in what is read
	for i, qtype := range []uint16{dns.TypeA, dns.TypeAXFR, dns.TypeMX, dns.TypeAXFR} {
		m, err := readFrame(client)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if m.Question[0].Qtype != qtype || qtype == dns.TypeAXFR && len(m.Answer) < 5 {
			t.Errorf("answer %d: %s", i, m)
		}
	}
	_ = client.Close() // nothing is lost
	s.net.wg.Wait()
}
