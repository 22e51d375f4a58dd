// Package keyfile keeps the keys that zones are signed with (DNSSEC) in pairs of
// files, in the form that BIND and its kin read and write: K<zone>+<algorithm>+<tag>
// with .key for the public half and .private for the other.
package keyfile

import (
	"bytes"
	"cmp"
	"crypto"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
)

// The ends of the names of a key's two files.
const (
	Public  = ".key"
	Private = ".private"
)

// Base takes the end off a path that names one of a key's files, or neither.
func Base(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, Public), Private)
}

// Parse reads a key from the contents of its files. Errors quote nothing of the
// private one.
func Parse(public, private []byte) (dnsserver.SigningKey, error) {
	record, err := parsePublic(public)
	if err != nil {
		return dnsserver.SigningKey{}, err
	}
	secret, err := parsePrivate(record, private)
	if err != nil {
		return dnsserver.SigningKey{}, err
	}
	return dnsserver.NewSigningKey(record, secret)
}

// parsePublic reads the DNSKEY record of a public file.
func parsePublic(data []byte) (*dns.DNSKEY, error) {
	p := dns.NewZoneParser(bytes.NewReader(data), ".", "")
	p.SetDefaultTTL(0)
	var record *dns.DNSKEY
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		k, isKey := rr.(*dns.DNSKEY)
		if !isKey || record != nil {
			return nil, errors.New("the public file holds something else than one DNSKEY record")
		}
		record = k
	}
	if p.Err() != nil || record == nil {
		return nil, errors.New("the public file holds no DNSKEY record that can be read")
	}
	return record, nil
}

var errPrivate = errors.New("the private file cannot be read as that of its public one")

// parsePrivate reads a private file. The library may fail by a panic on what is
// no key.
func parsePrivate(record *dns.DNSKEY, data []byte) (key crypto.PrivateKey, err error) {
	defer func() {
		if recover() != nil {
			err = errPrivate
		}
	}()
	key, err = record.ReadPrivateKey(bytes.NewReader(data), "private")
	if err != nil || key == nil {
		return nil, errPrivate // the library's error may quote the file
	}
	return key, nil
}

// Made is a key with the contents of its files.
type Made struct {
	dnsserver.SigningKey
	public, private []byte
}

// New makes a key for a zone.
func New(zone string, algorithm uint8) (Made, error) {
	k, _, err := dnsserver.GenerateSigningKey(zone, algorithm)
	if err != nil {
		return Made{}, err
	}
	return Of(k), nil
}

// Of gives a key that is in use with the contents of its files.
func Of(k dnsserver.SigningKey) Made {
	record := k.Record()
	text := fmt.Sprintf("; A key for keys and records of %s, number %d.\n%s\n", record.Hdr.Name, k.Tag(), record)
	return Made{k, []byte(text), []byte(k.PrivateText())}
}

// Name gives the name of a key's files without their ends.
func Name(k dnsserver.SigningKey) string {
	record := k.Record()
	return prefix(record.Hdr.Name, record.Algorithm) + fmt.Sprintf("%05d", k.Tag())
}

// prefix is what the names of a zone's files begin with, as BIND's do: what could
// mean something to a file system is written by its code.
func prefix(zone string, algorithm uint8) string {
	var b strings.Builder
	for _, c := range []byte(dns.CanonicalName(zone)) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return fmt.Sprintf("K%s+%03d+", b.String(), algorithm)
}

// Write writes a key's files into a folder, which is made where it is missing. The
// public file is the last, so that one that is there has the other beside it. Nothing
// is overwritten, and where a file cannot be written neither is there. A key that is there
// already is kept.
func (m Made) Write(dir string) (base string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep a key: %w", err)
	}
	base = filepath.Join(dir, Name(m.SigningKey))
	if there, err := Read(base); err == nil && there.DS().String() == m.DS().String() {
		return base, syncDir(dir)
	}
	if err := WriteNew(base+Private, m.private, 0o600); err != nil {
		return "", fmt.Errorf("keep a key: %w", err)
	}
	if err := WriteNew(base+Public, m.public, 0o644); err != nil {
		return "", fmt.Errorf("keep a key: %w", errors.Join(err, os.Remove(base+Private)))
	}
	return base, syncDir(dir)
}

// WriteNew makes a file that outlives a loss of power. It is there as a whole or not at
// all: a full disk and a crash leave no part of it. One that is there already is an
// error.
func WriteNew(path string, data []byte, mode fs.FileMode) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s: %w", path, fs.ErrExist))
	}
	beside := path + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a crash
		return err
	}
	err := write(beside, data, mode)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside) // the first error is the one to tell
	}
	return err
}

func write(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// Folder is a folder of keys, as it was when it was looked at: once for all zones, of
// which there may be thousands.
type Folder struct {
	Path  string
	names []string // in order
	err   error
}

// Look looks into a folder. One that is missing has no keys, and one that cannot be read
// gives its error to whoever asks for some.
func Look(path string) *Folder {
	f := &Folder{Path: path}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = fmt.Errorf("look for keys: %w", err)
		return f
	}
	for _, e := range entries {
		f.names = append(f.names, e.Name())
	}
	slices.Sort(f.names)
	return f
}

// Find lists the keys of a zone and an algorithm, by their public files, without their
// ends.
func (f *Folder) Find(zone string, algorithm uint8) (list []string, err error) {
	begin := prefix(zone, algorithm)
	at, _ := slices.BinarySearch(f.names, begin)
	for _, name := range f.names[at:] {
		if !strings.HasPrefix(name, begin) {
			break
		}
		if base, public := strings.CutSuffix(name, Public); public {
			list = append(list, filepath.Join(f.Path, base))
		}
	}
	return list, f.err
}

// Read reads a key from its files.
func Read(base string) (dnsserver.SigningKey, error) {
	public, err := os.ReadFile(base + Public)
	if err != nil {
		return dnsserver.SigningKey{}, fmt.Errorf("read a key: %w", err)
	}
	private, err := os.ReadFile(base + Private)
	if err != nil {
		return dnsserver.SigningKey{}, fmt.Errorf("read a key: %w", err)
	}
	k, err := Parse(public, private)
	if err != nil {
		return k, fmt.Errorf("read the key %s: %w", base, err)
	}
	return k, nil
}

// ReadPublic reads the public half of a key, which is all that its DS record is
// made of.
func ReadPublic(base string) (*dns.DNSKEY, error) {
	data, err := os.ReadFile(base + Public)
	if err != nil {
		return nil, fmt.Errorf("read a key: %w", err)
	}
	k, err := parsePublic(data)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", base, err)
	}
	return k, nil
}

// DSText writes a DS record as people copy it into a parent zone.
func DSText(ds *dns.DS) string {
	return fmt.Sprintf("%s IN DS %d %d %d %s", ds.Hdr.Name, ds.KeyTag, ds.Algorithm, ds.DigestType, strings.ToUpper(ds.Digest))
}

// Broken is a key that cannot be read.
type Broken struct {
	Base string // its files, without their ends
	Err  error
}

// Readable gives the keys of a zone that can be read, and those that cannot.
func (f *Folder) Readable(zone string, algorithm uint8) (keys []dnsserver.SigningKey, broken []Broken, err error) {
	list, err := f.Find(zone, algorithm)
	for _, base := range list {
		if k, err := Read(base); err != nil {
			broken = append(broken, Broken{base, err})
		} else {
			keys = append(keys, k)
		}
	}
	return keys, broken, err
}
