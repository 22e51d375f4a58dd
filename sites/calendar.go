package sites

import "time"

// calendar is a heap of the sites by the time at which they must be looked at
// next, so that a Step costs the same however many sites rest.
type calendar []*site

// place puts a site into the calendar, or to where its time says.
func (c *calendar) place(s *site) {
	if s.slot >= len(*c) || (*c)[s.slot] != s {
		s.slot = len(*c)
		*c = append(*c, s)
	}
	for i := s.slot; i > 0 && c.swap(i, (i-1)/2); {
		i = (i - 1) / 2
	}
	for i := s.slot; ; {
		child := 2*i + 1
		if child+1 < len(*c) && (*c)[child+1].next < (*c)[child].next {
			child++
		}
		if child >= len(*c) || !c.swap(child, i) {
			return
		}
		i = child
	}
}

// swap exchanges two sites if the lower one is due earlier, and says whether.
func (c calendar) swap(lower, upper int) bool {
	if c[lower].next >= c[upper].next {
		return false
	}
	c[lower], c[upper] = c[upper], c[lower]
	c[lower].slot, c[upper].slot = lower, upper
	return true
}

// next is when the first site is due.
func (c calendar) next() time.Duration {
	if len(c) == 0 {
		return Forever
	}
	return c[0].next
}

// due has f called for every site that is due at now, the i-th and those below
// it in the heap.
func (c calendar) due(now time.Duration, i int, f func(*site)) {
	if i >= len(c) || c[i].next > now {
		return
	}
	f(c[i])
	c.due(now, 2*i+1, f)
	c.due(now, 2*i+2, f)
}
