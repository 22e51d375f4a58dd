package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// draftNode is a name under construction. The fields are those of a node.
type draftNode struct {
	wire       string
	zone       *zone
	sets       []rrset
	service    *service
	wild       *draftNode
	inner      bool       // a zone of ours begins here, with a delegation or without
	cut, dname *draftNode // at most one is set
	glue       rrset      // of a cut; without count where there is none
	at         ref
}

// find gives the set of a type, or nil.
func (n *draftNode) find(t uint16) *rrset {
	for i := range n.sets {
		if n.sets[i].rrtype == t {
			return &n.sets[i]
		}
	}
	return nil
}

// size counts the octets that the node takes in the arena.
func (n *draftNode) size() int {
	size := nodeHead + len(n.wire)
	if n.linked() {
		size += nodeLinks
	}
	for i := range n.sets {
		size += n.sets[i].size()
	}
	if n.glue.count > 0 {
		size += n.glue.size()
	}
	return units(size)
}

// units rounds a size up to whole units.
func units(size int) int { return (size + nodeUnit - 1) / nodeUnit * nodeUnit }

// padding counts the octets before a node of a size, for it to lie in as few
// lines of the cache as it can.
func padding(at, size int) int {
	lines := func(octets int) int { return (octets + nodeLine - 1) / nodeLine }
	if in := at % nodeLine; lines(in+size) > lines(size) {
		return nodeLine - in
	}
	return 0
}

// linked says whether the node leads to others.
func (n *draftNode) linked() bool {
	return n.wild != nil || n.cut != nil || n.dname != nil || n.glue.count > 0
}

// size counts the octets that the set takes in the arena.
func (s *rrset) size() int {
	size := setHead + 2*len(s.tails) + len(s.body)
	if s.rrtype == dns.TypeCNAME {
		size += len(s.target) + setLead
	}
	return size
}

// flags gives the node's.
func (n *draftNode) flags() byte {
	var f byte
	if n.zone.wire == n.wire {
		f |= nodeApex
	}
	if n.cut == n {
		f |= nodeCut
	}
	if n.cut != nil {
		f |= nodeBelowCut
	}
	if n.dname != nil {
		f |= nodeBelowName
	}
	if n.find(dns.TypeDNAME) != nil {
		f |= nodeDNAME
	}
	if n.linked() {
		f |= nodeLinked
	}
	return f
}

// write puts the node at the end of the arena, without the refs to others.
func (n *draftNode) write(arena []byte) []byte {
	arena = append(arena, make([]byte, padding(len(arena), n.size()))...)
	start := len(arena)
	n.at = ref(start / nodeUnit)
	arena = append(arena, byte(len(n.wire)), n.flags())
	arena = binary.LittleEndian.AppendUint16(arena, uint16(len(n.sets)))
	arena = binary.LittleEndian.AppendUint32(arena, uint32(n.zone.index))
	service := 0
	if n.service != nil {
		service = n.service.number
	}
	arena = binary.LittleEndian.AppendUint32(arena, uint32(service))
	if n.linked() {
		arena = append(arena, make([]byte, nodeLinks)...)
	}
	arena = append(arena, n.wire...)
	for i := range n.sets {
		arena = n.sets[i].write(arena)
	}
	if n.glue.count > 0 {
		binary.LittleEndian.PutUint32(arena[start+nodeHead+8:], uint32(len(arena)-start))
		arena = n.glue.write(arena)
	}
	return append(arena, make([]byte, n.size()-(len(arena)-start))...)
}

// write puts the set at the end of the arena, without where it leads.
func (s *rrset) write(arena []byte) []byte {
	for _, v := range [...]uint16{s.rrtype, s.count, uint16(len(s.body)), uint16(len(s.tails))} {
		arena = binary.LittleEndian.AppendUint16(arena, v)
	}
	for _, t := range s.tails {
		arena = binary.LittleEndian.AppendUint16(arena, uint16(t))
	}
	arena = append(arena, s.body...)
	if s.rrtype == dns.TypeCNAME {
		arena = append(arena, s.target...)
		arena = append(arena, make([]byte, setLead)...)
	}
	return arena
}

// link writes the refs to other nodes, once all nodes have their places and the
// index knows their names.
func (n *draftNode) link(x *nameIndex) {
	b := x.node(n.at)
	put := func(at int, to *draftNode) {
		if to != nil {
			binary.LittleEndian.PutUint32(b[at:], uint32(to.at))
		}
	}
	put(nodeHead, n.wild)
	put(nodeHead+4, n.cut)
	put(nodeHead+4, n.dname)
	if s := b.find(dns.TypeCNAME); s != nil {
		to, exact := x.closest(string(s.target()))
		lead := s[s.size()-setLead:]
		binary.LittleEndian.PutUint32(lead, uint32(to))
		if exact {
			lead[4] = 1
		}
	}
}

// closest gives the node of a wire name, else the closest above it that exists.
func (x *nameIndex) closest(wire string) (to ref, exact bool) {
	for n := wire; n != ""; n = parentOf(n) {
		if to = x.ref([]byte(n)); to != 0 {
			return to, len(n) == len(wire)
		}
	}
	return 0, false
}

// lay lays the zones over each other: their names go into the arena, and into
// the index unless zones inside them have them.
func (b *builder) lay(order []*draft, drafts map[string]*draft) {
	var all []*draftNode
	var uppers []*draftNode // sides of cuts between our zones
	shown := 0
	for _, d := range order {
		for _, n := range d.nodes {
			all = append(all, n)
			if owner := deepest(drafts, n.wire); owner == d {
				shown++
				b.depth = max(b.depth, labelsOf(n.wire))
			} else if owner.wire == n.wire && deepest(drafts, parentOf(n.wire)) == d {
				uppers = append(uppers, n)
			}
		}
	}
	size := nodeUnit // 0 is no ref
	for _, n := range all {
		size += padding(size, n.size()) + n.size()
	}
	arena := make([]byte, nodeUnit, size)
	hugePages(arena)
	for _, n := range all { // zone by zone
		arena = n.write(arena)
		if z := n.zone; z.end == 0 {
			z.begin = int(n.at) * nodeUnit
		}
		n.zone.end = len(arena)
	}
	b.names = newNameIndex(shown)
	b.names.arena = arena
	for _, d := range order {
		for _, n := range d.nodes {
			if deepest(drafts, n.wire) == d {
				b.names.add(n.at)
			}
		}
		d.apex = b.names.node(d.top.at)
		d.soa = d.apex.find(dns.TypeSOA)
	}
	for _, n := range all {
		n.link(&b.names)
	}
	for _, n := range uppers {
		b.parents[n.wire] = b.names.node(n.at)
	}
}
