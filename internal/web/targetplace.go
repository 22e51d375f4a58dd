package web

import (
	"cmp"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

// What the page of targets shows whole, besides [maxCards] servers: records of all of them
// and of one, each of dnsteer's and of others, and names of one that have no failover.
const (
	maxAllRecords = 150
	maxRecords    = 100
	maxConflicts  = 20
)

// placed gives the servers that are shown whole, and those that are lines: of many, those
// that are well, and for which there is no place.
func placed(cards []targetCard) (whole, rest []targetCard) {
	if len(cards) > maxCards {
		slices.SortStableFunc(cards, func(a, b targetCard) int { return cmp.Compare(b.trouble(), a.trouble()) })
		whole := 0
		for whole < maxCards && cards[whole].trouble() > 0 {
			whole++
		}
		cards, rest = cards[:whole], cards[whole:]
	}
	room := maxAllRecords
	for i := range cards {
		room -= cards[i].shorten(min(room, maxRecords))
	}
	for i := range cards { // of others what is left
		c := &cards[i]
		room -= c.leave(min(room, maxRecords))
		c.Further = len(cards) > 1 && (c.MoreRows > 0 && len(c.Rows) < maxRecords || c.More > 0 && len(c.Foreign) < maxRecords)
	}
	return cards, rest
}

// trouble says how much a server wants somebody to look at it.
func (c *targetCard) trouble() int {
	critical := false
	for i := range c.Findings {
		critical = critical || c.Findings[i].Severity == sites.Critical
	}
	switch {
	case critical, c.Sign.Tone == Gone:
		return 2
	case c.Sign.Tone != Calm, len(c.NoFailover) > 0, slices.ContainsFunc(c.Rows, func(r targetRow) bool { return r.wrong() }):
		return 1
	default:
		return 0
	}
}

// wrong says whether somebody should look at it.
func (r *targetRow) wrong() bool {
	return r.Differs || r.Error != "" || len(r.Foreign) > 0 || r.Visible != nil && !*r.Visible
}

// shorten leaves at most so many of dnsteer's records, where there are more those first
// that somebody should look at, and says how many.
func (c *targetCard) shorten(most int) int {
	if n := len(c.NoFailover) - maxConflicts; n > 0 {
		c.NoFailover, c.MoreConflicts = c.NoFailover[:maxConflicts], n
	}
	if len(c.Rows) <= most {
		return len(c.Rows)
	}
	slices.SortStableFunc(c.Rows, func(a, b targetRow) int {
		switch x, y := a.wrong(), b.wrong(); {
		case x == y:
			return 0
		case x:
			return -1
		default:
			return 1
		}
	})
	for i := range c.Rows[most:] {
		c.MoreRows++
		if c.Rows[most+i].wrong() {
			c.Wrong++
		}
	}
	c.Rows = c.Rows[:most]
	return most
}

// leave leaves at most so many records of others, and says how many.
func (c *targetCard) leave(most int) int {
	if n := len(c.Foreign) - most; n > 0 {
		c.Foreign, c.More = c.Foreign[:most], c.More+n
	}
	return len(c.Foreign)
}
