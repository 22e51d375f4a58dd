package dnsserver

import (
	"github.com/miekg/dns"
)

// signed answers a message that ends with a TSIG record (RFC 8945 section 5.2),
// which examine has found.
func (w *worker) signed(dst, msg []byte, tcp bool) int {
	sig, err := readSignature(msg, w.q.tsig)
	if err != nil {
		return w.errorReply(dst, msg, dns.RcodeFormatError, false)
	}
	now := uint64(w.server.now().Unix())
	key := w.snap.keys[sig.name]
	if key == nil || key.algorithm != sig.algorithm {
		// The answer names the key that is not known, as it came.
		unknown := &tsigKey{name: sig.name, algorithm: sig.algorithm}
		return w.unproven(dst, msg, unknown, &signature{time: sig.time, fudge: sig.fudge, id: sig.id, rcode: tsigBadKey})
	}
	s := &signer{key: key}
	bare := unsign(msg, sig)
	rcode, malformed := s.check(bare, sig, now)
	s.prior = sig.mac
	switch {
	case malformed:
		return w.errorReply(dst, msg, dns.RcodeFormatError, false)
	case rcode == tsigBadTime:
		// The sender's own time lets it believe the answer, which tells ours.
		n := w.refuseSigned(dst, msg, key)
		return s.sign(dst, n, &signature{time: sig.time, fudge: fudge, rcode: rcode, other: appendTime(nil, now)})
	case rcode == tsigBadTrunc: // whoever sent it has the key (RFC 8945 section 5.3.2)
		return s.sign(dst, w.refuseSigned(dst, msg, key), &signature{time: now, fudge: fudge, rcode: rcode})
	case rcode != 0:
		return w.unproven(dst, msg, key, &signature{time: now, fudge: fudge, id: sig.id, rcode: rcode})
	}
	w.signer = s
	limit := min(len(dst), w.q.limit(tcp))
	if most := w.q.end + w.optSize() + key.room(); limit < most {
		limit = min(len(dst), most) // the longest names leave no room for an error
	}
	n := w.bare(dst[:limit-key.room()], bare, tcp)
	if n == 0 {
		return 0
	}
	return s.sign(dst, n, &signature{time: now, fudge: fudge})
}

// refuseSigned builds the answer to a message whose signature is not accepted;
// without the question where there is no room for both.
func (w *worker) refuseSigned(dst, msg []byte, key *tsigKey) int {
	if w.q.end+w.optSize()+key.room() > min(len(dst), w.q.limit(false)) {
		w.q.end = 0
	}
	return w.errorReply(dst, msg, dns.RcodeNotAuth, false)
}

// unproven answers a message that nobody is known to have signed: the signature
// under it has no MAC (RFC 8945 section 5.3.2).
func (w *worker) unproven(dst, msg []byte, key *tsigKey, sig *signature) int {
	return appendSignature(dst, w.refuseSigned(dst, msg, key), key, sig, nil)
}

// keyed says whether a message whose sections have been read is signed with a key of
// ours, now.
func (w *worker) keyed(msg []byte) bool {
	if w.q.end == 0 || w.q.tsig == 0 {
		return false
	}
	sig, err := readSignature(msg, w.q.tsig)
	if err != nil {
		return false
	}
	key := w.snap.keys[sig.name]
	if key == nil || key.algorithm != sig.algorithm {
		return false
	}
	s := &signer{key: key}
	rcode, malformed := s.check(unsign(msg, sig), sig, uint64(w.server.now().Unix()))
	return rcode == 0 && !malformed
}
