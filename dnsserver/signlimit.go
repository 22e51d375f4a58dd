package dnsserver

import (
	"errors"
	"sync"
	"time"
)

// signsAtOnce is how many sets are signed, of each kind, among messages that come
// in together over UDP. Signing takes twenty times what all else of an answer does:
// a flood of names that nobody asked for before would leave no time for the others.
// Where messages do not pile up, nothing is held back; where they go on piling up,
// half as much is signed each time, and one set in the end.
const signsAtOnce = 8

// signsApart is the time after which as many again are signed where messages come
// one by one.
const signsApart = 4 * time.Millisecond

// errSignLater is that the allowance is used up.
var errSignLater = errors.New("too much is to be signed at once")

// allowance bounds what is signed while others wait for their answers. What is
// signed already costs nothing of it; what the zone holds has a part of its own,
// so that names that askers make up cannot use it up. A message for which nothing
// is left is answered with TC set, over UDP; over TCP, whose senders prove their
// address and wait for each other, one set is signed at a time. The zero value, and
// nil, bound nothing.
type allowance struct {
	bounded    bool
	most       int // of each kind, since messages pile up
	real, made int // that are left
	renewed    time.Time
	turn       *sync.Mutex // of all connections; nil over UDP
}

// renew is called before messages are answered that have come in together. With
// piled, more than these wait.
func (a *allowance) renew(piled bool) {
	switch {
	case !piled:
		a.most = signsAtOnce
	case a.most == 0:
		a.most = signsAtOnce / 2
	default:
		a.most = max(1, a.most/2)
	}
	a.bounded, a.real, a.made = true, a.most, a.most
}

// renewAt is called before a message is answered that came alone.
func (a *allowance) renewAt(now time.Time) {
	if now.Sub(a.renewed) >= signsApart {
		a.renew(false)
		a.renewed = now
	}
}

// begin says whether a set may be signed, of what the zone holds or of names that
// are made up. After it has been, end is called.
func (a *allowance) begin(made bool) bool {
	if a == nil {
		return true
	}
	if a.turn != nil {
		a.turn.Lock()
	}
	if !a.bounded {
		return true
	}
	left := &a.real
	if made {
		left = &a.made
	}
	*left--
	return *left >= 0
}

func (a *allowance) end() {
	if a != nil && a.turn != nil {
		a.turn.Unlock()
	}
}
