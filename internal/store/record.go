package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// Format is the version of what is stored. Whatever changes, the record
// "format" in the bucket "meta" stays where it is and as it is, so that an older
// program recognises a newer file and leaves it alone.
const Format = 2

// plainFormat is that of files that hold no values yet. They are read as they
// are, and become files of this format with the first value.
const plainFormat = 1

// The buckets, and the keys of "meta".
const (
	metaBucket    = "meta"
	sitesBucket   = "sites"
	serialsBucket = "serials"
	eventsBucket  = "events"
	configBucket  = "config" // of its own, for it may be large and changes seldom
	valuesBucket  = "values" // of [Batch.Values], from format 2 on

	formatKey = "format"
	globalKey = "global"
	wallKey   = "wall"
	lastKey   = "last"
)

// buckets lists the parts of a file of a format, sorted.
func buckets(format int) []string {
	list := []string{configBucket, eventsBucket, metaBucket, serialsBucket, sitesBucket}
	if format > plainFormat {
		list = append(list, valuesBucket)
	}
	return list
}

// Kind names whose values are meant in [Batch.Values]. It has no zero octet.
type Kind string

// valueKey is where a value lies. The kind ends at the first zero octet.
func valueKey(kind Kind, key string) []byte { return []byte(string(kind) + "\x00" + key) }

// splitKey gives what valueKey was made of.
func splitKey(at []byte) (kind Kind, key string) {
	k, rest, _ := strings.Cut(string(at), "\x00")
	return Kind(k), rest
}

// errUnreadable is a record whose checksum does not fit.
var errUnreadable = errors.New("unreadable record")

const sumLength = 4

// checksum covers where a record lies as well as what it says: bbolt guards its
// head pages alone.
func checksum(bucket string, key, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, table, []byte(bucket))
	sum = crc32.Update(sum, table, []byte{0})
	sum = crc32.Update(sum, table, key)
	sum = crc32.Update(sum, table, []byte{0})
	return crc32.Update(sum, table, payload)
}

// seal makes the record that is stored for a payload.
func seal(bucket string, key, payload []byte) []byte {
	record := make([]byte, sumLength, sumLength+len(payload))
	binary.LittleEndian.PutUint32(record, checksum(bucket, key, payload))
	return append(record, payload...)
}

// unseal gives a copy of the payload of a record.
func unseal(bucket string, key, record []byte) ([]byte, error) {
	if len(record) < sumLength ||
		binary.LittleEndian.Uint32(record) != checksum(bucket, key, record[sumLength:]) {
		return nil, fmt.Errorf("%w %q in %s", errUnreadable, key, bucket)
	}
	return slices.Clone(record[sumLength:]), nil
}

// eventKey orders events by their ID.
func eventKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// inspection looks at all records of a file while it is walked.
type inspection struct {
	buckets []string
	format  int
	fault   error // the first record that is not as it should be
}

func (in *inspection) visit(path []string, key, value []byte) {
	if len(path) == 1 && key == nil {
		in.buckets = append(in.buckets, path[0])
		return
	}
	if len(path) != 1 {
		in.note(errors.New("it holds records at a place where none belong"))
		return
	}
	payload, err := unseal(path[0], key, value)
	if err != nil {
		in.note(err)
		return
	}
	if path[0] == metaBucket && string(key) == formatKey {
		if in.format, err = strconv.Atoi(string(payload)); err != nil {
			in.note(fmt.Errorf("format %q is not a number", payload))
		}
	}
}

func (in *inspection) note(err error) {
	if in.fault == nil {
		in.fault = err
	}
}

// judge says whether the file is one that this program may use.
func (in *inspection) judge() error {
	switch {
	case in.format > Format:
		return &NewerError{Format: in.format}
	case in.fault != nil:
		return &damageError{in.fault}
	case in.format < plainFormat:
		return &damageError{errors.New("it is a bbolt file, but none of dnsteer")}
	case !slices.Equal(in.buckets, buckets(in.format)):
		return &damageError{fmt.Errorf("it holds the parts %v, not %v", in.buckets, buckets(in.format))}
	}
	return nil
}
