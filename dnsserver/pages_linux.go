package dnsserver

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a page that the system may map memory by at once, in
// octets.
const hugePage = 2 << 20

// hugePages asks the system for large pages under memory that queries look into
// at random: each look would else cost a walk through the page tables as well. It
// is asked before the memory is filled; a system that has none serves as well,
// only slower.
func hugePages[T any](of []T) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(of)))
	end := start + uintptr(cap(of))*unsafe.Sizeof(*new(T))
	from, to := (start+hugePage-1)&^(hugePage-1), end&^(hugePage-1)
	if from >= to {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(of)), from-start)), to-from)
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // a wish
}
