package dnsserver

import (
	"encoding/binary"
	"math/bits"
)

// nameIndex finds nodes by name. A slot holds one half of the name's hash above
// the node's ref, so that nearly all names that differ are told apart without a
// look at the node. It is at most half full, and slots that are taken are passed
// by.
type nameIndex struct {
	arena []byte
	slots []uint64 // 0 is free; the length is a power of two
	shift int      // takes a hash to its slot
}

func newNameIndex(count int) nameIndex {
	n := max(3, bits.Len(uint(2*count)))
	x := nameIndex{slots: make([]uint64, 1<<n), shift: 64 - n}
	hugePages(x.slots)
	return x
}

// node gives the node at a ref, nil for 0.
func (x *nameIndex) node(at ref) node {
	if at == 0 {
		return nil
	}
	return node(x.arena[int(at)*nodeUnit:])
}

// get gives the node of a name in lower-cased wire form, or nil.
func (x *nameIndex) get(name []byte) node {
	return x.node(x.ref(name))
}

func (x *nameIndex) ref(name []byte) ref {
	h := hashName(name)
	for i := int(h >> x.shift); ; i++ {
		s := x.slots[i&(len(x.slots)-1)]
		if s == 0 {
			return 0
		}
		if s>>32 == h&(1<<32-1) && string(x.node(ref(s)).name()) == string(name) {
			return ref(s)
		}
	}
}

// add puts a node in. A name that is there already is replaced.
func (x *nameIndex) add(at ref) {
	name := x.node(at).name()
	h := hashName(name)
	for i := int(h >> x.shift); ; i++ {
		s := &x.slots[i&(len(x.slots)-1)]
		if *s == 0 || *s>>32 == h&(1<<32-1) && string(x.node(ref(*s)).name()) == string(name) {
			*s = h<<32 | uint64(at)
			return
		}
	}
}

// each calls f with every node.
func (x *nameIndex) each(f func(node)) {
	for _, s := range x.slots {
		if s != 0 {
			f(x.node(ref(s)))
		}
	}
}

// hashName spreads a name over 64 bits, 8 octets at a time.
func hashName(name []byte) uint64 {
	h := uint64(len(name)) * 0x9e3779b97f4a7c15
	b := name
	for ; len(b) >= 8; b = b[8:] {
		h = fold(h ^ binary.LittleEndian.Uint64(b))
	}
	switch {
	case len(b) == 0:
	case len(name) >= 8: // some octets again
		h = fold(h ^ binary.LittleEndian.Uint64(name[len(name)-8:]))
	default:
		for _, c := range b {
			h = fold(h ^ uint64(c))
		}
	}
	return h
}

// fold mixes by the two halves of a product.
func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0xd1b54a32d192ed03, 0x9fb21c651e98df25)
	return hi ^ lo
}
