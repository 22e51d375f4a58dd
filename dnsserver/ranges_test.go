package dnsserver

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// If this fails, a client belongs to another site than the longest of its
// prefixes says.
func TestRangesFindTheLongestPrefix(t *testing.T) {
	addr := rapid.Custom(func(t *rapid.T) netip.Addr {
		// Few values, so that prefixes nest and meet; the ends of the space too.
		octet := rapid.SampledFrom([]byte{0, 1, 2, 127, 128, 254, 255})
		n := rapid.SampledFrom([]int{4, 16}).Draw(t, "family")
		b := make([]byte, n)
		for i := range b {
			if i < 2 || i >= n-2 {
				b[i] = octet.Draw(t, "octet")
			}
		}
		a, _ := netip.AddrFromSlice(b)
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		var in []valued
		used := map[netip.Prefix]bool{}
		for i := range rapid.IntRange(0, 12).Draw(t, "prefixes") {
			a := addr.Draw(t, "prefix")
			p, err := a.Prefix(rapid.IntRange(0, a.BitLen()).Draw(t, "bits"))
			if err != nil || used[p] {
				continue
			}
			used[p] = true
			in = append(in, valued{p, int32(i)})
		}
		r, err := newRanges(in, func(int32) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			a := addr.Draw(t, "addr")
			want, bits := none, -1
			for _, v := range in {
				if v.prefix.Contains(a) && v.prefix.Bits() > bits {
					want, bits = v.value, v.prefix.Bits()
				}
			}
			if got := r.find(a); got != want {
				t.Fatalf("%s: %d, want %d by %v", a, got, want, in)
			}
		}
	})
}
