package dnsserver

import "time"

// after says whether serial a is greater than b (RFC 1982).
func after(a, b uint32) bool { return int32(a-b) > 0 }

// firstSerial gives a zone's serial at a start: at least the one that is
// written, greater than the last one that was stored, and, where services put
// moving records into the zone, at least the Unix time, so that a lost store
// makes secondaries miss nothing.
func firstSerial(written uint32, stored uint32, known, moving bool, now time.Time) uint32 {
	s := written
	if known && !after(s, stored) {
		s = stored + 1
	}
	if t := uint32(now.Unix()); moving && after(t, s) {
		s = t
	}
	return s
}

// nextSerial gives a zone's serial after a reload.
func nextSerial(current, written uint32, changed bool) uint32 {
	switch {
	case after(written, current):
		return written
	case changed:
		return current + 1
	default:
		return current
	}
}
