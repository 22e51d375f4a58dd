package dnsserver

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"
)

// notifyMessage is a NOTIFY on its way, and what was answered to it.
type notifyMessage struct {
	octets   []byte
	question int // where the question ends
	signer   *signer
	now      uint64
	// refusal is the secondary's; doubtful one that anybody may have sent.
	refusal, doubtful error
}

// newNotify makes the message that a zone has changed, with its new SOA record
// (RFC 1996 section 3.7).
func newNotify(n *news, now uint64) *notifyMessage {
	b := make([]byte, headerLen, 2048)
	_, _ = rand.Read(b[:2]) // never fails
	b[2] = dns.OpcodeNotify<<3 | flagAA
	b[5] = 1
	b = append(b, n.zone.wire...)
	b = append(b, 0, byte(dns.TypeSOA), 0, dns.ClassINET)
	m := &notifyMessage{question: len(b), now: now}
	packer := messages{zone: n.zone, buf: b[:cap(b)], n: len(b)}
	packer.put(n.zone.soaAt(n.serial))
	packer.buf[7] = 1
	if n.key != nil {
		m.signer = &signer{key: n.key}
		packer.n = m.signer.sign(packer.buf, packer.n, &signature{time: now, fudge: fudge})
		m.signer.later = false // the answer is a message of its own
	}
	m.octets = packer.buf[:packer.n:packer.n]
	return m
}

// check says whether a message is the secondary's answer. What may come from
// somebody else ends nothing.
func (m *notifyMessage) check(answer []byte) bool {
	if len(answer) < headerLen || !bytes.Equal(answer[:2], m.octets[:2]) ||
		answer[2]&(flagQR|0x78) != flagQR|dns.OpcodeNotify<<3 {
		return false
	}
	var q query
	if binary.BigEndian.Uint16(answer[4:]) == 1 {
		if !q.readQuestion(answer) || !bytes.EqualFold(answer[headerLen:q.end], m.octets[headerLen:m.question]) {
			return false
		}
	}
	var refusal error
	if rcode := int(answer[3] & 0xf); rcode != dns.RcodeSuccess {
		refusal = fmt.Errorf("it answered %s", dns.RcodeToString[rcode])
	}
	if m.signer != nil && !m.proven(answer, &q) {
		m.doubtful = refusal
		return false
	}
	m.refusal = refusal
	return true
}

// proven says whether an answer is signed with our key.
func (m *notifyMessage) proven(answer []byte, q *query) bool {
	if q.end == 0 {
		return false
	}
	if _, malformed := q.readSections(answer); malformed || q.tsig == 0 {
		return false
	}
	sig, err := readSignature(answer, q.tsig)
	if err != nil || sig.name != m.signer.key.name || sig.algorithm != m.signer.key.algorithm {
		return false
	}
	code, malformed := m.signer.check(unsign(answer, sig), sig, m.now)
	return code == 0 && !malformed
}
