package routersim

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
)

// The limits of what a router reads.
const (
	maxWord        = 1 << 20 // octets in a word
	maxEarlyWord   = 1 << 10 // the same before the login
	maxWords       = 1 << 12 // words in a sentence
	maxEarlyWords  = 16      // the same before the login
	maxEarlyNumber = 20      // sentences before the login
)

var (
	errControl = errors.New("a control byte")
	errTooLong = errors.New("more than is allowed")
)

// readLength reads the length of a word, in any of its five forms.
func readLength(r io.ByteReader) (uint32, error) {
	first, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	more := 0
	n := uint32(first)
	switch {
	case first < 0x80:
	case first < 0xc0:
		more, n = 1, n&0x3f
	case first < 0xe0:
		more, n = 2, n&0x1f
	case first < 0xf0:
		more, n = 3, n&0x0f
	case first < 0xf8:
		more, n = 4, 0
	default:
		return 0, errControl
	}
	for range more {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		n = n<<8 | uint32(b)
	}
	return n, nil
}

// appendWord writes a word with its length in the shortest form.
func appendWord(b []byte, word string) []byte {
	n := uint32(len(word))
	switch {
	case n < 0x80:
		b = append(b, byte(n))
	case n < 0x4000:
		b = binary.BigEndian.AppendUint16(b, uint16(n)|0x8000)
	case n < 0x200000:
		b = append(b, byte(n>>16)|0xc0, byte(n>>8), byte(n))
	case n < 0x10000000:
		b = binary.BigEndian.AppendUint32(b, n|0xe0000000)
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xf0), n)
	}
	return append(b, word...)
}

// readSentence reads the words of a sentence; an empty one is nil.
func readSentence(r *bufio.Reader, early bool) ([]string, error) {
	longest, most := uint32(maxWord), maxWords
	if early {
		longest, most = maxEarlyWord, maxEarlyWords
	}
	var words []string
	for {
		n, err := readLength(r)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return words, nil
		}
		if n > longest || len(words) == most {
			return nil, errTooLong
		}
		word := make([]byte, n)
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		words = append(words, string(word))
	}
}

// appendSentence writes words and the empty word that ends them.
func appendSentence(b []byte, words ...string) []byte {
	for _, w := range words {
		b = appendWord(b, w)
	}
	return append(b, 0)
}

// writeTorn sends in pieces of random size, each in a segment of its own.
func writeTorn(conn net.Conn, b []byte) error {
	for len(b) > 0 {
		n := min(1+rand.IntN(max(7, len(b)/16)), len(b))
		if _, err := conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
