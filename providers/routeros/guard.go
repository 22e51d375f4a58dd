package routeros

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
)

// The most that one reply may cost. Beside its octets, each word and each
// sentence is counted with what it takes in memory, so that a peer cannot make
// much out of little.
const (
	maxWord    = 64 << 10 // octets in a word
	maxReply   = 1 << 20  // of any request but a print
	maxPrint   = 64 << 20 // of a print
	maxHead    = 64       // octets in the first word of a sentence
	wordCost   = 32
	replyCost  = 256 // of a sentence
	guardBlock = 4 << 10
)

// What a peer does that is no router, or none of good will.
var (
	errHTTP    = errors.New("a web server answers there")
	errTLS     = errors.New("TLS is spoken there")
	errForeign = errors.New("what answers there is not the RouterOS API")
	errWord    = errors.New("a word of more than 64 KiB")
	errReply   = errors.New("a reply larger than any that is expected")
)

// guard stands between the connection and the library that speaks the protocol.
// It follows the framing of words, gives the library whole sentences of the
// kinds that it knows, each once it has come, and ends the connection where the
// peer announces or sends too much.
type guard struct {
	net.Conn
	in    *bufio.Reader
	left  int    // what the reply may still cost
	out   []byte // of a sentence, what the library has not read yet
	heard bool   // anything was received on this connection
	asked bool   // the request under way was answered with something
	err   error  // the first
}

func newGuard(conn net.Conn) *guard {
	return &guard{Conn: conn, in: bufio.NewReaderSize(conn, guardBlock)}
}

// expect begins another reply.
func (g *guard) expect(cost int) { g.left, g.asked = cost, false }

// Read gives the library what it may see.
func (g *guard) Read(p []byte) (int, error) {
	for len(g.out) == 0 && g.err == nil {
		g.out, g.err = g.sentence(g.out[:0])
	}
	if len(g.out) == 0 {
		return 0, g.err
	}
	n := copy(p, g.out)
	g.out = g.out[n:]
	return n, nil
}

// sentence reads one sentence and appends it; nothing for one that the library
// does not know.
func (g *guard) sentence(to []byte) ([]byte, error) {
	if err := g.pay(replyCost); err != nil {
		return nil, err
	}
	head := ""
	for first := true; ; first = false {
		n, err := g.length(first)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		word := make([]byte, n)
		if _, err := io.ReadFull(g.in, word); err != nil {
			return nil, err
		}
		text := string(word)
		switch {
		case first && !strings.HasPrefix(text, "!"):
			return nil, errForeign
		case first:
			head = text
		case strings.HasPrefix(text, "=") || strings.HasPrefix(text, ".tag="):
		case head == "!fatal" || head == "!trap":
			text = "=message=" + text // the reason stands bare
		default:
			continue // an attribute of a later version
		}
		to = appendWord(to, text)
	}
	switch head {
	case "!re", "!done", "!trap", "!fatal", "!empty":
		return append(to, 0), nil
	default:
		return to[:0], nil
	}
}

// length reads and judges the length of the next word.
func (g *guard) length(first bool) (int, error) {
	b, err := g.in.ReadByte()
	if err != nil {
		return 0, err
	}
	begins := first && !g.heard
	g.heard, g.asked = true, true
	more, n := 0, uint32(b)
	switch {
	case b < 0x80:
	case b < 0xc0:
		more, n = 1, n&0x3f
	case b < 0xe0:
		more, n = 2, n&0x1f
	case b < 0xf0:
		more, n = 3, n&0x0f
	case b < 0xf8:
		more, n = 4, 0
	default:
		return 0, errForeign // a control byte: there are none yet
	}
	if begins && n > 5 {
		if err := g.stranger(b); err != nil {
			return 0, err
		}
	}
	for range more {
		b, err := g.in.ReadByte()
		if err != nil {
			return 0, err
		}
		n = n<<8 | uint32(b)
	}
	switch {
	case n > maxWord:
		return 0, errWord
	case first && n > maxHead:
		return 0, errForeign
	}
	return int(n), g.pay(int(n) + wordCost)
}

// stranger tells what else may answer on a port, by the first octets.
func (g *guard) stranger(first byte) error {
	next, _ := g.in.Peek(4) // fewer say nothing
	switch begin := string(first) + string(next); {
	case strings.HasPrefix(begin, "HTTP"):
		return errHTTP
	case strings.HasPrefix(begin, "\x15\x03"):
		return errTLS
	default:
		return nil
	}
}

func (g *guard) pay(cost int) error {
	if g.left -= cost; g.left < 0 {
		return errReply
	}
	return nil
}

// appendWord writes a word of at most 64 KiB and a few octets.
func appendWord(b []byte, word string) []byte {
	switch n := uint32(len(word)); {
	case n < 0x80:
		b = append(b, byte(n))
	case n < 0x4000:
		b = binary.BigEndian.AppendUint16(b, uint16(n)|0x8000)
	default:
		b = append(b, byte(n>>16)|0xc0, byte(n>>8), byte(n))
	}
	return append(b, word...)
}
