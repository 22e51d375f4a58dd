package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/miekg/dns"
)

// Names of the zone, by kind.
const (
	singles   = 600 // one A, one AAAA
	multiples = 300 // three A, one AAAA
	lonely    = 100 // one A
	steered   = 100 // one A, under failover where the server knows how
	questions = 16384
)

const zoneName = "bench.test"

// question is one in wire form, and what its answer must be like.
type question struct {
	wire   []byte
	rcode  byte
	filled bool // has records in the answer section
}

// zoneText writes the zone; without the steered names for a server that has them
// from elsewhere.
func zoneText(withSteered bool) string {
	var b strings.Builder
	b.WriteString("$ORIGIN bench.test.\n$TTL 300\n@ IN SOA ns1 host 1 7200 900 1209600 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\n")
	for i := range singles {
		fmt.Fprintf(&b, "s%d IN A 10.1.%d.%d\ns%d IN AAAA fd00:1::%x\n", i, i>>8, i&0xff, i, i+1)
	}
	for i := range multiples {
		for j := range 3 {
			fmt.Fprintf(&b, "m%d IN A 10.2.%d.%d\n", i, j<<4|i>>8, i&0xff)
		}
		fmt.Fprintf(&b, "m%d IN AAAA fd00:2::%x\n", i, i+1)
	}
	for i := range lonely {
		fmt.Fprintf(&b, "o%d IN A 10.3.0.%d\n", i, i)
	}
	b.WriteString("*.wild IN A 10.4.0.1\n*.wild IN AAAA fd00:4::1\n")
	if withSteered {
		for i := range steered {
			fmt.Fprintf(&b, "f%d 30 IN A 127.0.0.1\n", i)
		}
	}
	return b.String()
}

// makeQuestions draws the questions, the same ones at every run: 60 % records of
// the zone, 15 % steered names, 5 % below a wildcard, 10 % names without the type
// and 10 % that do not exist; half with EDNS, one of five in mixed letter case.
func makeQuestions() ([]question, error) {
	r := rand.New(rand.NewPCG(4, 7))
	out := make([]question, questions)
	for i := range out {
		name, q := draw(r)
		m := new(dns.Msg)
		m.SetQuestion(mixed(r, name+"."+zoneName+"."), q.qtype)
		m.RecursionDesired = false
		if r.IntN(2) == 0 {
			m.SetEdns0(1232, false)
		}
		wire, err := m.Pack()
		if err != nil {
			return nil, fmt.Errorf("pack a question for %s: %w", name, err)
		}
		out[i] = question{wire, q.rcode, q.filled}
	}
	return out, nil
}

// drawn is what is asked of a name, and what comes of it.
type drawn struct {
	qtype  uint16
	rcode  byte
	filled bool
}

func draw(r *rand.Rand) (string, drawn) {
	address := []uint16{dns.TypeA, dns.TypeA, dns.TypeAAAA}[r.IntN(3)]
	switch p := r.IntN(100); {
	case p < 40:
		return fmt.Sprint("s", r.IntN(singles)), drawn{address, dns.RcodeSuccess, true}
	case p < 60:
		return fmt.Sprint("m", r.IntN(multiples)), drawn{dns.TypeA, dns.RcodeSuccess, true}
	case p < 75:
		return fmt.Sprint("f", r.IntN(steered)), drawn{dns.TypeA, dns.RcodeSuccess, true}
	case p < 80:
		return fmt.Sprintf("x%d.wild", r.IntN(5000)), drawn{address, dns.RcodeSuccess, true}
	case p < 90:
		return fmt.Sprint("o", r.IntN(lonely)), drawn{dns.TypeAAAA, dns.RcodeSuccess, false}
	default:
		return fmt.Sprint("nothing", r.IntN(5000)), drawn{address, dns.RcodeNameError, false}
	}
}

// madeUpQuestion asks with DO for a name that begins with eight letters, and says
// where they are.
func madeUpQuestion() (wire []byte, at int, err error) {
	m := new(dns.Msg)
	m.SetQuestion("aaaaaaaa."+zoneName+".", dns.TypeA)
	m.SetEdns0(1232, true)
	wire, err = m.Pack()
	return wire, 13, err // behind the header and the label's length
}

// mixed gives one name of five in mixed letter case.
func mixed(r *rand.Rand, name string) string {
	if r.IntN(5) > 0 {
		return name
	}
	b := []byte(name)
	for i, c := range b {
		if c >= 'a' && c <= 'z' && r.IntN(2) == 0 {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
