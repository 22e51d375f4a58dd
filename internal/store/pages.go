package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a bbolt file, as far as it must be sound before bbolt, which
// trusts its pages, is let near it: a page that points to itself would have it
// recurse until the process dies, and a page beyond the end of the file is a
// fault that no recover catches.
const (
	pageSize      = 4096
	pageHeader    = 16
	elementHeader = 16
	bucketHeader  = 16
	metaLength    = 64

	boltMagic   = 0xED0CDAED
	boltVersion = 2

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
	bucketFlag   = 0x01

	// maxDepth is far above what any tree of a 2^40 byte file needs.
	maxDepth = 40
)

// native is how bbolt writes numbers: as the machine has them in memory.
var native = binary.NativeEndian

// head is a meta page: where the newest generation of the file begins.
type head struct {
	root, freelist, pages, txid uint64
}

// walker goes through every page of a file's newest generation.
type walker struct {
	src   io.ReaderAt
	head  head
	seen  []bool // by page
	visit func(path []string, key, value []byte)
}

// walk checks the structure of a bbolt file of the given size and hands every
// record to visit, with the names of the buckets around it. torn says that one of
// the two heads is not readable: what a power cut during a commit leaves, or
// damage that hides the last commit. The error says what is wrong with the file.
func walk(src io.ReaderAt, size int64, visit func(path []string, key, value []byte)) (torn bool, err error) {
	h, torn, err := readHead(src, size)
	if err != nil {
		return false, err
	}
	w := &walker{src: src, head: h, seen: make([]bool, h.pages), visit: visit}
	w.seen[0], w.seen[1] = true, true
	if err := w.tree(h.root, bounds{}, nil, 0); err != nil {
		return torn, err
	}
	return torn, w.freelist()
}

// readHead finds the newer of the two meta pages that can be read.
func readHead(src io.ReaderAt, size int64) (newest head, torn bool, err error) {
	if size == 0 {
		return head{}, false, errors.New("the file is empty")
	}
	if size < 2*pageSize {
		return head{}, false, fmt.Errorf("the file is cut off after %d bytes", size)
	}
	found := 0
	for i := range uint64(2) {
		buf := make([]byte, pageHeader+metaLength)
		if _, err := src.ReadAt(buf, int64(i)*pageSize); err != nil {
			return head{}, false, fmt.Errorf("read page %d: %w", i, err)
		}
		if native.Uint64(buf) != i || native.Uint16(buf[8:]) != metaPage {
			return head{}, false, fmt.Errorf("page %d is not a head page", i)
		}
		h, ok := parseHead(buf[pageHeader:])
		if !ok {
			continue
		}
		if found == 0 || h.txid > newest.txid {
			newest = h
		}
		found++
	}
	switch {
	case found == 0:
		return head{}, false, errors.New("neither of its two head pages is readable")
	case newest.pages < 3 || newest.pages > uint64(size)/pageSize:
		return head{}, false, fmt.Errorf("the file is cut off: %d pages of %d are there", size/pageSize, newest.pages)
	}
	return newest, found == 1, nil
}

func parseHead(meta []byte) (head, bool) {
	sum := fnv.New64a()
	_, _ = sum.Write(meta[:56])
	ok := native.Uint32(meta) == boltMagic && native.Uint32(meta[4:]) == boltVersion &&
		native.Uint32(meta[8:]) == pageSize && native.Uint64(meta[56:]) == sum.Sum64()
	return head{
		root: native.Uint64(meta[16:]), freelist: native.Uint64(meta[32:]),
		pages: native.Uint64(meta[40:]), txid: native.Uint64(meta[48:]),
	}, ok
}

// page reads a page with what overflows it, and marks it as used.
func (w *walker) page(id uint64) ([]byte, error) {
	if id < 2 || id >= w.head.pages {
		return nil, fmt.Errorf("page %d is outside of the file", id)
	}
	buf := make([]byte, pageSize)
	if _, err := w.src.ReadAt(buf, int64(id)*pageSize); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	overflow := uint64(native.Uint32(buf[12:]))
	if native.Uint64(buf) != id || overflow >= w.head.pages-id {
		return nil, fmt.Errorf("page %d has a wrong header", id)
	}
	for i := id; i <= id+overflow; i++ {
		if w.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	if overflow > 0 {
		buf = make([]byte, (overflow+1)*pageSize)
		if _, err := w.src.ReadAt(buf, int64(id)*pageSize); err != nil {
			return nil, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return buf, nil
}

// bounds are what the keys of a page lie between: from low on and below high;
// nil is no bound.
type bounds struct{ low, high []byte }

// tree checks the page and all below it.
func (w *walker) tree(id uint64, within bounds, path []string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d lies too deep", id)
	}
	buf, err := w.page(id)
	if err != nil {
		return err
	}
	switch native.Uint16(buf[8:]) {
	case leafPage:
		if native.Uint16(buf[10:]) == 0 && (within.low != nil || len(bytes.Trim(buf[pageHeader:], "\x00")) > 0) {
			return fmt.Errorf("page %d says that it is empty", id)
		}
		return w.leaf(buf, id, within, path, depth)
	case branchPage:
		return w.branch(buf, id, within, path, depth)
	default:
		return fmt.Errorf("page %d is of a wrong kind", id)
	}
}

func (w *walker) branch(buf []byte, id uint64, within bounds, path []string, depth int) error {
	items, err := elements(buf, id, within, false)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return fmt.Errorf("page %d leads nowhere", id)
	}
	for i, item := range items {
		below := bounds{low: item.key, high: within.high}
		if i+1 < len(items) {
			below.high = items[i+1].key
		}
		if err := w.tree(item.page, below, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) leaf(buf []byte, id uint64, within bounds, path []string, depth int) error {
	items, err := elements(buf, id, within, true)
	if err != nil {
		return err
	}
	for _, item := range items {
		switch item.flags {
		case 0:
			w.visit(path, item.key, item.value)
		case bucketFlag:
			if err := w.bucket(item, id, path, depth); err != nil {
				return err
			}
		default:
			return fmt.Errorf("page %d holds a record of a wrong kind", id)
		}
	}
	return nil
}

// bucket checks a bucket, whose only page may stand within its record.
func (w *walker) bucket(item element, id uint64, path []string, depth int) error {
	if len(item.value) < bucketHeader {
		return fmt.Errorf("page %d holds a bucket that is cut off", id)
	}
	inside := append(path[:len(path):len(path)], string(item.key))
	w.visit(inside, nil, nil)
	if root := native.Uint64(item.value); root != 0 {
		return w.tree(root, bounds{}, inside, depth+1)
	}
	inline := item.value[bucketHeader:]
	if len(inline) < pageHeader || native.Uint16(inline[8:]) != leafPage || depth > maxDepth ||
		(native.Uint16(inline[10:]) == 0 && len(inline) != pageHeader) {
		return fmt.Errorf("page %d holds a bucket of a wrong kind", id)
	}
	return w.leaf(inline, id, bounds{}, inside, depth+1)
}

// element is one entry of a page.
type element struct {
	flags      uint32
	page       uint64 // of a branch page
	key, value []byte
}

// elements reads the entries of a page. bbolt writes them one after the other
// without a gap, so an entry that is missing or too much is found too.
func elements(buf []byte, id uint64, within bounds, leaf bool) ([]element, error) {
	count := int(native.Uint16(buf[10:]))
	next := uint64(pageHeader + elementHeader*count)
	if next > uint64(len(buf)) {
		return nil, fmt.Errorf("page %d is cut off", id)
	}
	items := make([]element, 0, count)
	for i := range count {
		at := uint64(pageHeader + elementHeader*i)
		e := buf[at : at+elementHeader]
		var item element
		var start, keyLen, valueLen uint64
		if leaf {
			item.flags = native.Uint32(e)
			start, keyLen, valueLen = uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
		} else {
			start, keyLen = uint64(native.Uint32(e)), uint64(native.Uint32(e[4:]))
			item.page = native.Uint64(e[8:])
		}
		if at+start != next || keyLen == 0 || next+keyLen+valueLen > uint64(len(buf)) {
			return nil, fmt.Errorf("page %d: entry %d lies wrong", id, i)
		}
		item.key = buf[next : next+keyLen]
		item.value = buf[next+keyLen : next+keyLen+valueLen]
		next += keyLen + valueLen
		if (i == 0 && bytes.Compare(item.key, within.low) < 0) ||
			(i > 0 && bytes.Compare(item.key, items[i-1].key) <= 0) ||
			(within.high != nil && bytes.Compare(item.key, within.high) >= 0) {
			return nil, fmt.Errorf("page %d: entry %d is out of order", id, i)
		}
		items = append(items, item)
	}
	return items, nil
}

// freelist checks that every page is either used or free: a page that were both
// would be overwritten by the next commit.
func (w *walker) freelist() error {
	buf, err := w.page(w.head.freelist)
	if err != nil {
		return err
	}
	if native.Uint16(buf[8:]) != freelistPage {
		return fmt.Errorf("page %d is not the list of free pages", w.head.freelist)
	}
	at, count := uint64(pageHeader), uint64(native.Uint16(buf[10:]))
	if count == 0xFFFF {
		count = native.Uint64(buf[at:])
		at += 8
	}
	if count > (uint64(len(buf))-at)/8 {
		return errors.New("the list of free pages is cut off")
	}
	for range count {
		id := native.Uint64(buf[at:])
		at += 8
		if id < 2 || id >= w.head.pages || w.seen[id] {
			return fmt.Errorf("page %d is in the list of free pages and is not free", id)
		}
		w.seen[id] = true
	}
	for id, seen := range w.seen {
		if !seen {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
	}
	return nil
}
