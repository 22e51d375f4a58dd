package probes

import "time"

// queue is a heap of slots by the time at which they are due; equal times come
// in the order of the slots, so that the order depends on nothing else.
type queue struct {
	at   []time.Duration // of each slot, whether it is in the heap or not
	heap []int32
}

// grow makes room for one slot more.
func (q *queue) grow() { q.at = append(q.at, 0) }

// rebuild puts all slots that are in use, and no others, into the heap.
func (q *queue) rebuild(slots []slot) {
	q.heap = q.heap[:0]
	for i := range slots {
		if slots[i].round != 0 {
			q.heap = append(q.heap, int32(i))
		}
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) next() (time.Duration, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.at[q.heap[0]], true
}

func (q *queue) first() int32 { return q.heap[0] }

// setFirst gives the first slot a later time.
func (q *queue) setFirst(at time.Duration) {
	q.at[q.heap[0]] = at
	q.down(0)
}

func (q *queue) less(a, b int32) bool {
	return q.at[a] < q.at[b] || q.at[a] == q.at[b] && a < b
}

func (q *queue) down(i int) {
	h := q.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && q.less(h[right], h[least]) {
			least = right
		}
		if !q.less(h[least], h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
