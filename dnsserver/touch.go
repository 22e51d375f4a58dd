package dnsserver

// touchLen is how many messages are looked at ahead together.
const touchLen = 64

// touchAbove is the size of an index, in octets, from which on the memory of a name
// is seldom in the processor's caches.
const touchAbove = 1 << 20

// touched is what is kept while memory is touched ahead.
type touched struct {
	lower  [maxName]byte
	hashes [touchLen]uint64
	slots  [touchLen]uint64
	sum    byte // keeps the last look from being left out
}

// touch looks at the memory that the answers to messages, touchLen at most, will
// need: first at all slots of the index, then at all nodes. No look waits for the
// one before it, so that the processor has many under way at once: done one after
// another, each would be waited for, and that takes longer than all else of an
// answer. It changes nothing, whatever the messages hold.
func (x *nameIndex) touch(t *touched, msgs [][]byte) {
	for i, msg := range msgs {
		t.hashes[i] = t.hashOf(msg)
	}
	for i := range msgs {
		t.slots[i] = x.slots[int(t.hashes[i]>>x.shift)&(len(x.slots)-1)]
	}
	sum := t.sum
	for i := range msgs {
		s, h := t.slots[i], t.hashes[i]
		for at := int(h >> x.shift); s != 0 && s>>32 != h&(1<<32-1); {
			at++
			s = x.slots[at&(len(x.slots)-1)]
		}
		sum += x.arena[int(ref(s))*nodeUnit] // of no node: its beginning
	}
	t.sum = sum
}

// hashOf gives the hash of the name that a message asks for; of none, 0.
func (t *touched) hashOf(msg []byte) uint64 {
	end := headerLen
	for {
		if end >= len(msg) {
			return 0
		}
		n := int(msg[end])
		end++
		if n == 0 {
			break
		}
		end += n
	}
	n := end - headerLen
	if n > maxName || end > len(msg) {
		return 0
	}
	lowerInto(t.lower[:n], msg[headerLen:end])
	return hashName(t.lower[:n])
}

// large says whether touching ahead is worth it.
func (x *nameIndex) large() bool { return len(x.arena)+8*len(x.slots) > touchAbove }
