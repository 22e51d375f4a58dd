package dnsserver

import (
	"bytes"
	"slices"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// If this fails, names are not found in some letter cases, or others are.
func TestLowerInto(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	check := func(t fataler, in []byte) {
		want := bytes.Clone(in)
		for i, c := range want {
			if c >= 'A' && c <= 'Z' {
				want[i] += 'a' - 'A'
			}
		}
		got := make([]byte, len(in))
		if lowerInto(got, in); !bytes.Equal(got, want) {
			t.Fatalf("%q in lower case is %q, want %q", in, got, want)
		}
		if lowerInto(got, got); !bytes.Equal(got, want) {
			t.Fatalf("%q in lower case again is %q", want, got)
		}
	}
	check(t, all)
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "octets")) })
}

// If this fails, names in large zones are lost, or found under each other.
func TestNameIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string {
			out := ""
			for range rapid.IntRange(0, 4).Draw(t, "labels") {
				l := rapid.StringOfN(rapid.RuneFrom([]rune("ab*")), 1, 12, -1).Draw(t, "label")
				out += string(rune(len(l))) + l
			}
			return out + "\x00"
		})
		names := rapid.SliceOfDistinct(name, rapid.ID[string]).Draw(t, "names")
		arena := make([]byte, nodeUnit)
		var nodes []*draftNode
		for _, n := range names {
			d := &draftNode{wire: n, zone: &zone{}}
			arena = d.write(arena)
			nodes = append(nodes, d)
		}
		x := newNameIndex(len(names))
		x.arena = arena
		for _, n := range nodes {
			x.add(n.at)
			x.add(n.at)
		}
		for _, n := range nodes {
			if at := x.ref([]byte(n.wire)); at != n.at {
				t.Fatalf("%q lies at %d, want %d", n.wire, at, n.at)
			}
			if in := int(n.at) * nodeUnit % nodeLine; n.size() <= nodeLine && in+n.size() > nodeLine {
				t.Fatalf("%q lies across lines of the cache", n.wire)
			}
		}
		if other := name.Draw(t, "other"); (x.get([]byte(other)) != nil) != slices.Contains(names, other) {
			t.Fatalf("%q: found %t", other, x.get([]byte(other)) != nil)
		}
		count := 0
		x.each(func(node) { count++ })
		if count != len(names) {
			t.Fatalf("%d names, want %d", count, len(names))
		}
	})
}

// If this fails, a packet of any octets ends the server of a large zone, or looking
// ahead misses the names that will be asked for.
func TestTouch(t *testing.T) {
	s := lanServer(t)
	x := &s.snap.Load().names
	q, ahead := new(query), new(touched)
	for _, name := range knownNames(s) {
		msg := ask(name, dns.TypeA, 1232)
		if !q.readQuestion(msg) || ahead.hashOf(msg) != hashName(q.name()) {
			t.Errorf("%s: another hash", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		msgs := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 0, touchLen).Draw(t, "messages")
		x.touch(ahead, msgs)
	})
}
