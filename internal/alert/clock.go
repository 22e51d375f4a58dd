package alert

import "time"

// clock notices that the wall clock was set: on a machine without a battery it is, by
// months, once the network is there.
type clock struct {
	wall func() time.Time
	// at is when it was looked at last, by the wall clock and by the one that only
	// counts.
	at, counted time.Time
}

// leap is by how much a clock must be set to be noticed: less is an adjustment.
const leap = 5 * time.Second

func newClock(wall func() time.Time) clock {
	if wall == nil {
		wall = time.Now
	}
	return clock{wall: wall, at: wall().Round(0), counted: time.Now()}
}

// look gives the time by the wall clock alone. Where that was set since the last look,
// what is planned has moved with it: the book plans by no other clock, so what the book
// is given is always looked up first.
func (e *Engine) look() time.Time {
	c := &e.clock
	at, counted := c.wall().Round(0), time.Now()
	jump := at.Sub(c.at) - counted.Sub(c.counted)
	c.at, c.counted = at, counted
	if jump.Abs() > leap {
		e.book.Shift(jump)
	}
	return at
}
