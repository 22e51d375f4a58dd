package dnsserver

import (
	"encoding/binary"
	"io"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// wanted gives the IDs of the messages of a stream that are to be answered, in their
// order, and whether the server is to close after them: at a message that is too long,
// or that deserves no answer.
func wanted(s *Server, from netip.AddrPort, in []byte) (ids []uint16, closes bool) {
	for len(in) >= 2 {
		n := int(binary.BigEndian.Uint16(in))
		in = in[2:]
		if n == 0 || n > maxTCPQuery {
			return ids, true
		}
		if len(in) < n {
			return ids, false
		}
		raw := s.Query(in[:n], from, true)
		if raw == nil {
			return ids, true
		}
		ids, in = append(ids, binary.BigEndian.Uint16(raw)), in[n:]
	}
	return ids, false
}

// If this fails, what comes over TCP is cut into messages in another way than it was
// sent in, so that a client gets nothing, or what it has not asked for; or a length
// that lies ends the server.
func FuzzTCP(f *testing.F) {
	s := lanServer(f)
	from := netip.MustParseAddrPort("10.1.0.1:9")
	a, b := ask("mail.example.lan.", dns.TypeA), ask("app.example.lan.", dns.TypeAAAA, 1232)
	both := framed(a, b)
	for _, in := range [][]byte{
		both, both[:len(both)-1], both[:1],
		{0},
		{0, 0},
		{255, 255},
		{0, 1, 0},
		append(framed(a), 0, 0), append(framed(a), 255, 255), append(framed(a), framed(make([]byte, maxTCPQuery), b)...),
		append(framed(a), framed(make([]byte, maxTCPQuery+1), b)...), framed(a[:11], b), framed(a, a[:12], b),
		framed(ask("example.lan.", dns.TypeAXFR), b), framed(ask("example.lan.", dns.TypeANY), ask(".", dns.TypeNS)),
	} {
		f.Add(in, uint16(0))
		f.Add(in, uint16(1))
		f.Add(in, uint16(7))
	}
	f.Fuzz(func(t *testing.T, in []byte, segment uint16) {
		ids, closes := wanted(s, from, in)
		c := dial(s, from.Addr().String())
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for len(in) > 0 {
				n := len(in)
				if segment > 0 {
					n = min(n, int(segment))
				}
				if _, err := c.Write(in[:n]); err != nil {
					return // it was closed
				}
				in = in[n:]
			}
		}()
		for i, id := range ids {
			m, err := readFrame(c)
			if err != nil || m.Id != id || !m.Response {
				t.Errorf("answer %d of %d: %v, want the ID %d\n%v", i+1, len(ids), err, id, m)
				break
			}
		}
		if closes {
			if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
				t.Errorf("%d octets follow the last answer (%v)", len(rest), err)
			}
		}
		if !closes {
			<-sent // a part of a message is there
		}
		_ = c.Close() // it may be closed
		<-sent
		s.net.wg.Wait()
		if s.Stats().TCP.Panics > 0 {
			t.Fatal("a panic was contained")
		}
	})
}
