package dnsserver

import (
	"hash/maphash"
	"strings"

	"github.com/miekg/dns"
)

// prepareManners makes what is kept about clients for as long as the server runs.
func (s *Server) prepareManners(secret Secret) error {
	c, err := newCookieSecrets(secret)
	if err != nil {
		return err
	}
	s.cookies.Store(c)
	s.limiter = &limiter{seed: maphash.MakeSeed(), started: s.now()}
	s.changes = map[string]*history{}
	s.notify.wake = make(chan struct{}, 1)
	s.signing.wake = make(chan struct{}, 1)
	s.queries = make(chan loggedQuery, queryLogQueue)
	return nil
}

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
