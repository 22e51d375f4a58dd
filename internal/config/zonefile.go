package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/miekg/dns"
)

// Limits of the zone files of one zone.
const (
	maxZoneFile    = 64 << 20
	maxZoneRecords = 2_000_000
)

// zoneFile reads a zone's file, and says whether all of it could be. $INCLUDE reaches
// files in its folder and below.
func (b *builder) zoneFile(k *zoneKeys, t *zoneTable) bool {
	path := relative(k.File)
	in := &inclusion{loader: b.loader, folder: filepath.Dir(path)}
	top, err := in.open(filepath.Base(path))
	if err != nil {
		b.fault(k.File.At, "the zone file %s: %s", path, plain(err))
		return false
	}
	zp := dns.NewZoneParser(top, dns.Fqdn(t.name), filepath.Base(path))
	zp.SetIncludeAllowed(true)
	zp.SetIncludeFS(in)
	zp.SetDefaultTTL(apexTTL)
	for rr, ok := zp.Next(); ok; rr, ok = zp.Next() {
		b.zoneRecord(rr, in.pos(), t)
		if len(t.records) > maxZoneRecords || len(b.report.faults) > maxFaults {
			b.fault(k.File.At, "the zone file has more than %d records, or too many faults to go on", maxZoneRecords)
			return false
		}
	}
	if err := zp.Err(); err != nil {
		b.fault(in.place(err), "%s", zoneError(err))
		return false
	}
	return true
}

var zoneErrorPlace = regexp.MustCompile(`^(.+): dns: .* at line: (\d+):(\d+)$`)

// place is where the parser met an error, which may be in an included file.
func (in *inclusion) place(err error) Pos {
	m := zoneErrorPlace.FindStringSubmatch(err.Error())
	if m == nil {
		return in.pos()
	}
	line, errLine := strconv.Atoi(m[2])
	col, errCol := strconv.Atoi(m[3])
	if errLine != nil || errCol != nil {
		return in.pos()
	}
	return Pos{File: filepath.Join(in.folder, m[1]), Line: line, Col: col}
}

// zoneError says what is wrong without the place, which stands before it.
func zoneError(err error) string {
	if outside, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("$INCLUDE %s: %s (files in the zone file's folder and below can be included)", outside.Path, outside.Err)
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "dns: "); ok {
		text = after
	}
	if i := strings.LastIndex(text, " at line: "); i >= 0 {
		text = text[:i]
	}
	return "cannot be read as a record: " + text
}

// zoneRecord takes one record in, in lower case.
func (b *builder) zoneRecord(rr dns.RR, at Pos, t *zoneTable) {
	h := rr.Header()
	h.Name = strings.ToLower(h.Name)
	if strings.ContainsFunc(h.Name, func(c rune) bool { return c > unicode.MaxASCII }) {
		b.warn(at, "the name %q has other letters than those of ASCII: nobody who types it asks for that, expected its IDNA form, xn--…", trimDot(h.Name))
	}
	switch {
	case h.Class != dns.ClassINET:
		b.fault(at, "found the class %s, expected IN", dns.ClassToString[h.Class])
	case !inside(trimDot(h.Name), t.name):
		b.fault(at, "the record of %q lies outside the zone %s", trimDot(h.Name), t.name)
	case h.Ttl > math.MaxInt32:
		b.fault(at, "found the TTL %d, expected at most %d seconds (RFC 2181 section 8)", h.Ttl, math.MaxInt32)
	case isQuestionType(h.Rrtype):
		b.fault(at, "found the type %s, which is none of zone data", dns.TypeToString[h.Rrtype])
	case !t.add(record{rr, at}):
		b.fault(at, "the name %q has more than %d records, expected as many as an answer can hold", trimDot(h.Name), maxAtName)
	}
}

// isQuestionType says whether a type cannot be that of a record in a zone
// (RFC 6895, section 3.1).
func isQuestionType(typ uint16) bool { return typ == dns.TypeOPT || typ >= 128 && typ <= 255 }

// inlineRecord takes in a record of the key "records".
func (b *builder) inlineRecord(v Value[string], t *zoneTable) {
	zp := dns.NewZoneParser(strings.NewReader(v.V+"\n"), dns.Fqdn(t.name), "")
	zp.SetDefaultTTL(apexTTL)
	rr, ok := zp.Next()
	if strings.HasPrefix(strings.TrimSpace(v.V), "$") {
		b.fault(v.At, "found %q, expected a record: directives belong into the zone's file", clip(v.V))
		return
	}
	if err := zp.Err(); err != nil {
		b.fault(v.At, "%s, expected a record such as \"ns1 300 IN A 10.0.0.53\"", zoneError(err))
		return
	}
	if _, second := zp.Next(); !ok || second || zp.Err() != nil {
		b.fault(v.At, "found %q, expected one record in each entry", clip(v.V))
		return
	}
	b.zoneRecord(rr, v.At, t)
}

// inclusion opens a zone file and what it includes, keeps all of it in the
// bundle, and knows the line that is being read.
type inclusion struct {
	*loader
	folder string
	stack  []*zoneReader
	last   Pos
}

// Open implements [fs.FS] for $INCLUDE.
func (in *inclusion) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("outside the zone file's folder")}
	}
	return in.open(name)
}

func (in *inclusion) open(name string) (*zoneReader, error) {
	path := filepath.Join(in.folder, name)
	data, err := in.disk.read(in.folder, name, maxZoneFile)
	if err != nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	in.bundle.Files[path] = data
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // which some editors write in front
	r := &zoneReader{in: in, path: path, rest: bytes.NewReader(data)}
	in.stack = append(in.stack, r)
	return r, nil
}

// pos is the line that was read last.
func (in *inclusion) pos() Pos {
	if len(in.stack) == 0 {
		return in.last
	}
	r := in.stack[len(in.stack)-1]
	return Pos{File: r.path, Line: r.line()}
}

// zoneReader is a zone file that counts its lines while the parser, which
// reads octet by octet, goes through it.
type zoneReader struct {
	in       *inclusion
	path     string
	rest     *bytes.Reader
	newlines int
	ended    bool // the last octet was a line's end
}

func (r *zoneReader) line() int {
	if r.ended {
		return r.newlines
	}
	return r.newlines + 1
}

// ReadByte implements [io.ByteReader].
func (r *zoneReader) ReadByte() (byte, error) {
	c, err := r.rest.ReadByte()
	if err != nil {
		return c, err
	}
	if r.ended = c == '\n'; r.ended {
		r.newlines++
	}
	return c, nil
}

func (r *zoneReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

// Close implements [fs.File]: the parser is back in the file before.
func (r *zoneReader) Close() error {
	r.in.last = Pos{File: r.path, Line: r.line()}
	if n := len(r.in.stack); n > 0 && r.in.stack[n-1] == r {
		r.in.stack = r.in.stack[:n-1]
	}
	return nil
}

// Stat implements [fs.File]; the parser has no use for it.
func (*zoneReader) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

var _ interface {
	io.ByteReader
	fs.File
} = (*zoneReader)(nil)
