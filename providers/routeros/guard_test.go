package routeros

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/go-routeros/routeros/v3/proto"
	"github.com/google/go-cmp/cmp"
)

// stream is a connection from which bytes come.
type stream struct {
	net.Conn
	io.Reader
}

func (s stream) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func guarded(r io.Reader, cost int) *guard {
	g := newGuard(stream{Reader: r})
	g.expect(cost)
	return g
}

// words writes sentences, each ended by "".
func words(list ...string) string {
	var b []byte
	for _, w := range list {
		b = appendWord(b, w)
	}
	return string(b)
}

// A sentence of a later version would stop all pushes, or a web server or TLS on
// the port would be told as a riddle.
func TestGuardLetsThroughWhatIsKnown(t *testing.T) {
	long := strings.Repeat("x", 0x4000)
	for _, tt := range []struct {
		name, in, want string
		err            error
	}{
		{"a reply", words("!re", "=a=b", "", "!done", ""), words("!re", "=a=b", "", "!done", ""), io.EOF},
		{"a tag", words("!done", ".tag=7", ""), words("!done", ".tag=7", ""), io.EOF},
		{"empty sentences", words("", "", "!done", ""), words("!done", ""), io.EOF},
		{"an unknown sentence goes as a whole", words("!news", "=a=b", "bare", "", "!done", ""), words("!done", ""), io.EOF},
		{"an unknown attribute", words("!re", ".section=1", "=a=b", ""), words("!re", "=a=b", ""), io.EOF},
		{"a bare reason", words("!fatal", "not logged in", ""), words("!fatal", "=message=not logged in", ""), io.EOF},
		{"long words", words("!re", "="+long, ""), words("!re", "="+long, ""), io.EOF},
		{"a longer form of a length", "\x80\x05!done\x00", words("!done", ""), io.EOF},
		{"a control byte", words("!re", "=a=b") + "\xf8", "", errForeign},
		{"a word of 64 KiB and one", words("!re") + "\xc1\x00\x01", "", errWord},
		{"2 GiB announced", "\xf0\x80\x00\x00\x00", "", errWord},
		{"a web server", "HTTP/1.1 400 Bad Request\r\n\r\n", "", errHTTP},
		{"TLS", "\x15\x03\x01\x00\x02\x02\x16", "", errTLS},
		{"SSH", "SSH-2.0-ROSSSH\r\n", "", errForeign},
		{"no reply", words("done", ""), "", errForeign},
		{"cut in a word", words("!re", "=abc")[:6], "", io.ErrUnexpectedEOF},
		{"cut in a sentence", words("!re", "=abc"), "", io.EOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := io.ReadAll(guarded(strings.NewReader(tt.in), maxReply))
			if err == nil {
				err = io.EOF
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" || !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v; %s", err, tt.err, d)
			}
		})
	}
}

// loop gives the same bytes for ever.
type loop struct {
	text string
	at   int
}

func endless(text string) io.Reader { return &loop{text: text} }

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

// A peer that is no router, or was taken over, would use up the controller's
// memory, with large words, many, or many sentences.
func TestGuardCostsLittle(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"2 GiB announced":        io.MultiReader(strings.NewReader("\xf0\x80\x00\x00\x00"), endless("x")),
		"large words":            endless(words("!re", "="+strings.Repeat("x", 60000), "")),
		"one endless word":       io.MultiReader(strings.NewReader(words("!re")), endless(words("="+strings.Repeat("x", 60000)))),
		"many small ones":        endless(words("!re", "=", "")),
		"unknown sentences":      endless(words("!x", "=", "")),
		"empty sentences":        endless("\x00"),
		"a web server":           endless("HTTP/1.1 200 OK\r\n"),
		"words of one octet":     io.MultiReader(strings.NewReader(words("!re")), endless("\x01=")),
		"one done after another": endless(words("!done", "")),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			g := guarded(in, maxReply)
			buf := make([]byte, 4096)
			runtime.ReadMemStats(&before)
			total := 0
			var err error
			for err == nil {
				var n int
				n, err = g.Read(buf)
				total += n
			}
			runtime.ReadMemStats(&after)
			if name == "2 GiB announced" && after.TotalAlloc-before.TotalAlloc > 1<<20 {
				t.Errorf("%d octets were allocated", after.TotalAlloc-before.TotalAlloc)
			}
			if total > maxReply {
				t.Errorf("%d octets went through", total)
			}
			if !errors.Is(err, errReply) && !errors.Is(err, errWord) && !errors.Is(err, errHTTP) {
				t.Error(err)
			}
		})
	}
}

// A reply that no router sends would be read past its limit, or bring the library
// out of step, so that one request gets the answer of another.
func FuzzGuard(f *testing.F) {
	f.Add([]byte(words("!re", "=a=b", "", "!news", "x", "", "!done", ".tag=1", "")))
	f.Add([]byte("\xf0\x00\x00\x00\x05!done\x00"))
	f.Add([]byte(words("!fatal", "bye", "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		g := guarded(bytes.NewReader(in), 1<<16)
		out, _ := io.ReadAll(g)
		if len(out) > 1<<16+1<<12 {
			t.Fatalf("%d octets", len(out))
		}
		r := proto.NewReader(bytes.NewReader(out))
		defer r.Close()
		read := 0
		for {
			s, err := r.ReadSentence()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the library cannot read what it is given: %v", err)
			}
			if !strings.HasPrefix(s.Word, "!") {
				t.Fatalf("the library is out of step: %q", s.Word)
			}
			read++
		}
		if read == 0 && len(out) > 0 {
			t.Fatal("octets without a sentence")
		}
	})
}
