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
	// What is after another is not always after what that is after: a serial may be far up.
	if t := uint32(now.Unix()); moving && after(t, s) && (!known || after(t, stored)) {
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

// reserved is how many serials of a zone with names of services are stored ahead: more
// than all pools of a large controller take when they move together.
const reserved = 1 << 14

// Reserve says which serials are to be stored for [Options.Serials] where these are; nil
// for none. Those of a zone with names of services run ahead of what is served: a run that
// is killed while its disk takes nothing has then given out none that the next one gives
// again, for other records.
func (s *Server) Reserve(stored map[string]uint32) (more map[string]uint32) {
	for _, z := range s.snap.Load().zoneList {
		name, serial := zoneKey(z), z.serial.Load()
		have, known := stored[name]
		switch {
		case !z.moving && known && have == serial, z.moving && known && after(have, serial+reserved/2):
			continue
		case z.moving:
			serial += reserved
		}
		if more == nil {
			more = map[string]uint32{}
		}
		more[name] = serial
	}
	return more
}
