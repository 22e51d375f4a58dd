package dnsserver

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
)

// Sizes of DNS cookies (RFC 7873 section 4, RFC 9018 section 4), in octets.
const (
	clientCookie = 8
	serverCookie = 16 // version 1
	minCookie    = clientCookie + 8
	maxCookie    = 40
	// CookieSecretLen is that of [Options.CookieSecret].
	CookieSecretLen = 16
)

// Ages of a server cookie in seconds (RFC 9018 section 4.3).
const (
	cookieOld    = 3600 // is not believed any more
	cookieAhead  = 300  // how far in the future one may be
	cookieRenews = 1800 // is answered with a new one
)

// cookieState is what a query's cookie says about its sender.
type cookieState uint8

const (
	cookieUnread cookieState = iota
	cookieNone
	cookieClient // of the client alone, or with a server cookie that is not ours
	cookieValid  // the sender has received an answer at this address
)

// cookieSecrets are those that cookies are made and checked with.
type cookieSecrets struct {
	current, previous [CookieSecretLen]byte
}

func newCookieSecrets(secret Secret) (*cookieSecrets, error) {
	s := new(cookieSecrets)
	switch len(secret) {
	case 0:
		// Never fails; cookies of before the start are renewed then.
		_, _ = rand.Read(s.current[:])
	case CookieSecretLen:
		copy(s.current[:], secret)
	default:
		return nil, fmt.Errorf("cookie secret: %d octets, expected %d", len(secret), CookieSecretLen)
	}
	s.previous = s.current
	return s, nil
}

// RotateCookieSecret makes cookies with another secret from now on. Those that
// were made with the one before are believed until the next rotation; an hour
// should lie between two.
func (s *Server) RotateCookieSecret(next Secret) error {
	if len(next) != CookieSecretLen {
		return fmt.Errorf("rotate the cookie secret: %d octets, expected %d", len(next), CookieSecretLen)
	}
	for {
		old := s.cookies.Load()
		c := &cookieSecrets{previous: old.current}
		copy(c.current[:], next)
		if s.cookies.CompareAndSwap(old, c) {
			return nil
		}
	}
}

// cookieOf judges the cookie of the query that has been read.
func (w *worker) cookieOf() cookieState {
	if w.cookie != cookieUnread {
		return w.cookie
	}
	b := w.q.cookie
	switch {
	case !w.q.asks || b == nil:
		w.cookie = cookieNone
	case len(b) == clientCookie+serverCookie && w.genuine(b):
		w.cookie = cookieValid
		w.count.cookies.Add(1)
	default:
		w.cookie = cookieClient
	}
	return w.cookie
}

// genuine says whether a server cookie was made here and not too long ago. Times
// are compared by serial arithmetic: they go round in 2106.
func (w *worker) genuine(b []byte) bool {
	age := int32(uint32(w.server.now().Unix()) - binary.BigEndian.Uint32(b[12:]))
	if b[8] != 1 || age > cookieOld || age < -cookieAhead {
		return false
	}
	s := w.server.cookies.Load()
	return matches(b, w.from, &s.current) || matches(b, w.from, &s.previous)
}

func matches(b []byte, from netip.Addr, secret *[CookieSecretLen]byte) bool {
	var want [8]byte
	cookieHash(&want, b[:16], from, secret)
	return subtle.ConstantTimeCompare(want[:], b[16:24]) == 1
}

// putCookie writes the option that answers the query's: the client's cookie and
// one of ours, the old one while it is fresh.
func (w *worker) putCookie(b []byte) int {
	const size = clientCookie + serverCookie
	b[0], b[1], b[2], b[3] = 0, 10, 0, size
	out, in := b[4:4+size], w.q.cookie
	now, s := uint32(w.server.now().Unix()), w.server.cookies.Load()
	if w.cookieOf() == cookieValid && int32(now-binary.BigEndian.Uint32(in[12:])) <= cookieRenews && matches(in, w.from, &s.current) {
		return 4 + copy(out, in)
	}
	copy(out, in[:clientCookie])
	out[8], out[9], out[10], out[11] = 1, 0, 0, 0
	binary.BigEndian.PutUint32(out[12:], now)
	cookieHash((*[8]byte)(out[16:]), out[:16], w.from, &s.current)
	return 4 + size
}

// cookieHash is the hash of RFC 9018 section 4.4, over the client's cookie, our
// head of 8 octets, and the client's address.
func cookieHash(out *[8]byte, head []byte, from netip.Addr, secret *[CookieSecretLen]byte) {
	var in [32]byte
	n := copy(in[:], head[:16])
	if from.Is4() {
		a := from.As4()
		n += copy(in[n:], a[:])
	} else {
		a := from.As16()
		n += copy(in[n:], a[:])
	}
	binary.LittleEndian.PutUint64(out[:], sipHash(in[:n], secret))
}

// sipHash is SipHash-2-4 with a result of 64 bits.
func sipHash(in []byte, key *[16]byte) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])
	s := sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	last := uint64(len(in)) << 56
	for ; len(in) >= 8; in = in[8:] {
		s.block(binary.LittleEndian.Uint64(in))
	}
	for i, c := range in {
		last |= uint64(c) << (8 * i)
	}
	s.block(last)
	s.c ^= 0xff
	for range 4 {
		s.round()
	}
	return s.a ^ s.b ^ s.c ^ s.d
}

// sip is the state of SipHash.
type sip struct{ a, b, c, d uint64 }

func (s *sip) block(m uint64) {
	s.d ^= m
	s.round()
	s.round()
	s.a ^= m
}

func (s *sip) round() {
	s.a += s.b
	s.b = bits.RotateLeft64(s.b, 13) ^ s.a
	s.a = bits.RotateLeft64(s.a, 32)
	s.c += s.d
	s.d = bits.RotateLeft64(s.d, 16) ^ s.c
	s.a += s.d
	s.d = bits.RotateLeft64(s.d, 21) ^ s.a
	s.c += s.b
	s.b = bits.RotateLeft64(s.b, 17) ^ s.c
	s.c = bits.RotateLeft64(s.c, 32)
}
