package probes

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// zoneReply answers with records as they stand in a zone file.
func zoneReply(rcode int, records ...string) reply {
	return answered(rcode, func(m *dns.Msg) {
		for _, s := range records {
			rr, err := dns.NewRR(s)
			if err != nil {
				panic(err)
			}
			m.Answer = append(m.Answer, rr)
		}
	})
}

// A server with the wrong records would count as good, or one whose records
// only look different as bad.
func TestDNS(t *testing.T) {
	const www = "www.example.lan"
	v := func(list ...string) []string { return list }
	tests := []struct {
		name   string
		answer reply
		probe  DNS
		want   want
		text   string
	}{
		{"any address", zoneReply(0, www+". 60 A 10.1.0.1"), DNS{}, want{sites.Up, ""}, "answers with NOERROR, records of type A: 1"},
		{"no data", zoneReply(0), DNS{}, want{sites.Down, CauseDNSAnswer}, "answers without a record of type A"},
		{"another type", zoneReply(0, www+". 60 TXT a"), DNS{}, want{sites.Down, CauseDNSAnswer}, "answers without a record of type A"},
		{"behind a CNAME", zoneReply(0, www+". 60 CNAME x.example.lan.", "x.example.lan. 60 A 10.1.0.1"), DNS{Values: v("10.1.0.1")}, want{sites.Up, ""}, ""},
		{"the CNAME itself", zoneReply(0, www+". 60 CNAME X.example.lan."), DNS{Type: "cname", Values: v("x.EXAMPLE.lan")}, want{sites.Up, ""}, ""},
		{"in another order, and more", zoneReply(0, www+". 60 A 10.1.0.3", www+". 60 A 10.1.0.2", www+". 60 A 10.1.0.1"), DNS{Values: v("10.1.0.1", "10.1.0.2")}, want{sites.Up, ""}, "answers with NOERROR, records of type A: 3"},
		{"one missing", zoneReply(0, www+". 60 A 10.1.0.1"), DNS{Values: v("10.1.0.1", "10.1.0.2")}, want{sites.Down, CauseDNSAnswer}, "answers without 10.1.0.2"},
		{"AAAA in long form", zoneReply(0, www+". 60 AAAA fd00::1"), DNS{Type: "AAAA", Values: v("FD00:0:0:0:0:0:0:1")}, want{sites.Up, ""}, ""},
		{"MX", zoneReply(0, www+". 60 MX 10 Mail.example.lan."), DNS{Type: "MX", Values: v("10   mail.example.lan.")}, want{sites.Up, ""}, ""},
		{"MX with another preference", zoneReply(0, www+". 60 MX 20 mail.example.lan."), DNS{Type: "MX", Values: v("10 mail.example.lan")}, want{sites.Down, CauseDNSAnswer}, "answers without 10 mail.example.lan"},
		{"TXT as it is", zoneReply(0, www+`. 60 TXT "v=spf1 -all"`), DNS{Type: "TXT", Values: v("v=spf1 -all")}, want{sites.Up, ""}, ""},
		{"TXT in quotes", zoneReply(0, www+`. 60 TXT "v=spf1 -all"`), DNS{Type: "TXT", Values: v(`"v=spf1 -all"`)}, want{sites.Up, ""}, ""},
		{"TXT in pieces", zoneReply(0, www+`. 60 TXT "v=spf1 " "-all"`), DNS{Type: "TXT", Values: v(`"v=spf1" " -all"`)}, want{sites.Up, ""}, ""},
		{"TXT with quotes and letters of others", zoneReply(0, www+`. 60 TXT "say \"gr\252\223\" \\"`), DNS{Type: "TXT", Values: v("say \"gr\xfc\xdf\" \\")}, want{sites.Up, ""}, ""},
		{"TXT in other letters", zoneReply(0, www+`. 60 TXT "Token"`), DNS{Type: "TXT", Values: v("token")}, want{sites.Down, CauseDNSAnswer}, "answers without token"},
		{"NS", zoneReply(0, www+". 60 NS ns1.example.lan."), DNS{Type: "NS", Values: v("ns1.example.lan")}, want{sites.Up, ""}, ""},
		{"SOA", zoneReply(0, www+". 60 SOA ns. root. 7 1 2 3 4"), DNS{Type: "SOA", Values: v("NS. root. 7 1 2 3 4")}, want{sites.Up, ""}, ""},
		{"SRV", zoneReply(0, www+". 60 SRV 1 2 443 a.example.lan."), DNS{Type: "SRV", Values: v("1 2 443 A.example.lan.")}, want{sites.Up, ""}, ""},
		{"PTR", zoneReply(0, www+". 60 PTR a.example.lan."), DNS{Type: "PTR", Values: v("a.example.lan.")}, want{sites.Up, ""}, ""},
		{"CAA", zoneReply(0, www+`. 60 CAA 0 issue "ca.example"`), DNS{Type: "CAA", Values: v(`0 issue "ca.example"`)}, want{sites.Up, ""}, ""},
		{"HTTPS", zoneReply(0, www+`. 60 HTTPS 1 . alpn="h2,h3" port=8443`), DNS{Type: "HTTPS", Values: v(`1 . port="8443" alpn=h2,h3`)}, want{sites.Up, ""}, ""},
		{"a type without a name", zoneReply(0, www+`. 60 TYPE65280 \# 2 abcd`), DNS{Type: "TYPE65280", Values: v(`\# 2 ABCD`)}, want{sites.Up, ""}, ""},
		{"no such name", zoneReply(dns.RcodeNameError), DNS{}, want{sites.Down, CauseDNSRcode}, "answers with NXDOMAIN instead of NOERROR"},
		{"no such name, as expected", zoneReply(dns.RcodeNameError), DNS{Rcode: "nxdomain"}, want{sites.Up, ""}, "answers with NXDOMAIN"},
		{"a name, unexpected", zoneReply(0, www+". 60 A 10.1.0.1"), DNS{Rcode: "NXDOMAIN"}, want{sites.Down, CauseDNSRcode}, "answers with NOERROR instead of NXDOMAIN"},
		{"refused", zoneReply(dns.RcodeRefused), DNS{}, want{sites.Down, CauseDNSRcode}, "answers with REFUSED instead of NOERROR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.probe.Name = www
			tt.probe.Port = dnsServer(t, []reply{tt.answer}, nil)
			c := ask(t, tt.probe, "127.0.0.1", soon)
			if verdict(c) != tt.want || !strings.HasPrefix(c.Text, tt.text) {
				t.Errorf("got %+v (%s), want %+v (%s)", verdict(c), c.Text, tt.want, tt.text)
			}
		})
	}
}

// Answers that are not to our question, or are cut, would decide.
func TestDNSForeignAnswers(t *testing.T) {
	right := answered(0, nil, "10.1.0.1")
	wrongID := answered(0, func(m *dns.Msg) { m.Id++ }, "10.9.9.9")
	wrongQuestion := answered(0, func(m *dns.Msg) { m.Question[0].Name = "example.com." }, "10.9.9.9")
	cut := answered(0, func(m *dns.Msg) { m.Truncated = true; m.Answer = nil })
	tests := []struct {
		name     string
		udp, tcp []reply
		timeout  time.Duration
		want     want
	}{
		{"wrong ones first", []reply{wrongID, garbage, wrongQuestion, right}, nil, soon, want{sites.Up, ""}},
		{"wrong ones alone", []reply{wrongID, garbage, wrongQuestion}, []reply{wrongID, silence}, never, want{sites.Down, CauseTimeout}},
		{"cut", []reply{cut}, []reply{right}, soon, want{sites.Up, ""}},
		{"cut, and no TCP", []reply{cut}, nil, soon, want{sites.Down, CauseRefused}},
		{"silent", []reply{silence}, []reply{silence}, never, want{sites.Down, CauseTimeout}},
		{"lost over UDP", []reply{silence}, []reply{right}, 2 * time.Second, want{sites.Up, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := DNS{Name: "www.example.lan", Values: []string{"10.1.0.1"}, Port: dnsServer(t, tt.udp, tt.tcp)}
			if c := ask(t, p, "127.0.0.1", tt.timeout); verdict(c) != tt.want {
				t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
			}
		})
	}
}

// The node would be asked where another server was meant.
func TestDNSServer(t *testing.T) {
	p := DNS{Name: "www.example.lan", Server: netip.MustParseAddr("127.0.0.1"), Port: dnsServer(t, []reply{answered(0, nil, "10.1.0.1")}, nil)}
	if c := ask(t, p, "192.0.2.1", soon); c.Outcome != sites.Up {
		t.Errorf("%+v", c)
	}
}

// A setting with a slip would be found out by an outage, not when it is read.
func TestDNSValidate(t *testing.T) {
	tests := []struct {
		name  string
		probe DNS
		want  string // "" for none
	}{
		{"good", DNS{Name: "a.example.lan", Type: "MX", Values: []string{"10 mail.example.lan"}}, ""},
		{"the root", DNS{Name: ".", Type: "NS"}, ""},
		{"unknown type", DNS{Name: "a", Type: "QQ"}, `ask for the type "QQ": no such type`},
		{"type of questions", DNS{Name: "a", Type: "ANY"}, `ask for the type "ANY": no record has it`},
		{"transfer", DNS{Name: "a", Type: "TYPE252"}, `ask for the type "TYPE252": no record has it`},
		{"unusable name", DNS{Name: "a..b"}, `ask for the name "a..b"`},
		{"unknown code", DNS{Name: "a", Rcode: "OK"}, `expect the response code "OK"`},
		{"code of EDNS", DNS{Name: "a", Rcode: "BADVERS"}, `expect the response code "BADVERS"`},
		{"values of an error", DNS{Name: "a", Rcode: "NXDOMAIN", Values: []string{"10.0.0.1"}}, "expect values with the response code NXDOMAIN"},
		{"value of another type", DNS{Name: "a", Values: []string{"mail.example.lan"}}, `expect the value "mail.example.lan": write it as the data of a record of type A`},
		{"two lines", DNS{Name: "a", Values: []string{"10.0.0.1\nb. 60 A 10.0.0.2"}}, `expect the value`},
		{"nothing", DNS{Name: "a", Values: []string{""}}, `expect the value ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.probe.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err == nil {
				return
			}
			if c := ask(t, tt.probe, "127.0.0.1", soon); verdict(c) != (want{sites.Unknown, CauseLocalConfig}) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// A message made to break the parser would break the controller.
func FuzzDNSAnswer(f *testing.F) {
	query := new(dns.Msg)
	query.SetQuestion("www.example.lan.", dns.TypeTXT)
	query.Id = 4711
	want, err := DNS{Type: "TXT", Values: []string{"a b", `"c" "d"`}}.expectation()
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range []reply{
		zoneReply(0, `www.example.lan. 60 TXT "a b"`, `www.example.lan. 60 TXT cd`), zoneReply(3), garbage,
		zoneReply(0, `www.example.lan. 60 TYPE65280 \# 2 abcd`, "www.example.lan. 60 HTTPS 1 . alpn=h2"),
	} {
		f.Add(r(query), true)
		f.Add(r(query), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, udp bool) {
		ctx, o := Observe(t.Context())
		x := exchange{query: query, judge: want.judge, whole: true}
		c, err := x.message(ctx, data, udp)
		if err == nil && (c.Outcome == sites.Up) != (c.Cause == "") {
			t.Fatalf("%+v", c)
		}
		if d := o.Detail().DNS; d != nil && strings.ContainsAny(strings.Join(d.Answer, ""), "\n\x1b\r") {
			t.Fatalf("unprintable: %q", d.Answer)
		}
	})
}
