package history

import (
	"math"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// bucket is what came of a probe in one step of time, in 14 octets. Times are
// those of successes: how long a timeout takes is known beforehand.
type bucket struct {
	up, down, unknown uint16
	// least, mean and most are logarithms; see pack.
	least, mean, most uint16
	cause             uint8 // of the last that was not a success
}

func (b *bucket) empty() bool { return b.up == 0 && b.down == 0 && b.unknown == 0 }

// series is a ring of buckets of equal steps. The bucket of a step stands at
// the step's number, counted from 1970, modulo their count.
type series struct {
	step  time.Duration
	count int
	// buckets are made with the first result: a start with many probes does not
	// wait for them.
	buckets []bucket
	// last is the newest step; started is false before the first.
	last    int64
	started bool
	// sum, least and most are those of the newest step, exactly.
	sum, least, most time.Duration
}

func newSeries(step time.Duration, count int) series {
	return series{step: step, count: count}
}

// number gives the step of a time.
func (s *series) number(t time.Time) int64 {
	seconds := int64(s.step / time.Second)
	n := t.Unix() / seconds
	if t.Unix()%seconds < 0 {
		n-- // before 1970, as after a boot without a clock
	}
	return n
}

func (s *series) at(n int64) *bucket {
	i := n % int64(len(s.buckets))
	if i < 0 {
		i += int64(len(s.buckets))
	}
	return &s.buckets[i]
}

// add enters a check.
func (s *series) add(t time.Time, c *sites.Check, cause uint8) {
	if s.buckets == nil {
		s.buckets = make([]bucket, s.count)
	}
	n := s.number(t)
	if !s.started || n != s.last {
		s.move(n)
	}
	b := s.at(n)
	switch c.Outcome {
	case sites.Up:
		b.up = more(b.up)
		s.sum += c.Duration
		if s.least = min(s.least, c.Duration); b.up == 1 {
			s.least = c.Duration
		}
		s.most = max(s.most, c.Duration)
		return
	case sites.Down:
		b.down = more(b.down)
	default:
		b.unknown = more(b.unknown)
	}
	b.cause = cause
}

// move makes n the newest step, and empties those that it has no results of:
// the ones left out on the way, or after a clock was set back those that are
// yet to come.
func (s *series) move(n int64) {
	if s.started {
		s.seal()
	}
	count := int64(len(s.buckets))
	switch from := max(s.last+1, n-count+1); {
	case !s.started || n <= s.last-count:
		clear(s.buckets)
	case n > s.last:
		for ; from <= n; from++ {
			*s.at(from) = bucket{}
		}
	default:
		for x := n + 1; x <= s.last; x++ {
			*s.at(x) = bucket{}
		}
	}
	s.last, s.started = n, true
	b := s.at(n)
	s.least, s.most = unpack(b.least), unpack(b.most)
	s.sum = unpack(b.mean) * time.Duration(b.up)
}

// seal writes the times of the newest step into its bucket.
func (s *series) seal() {
	b := s.at(s.last)
	if b.up == 0 {
		return
	}
	b.least, b.most, b.mean = pack(s.least), pack(s.most), pack(s.sum/time.Duration(b.up))
}

// each calls f with every bucket that holds something of a time from one to
// another, the oldest first.
func (s *series) each(from, to time.Time, f func(start time.Time, b *bucket)) {
	if !s.started {
		return
	}
	s.seal()
	first := max(s.number(from), s.last-int64(len(s.buckets))+1)
	for n := first; n <= min(s.number(to), s.last); n++ {
		if b := s.at(n); !b.empty() {
			f(time.Unix(n*int64(s.step/time.Second), 0).UTC(), b)
		}
	}
}

// more counts as far as it goes.
func more(n uint16) uint16 {
	if n == math.MaxUint16 {
		return n
	}
	return n + 1
}

// scale is how many numbers a doubling of time takes: neighbours are 0.03 %
// apart, and the last is above an hour.
const scale = 2048

// pack writes a time as the logarithm of its microseconds.
func pack(d time.Duration) uint16 {
	us := max(float64(d)/float64(time.Microsecond), 0)
	return uint16(min(math.Round(math.Log2(us+1)*scale), math.MaxUint16))
}

func unpack(n uint16) time.Duration {
	us := math.Exp2(float64(n)/scale) - 1
	return time.Duration(math.Round(us * float64(time.Microsecond)))
}
