package dnsserver

import (
	"strings"

	"github.com/miekg/dns"
)

// chaos answers questions of class CHAOS about the server itself (RFC 4892) where
// it has something to say: REFUSED for all others.
func (w *worker) chaos(dst []byte, m *dns.Msg, tcp bool) int {
	text := ""
	switch strings.ToLower(m.Question[0].Name) {
	case "id.server.", "hostname.bind.":
		text = w.snap.serverID
	case "version.server.", "version.bind.":
		text = w.snap.version
	}
	if t := w.q.qtype; text == "" || t != dns.TypeTXT && t != dns.TypeANY {
		return w.errorReply(dst, w.q.msg, dns.RcodeRefused, false)
	}
	out := outcome{aa: true, answer: []dns.RR{&dns.TXT{
		Hdr: dns.RR_Header{Name: m.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassCHAOS}, Txt: []string{text},
	}}}
	return w.pack(dst, m, &out, tcp)
}
