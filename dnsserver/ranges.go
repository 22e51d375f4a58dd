package dnsserver

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sort"
)

// none is the value of an address that no prefix holds.
const none int32 = -1

// ranges finds the value of the longest prefix that holds an address: the
// prefixes are flattened to ranges that do not overlap, sorted by where they
// begin. It allocates nothing and never changes.
type ranges struct {
	v4     []uint32
	v4Val  []int32
	v6     [][2]uint64
	v6Val  []int32
	filled bool
}

// valued is a prefix with the value of its addresses.
type valued struct {
	prefix netip.Prefix
	value  int32
}

// newRanges flattens prefixes. The same prefix with two values is an error that
// names them by label.
func newRanges(in []valued, label func(int32) string) (ranges, error) {
	ps := slices.Clone(in)
	for i, p := range ps {
		if !p.prefix.IsValid() {
			return ranges{}, fmt.Errorf("prefix %s of %s is not valid", p.prefix, label(p.value))
		}
		ps[i].prefix = p.prefix.Masked()
	}
	slices.SortStableFunc(ps, func(a, b valued) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()))
	})
	for i := 1; i < len(ps); i++ {
		if a, b := ps[i-1], ps[i]; a.prefix == b.prefix && a.value != b.value {
			return ranges{}, fmt.Errorf("prefix %s belongs to %s and to %s: give it to one of them", a.prefix, label(a.value), label(b.value))
		}
	}
	var r ranges
	r.filled = len(ps) > 0
	r.sweep(slices.DeleteFunc(slices.Clone(ps), func(p valued) bool { return !p.prefix.Addr().Is4() }))
	r.sweep(slices.DeleteFunc(ps, func(p valued) bool { return p.prefix.Addr().Is4() }))
	return r, nil
}

// sweep goes over sorted prefixes of one family; those that are open at a point
// lie on a stack, the longest on top.
func (r *ranges) sweep(ps []valued) {
	type open struct {
		last  netip.Addr
		value int32
	}
	var stack []open
	closeUntil := func(a netip.Addr) {
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if a.IsValid() && !top.last.Less(a) {
				return
			}
			stack = stack[:len(stack)-1]
			under := none
			if len(stack) > 0 {
				under = stack[len(stack)-1].value
			}
			if next := top.last.Next(); next.IsValid() {
				r.begin(next, under)
			}
		}
	}
	for _, p := range ps {
		closeUntil(p.prefix.Addr())
		stack = append(stack, open{lastOf(p.prefix), p.value})
		r.begin(p.prefix.Addr(), p.value)
	}
	closeUntil(netip.Addr{})
}

// begin starts a range, in place of one that starts at the same address.
func (r *ranges) begin(a netip.Addr, value int32) {
	if a.Is4() {
		k := v4Key(a)
		if n := len(r.v4); n > 0 && r.v4[n-1] == k {
			r.v4Val[n-1] = value
			return
		}
		r.v4, r.v4Val = append(r.v4, k), append(r.v4Val, value)
		return
	}
	k := v6Key(a)
	if n := len(r.v6); n > 0 && r.v6[n-1] == k {
		r.v6Val[n-1] = value
		return
	}
	r.v6, r.v6Val = append(r.v6, k), append(r.v6Val, value)
}

// find gives the value of the longest prefix that holds a, or none. An
// IPv4-mapped address has been unmapped.
func (r *ranges) find(a netip.Addr) int32 {
	if a.Is4() {
		k := v4Key(a)
		i := sort.Search(len(r.v4), func(i int) bool { return r.v4[i] > k })
		if i == 0 {
			return none
		}
		return r.v4Val[i-1]
	}
	k := v6Key(a)
	i := sort.Search(len(r.v6), func(i int) bool {
		v := r.v6[i]
		return v[0] > k[0] || v[0] == k[0] && v[1] > k[1]
	})
	if i == 0 {
		return none
	}
	return r.v6Val[i-1]
}

func v4Key(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func v6Key(a netip.Addr) [2]uint64 {
	b := a.As16()
	return [2]uint64{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// lastOf gives the last address of a masked prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
