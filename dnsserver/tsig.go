package dnsserver

import (
	"crypto/hmac"
	"encoding/binary"
	"errors"

	"github.com/miekg/dns"
)

// Sizes of a TSIG record's data (RFC 8945 section 4.2), in octets.
const (
	timeLen   = 6
	tsigFixed = timeLen + 10 // all but the names, the MAC and the other data
	minMAC    = 10           // RFC 8945 section 5.2.2.1
)

// fudge is how many seconds the clocks may differ (RFC 8945 section 10).
const fudge = 300

// signature is a TSIG record.
type signature struct {
	at        int    // offset of the record in the message
	name      string // lower-cased wire form
	algorithm string // likewise
	time      uint64 // seconds since 1970
	fudge     uint16
	mac       []byte
	id        uint16 // the message's when it was signed
	rcode     uint16
	other     []byte
}

var errMalformedTSIG = errors.New("malformed TSIG record")

// readSignature reads the TSIG record that begins at an offset and ends the
// message.
func readSignature(msg []byte, at int) (*signature, error) {
	s := &signature{at: at}
	var err error
	off := at
	if s.name, off, err = readName(msg, off); err != nil {
		return nil, err
	}
	if off+10 > len(msg) || binary.BigEndian.Uint16(msg[off:]) != dns.TypeTSIG ||
		binary.BigEndian.Uint16(msg[off+2:]) != dns.ClassANY || binary.BigEndian.Uint32(msg[off+4:]) != 0 ||
		off+10+int(binary.BigEndian.Uint16(msg[off+8:])) != len(msg) {
		return nil, errMalformedTSIG
	}
	if s.algorithm, off, err = readName(msg, off+10); err != nil {
		return nil, err
	}
	b := msg[off:]
	if len(b) < tsigFixed {
		return nil, errMalformedTSIG
	}
	s.time = uint64(binary.BigEndian.Uint16(b))<<32 | uint64(binary.BigEndian.Uint32(b[2:]))
	s.fudge = binary.BigEndian.Uint16(b[timeLen:])
	n := int(binary.BigEndian.Uint16(b[timeLen+2:]))
	if len(b) < tsigFixed+n {
		return nil, errMalformedTSIG
	}
	s.mac, b = b[timeLen+4:timeLen+4+n], b[timeLen+4+n:]
	s.id, s.rcode = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if s.other = b[6:]; int(binary.BigEndian.Uint16(b[4:])) != len(s.other) {
		return nil, errMalformedTSIG
	}
	return s, nil
}

// readName gives a name of a message in lower-cased wire form.
func readName(msg []byte, off int) (wire string, next int, err error) {
	text, next, err := dns.UnpackDomainName(msg, off)
	if err != nil {
		return "", 0, err
	}
	wire, err = wireName(text)
	return wire, next, err
}

// signer puts signatures under the messages of one answer or checks those of one
// exchange: each MAC covers the one before it.
type signer struct {
	key   *tsigKey
	prior []byte // MAC that goes before; nil for a request
	later bool   // a message of the answer has been signed: only the times are covered
}

// digest computes the MAC of a message that has no TSIG record, under the ID with
// which it was signed.
func (s *signer) digest(msg []byte, sig *signature) []byte {
	h := s.key.mac()
	put := func(b []byte) { _, _ = h.Write(b) } // never fails
	if s.prior != nil {
		put(binary.BigEndian.AppendUint16(nil, uint16(len(s.prior))))
		put(s.prior)
	}
	put(binary.BigEndian.AppendUint16(nil, sig.id))
	put(msg[2:])
	var b []byte
	if !s.later {
		b = append(b, s.key.name...)
		b = binary.BigEndian.AppendUint16(b, dns.ClassANY)
		b = binary.BigEndian.AppendUint32(b, 0)
		b = append(b, s.key.algorithm...)
	}
	b = appendTime(b, sig.time)
	b = binary.BigEndian.AppendUint16(b, sig.fudge)
	if !s.later {
		b = binary.BigEndian.AppendUint16(b, sig.rcode)
		b = binary.BigEndian.AppendUint16(b, uint16(len(sig.other)))
		b = append(b, sig.other...)
	}
	put(b)
	return h.Sum(nil)
}

// sign puts a signature behind the n octets of the message in b, which has room,
// and gives the new length.
func (s *signer) sign(b []byte, n int, sig *signature) int {
	sig.id = binary.BigEndian.Uint16(b)
	mac := s.digest(b[:n], sig)
	n = appendSignature(b, n, s.key, sig, mac)
	s.prior, s.later = mac, true
	return n
}

// appendSignature writes a TSIG record behind a message.
func appendSignature(b []byte, n int, key *tsigKey, sig *signature, mac []byte) int {
	out := append(b[:n], key.name...)
	out = binary.BigEndian.AppendUint16(out, dns.TypeTSIG)
	out = binary.BigEndian.AppendUint16(out, dns.ClassANY)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint16(out, uint16(len(key.algorithm)+tsigFixed+len(mac)+len(sig.other)))
	out = append(out, key.algorithm...)
	out = appendTime(out, sig.time)
	out = binary.BigEndian.AppendUint16(out, sig.fudge)
	out = binary.BigEndian.AppendUint16(out, uint16(len(mac)))
	out = append(out, mac...)
	out = binary.BigEndian.AppendUint16(out, sig.id)
	out = binary.BigEndian.AppendUint16(out, sig.rcode)
	out = binary.BigEndian.AppendUint16(out, uint16(len(sig.other)))
	out = append(out, sig.other...)
	binary.BigEndian.PutUint16(out[10:], binary.BigEndian.Uint16(out[10:])+1)
	return len(out)
}

// appendTime writes a time of 48 bits.
func appendTime(b []byte, t uint64) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(t>>32))
	return binary.BigEndian.AppendUint32(b, uint32(t))
}

// unsign gives a message without its TSIG record, in memory of its own.
func unsign(msg []byte, sig *signature) []byte {
	bare := append([]byte(nil), msg[:sig.at]...)
	binary.BigEndian.PutUint16(bare[10:], binary.BigEndian.Uint16(bare[10:])-1)
	return bare
}

// Rcodes in TSIG records.
const (
	tsigBadSig   = 16
	tsigBadKey   = 17
	tsigBadTime  = 18
	tsigBadTrunc = 22
)

// check holds a signature against a message without it, in the order of RFC 8945
// section 5.2: 0 where it is right. malformed says that the message earns
// FORMERR.
func (s *signer) check(bare []byte, sig *signature, now uint64) (rcode uint16, malformed bool) {
	switch n := len(sig.mac); {
	case n > s.key.size || n < max(minMAC, s.key.size/2):
		return 0, true
	case !hmac.Equal(s.digest(bare, sig)[:n], sig.mac):
		return tsigBadSig, false
	case max(now, sig.time)-min(now, sig.time) > uint64(sig.fudge):
		return tsigBadTime, false
	case n < s.key.size: // truncation would only make forging easier
		return tsigBadTrunc, false
	}
	return 0, false
}
