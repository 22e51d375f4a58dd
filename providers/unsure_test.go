package providers

import (
	"net/netip"
	"testing"
)

// A push that was cut off would be told as somebody's hand, and its second half
// as that of another controller.
func TestWhatWasUnderWayIsNoDrift(t *testing.T) {
	a1, a2 := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("192.0.2.11")
	in := Input{
		Traits:  Traits{Marks: true, TTL: true},
		Desired: []Record{{Name: "app", Addr: a1}, {Name: "www", Addr: a1}},
		Last:    []Record{},
		Unsure:  []Key{Record{Name: "app", Addr: a1}.Key()},
		Listing: Listing{Entries: []Entry{
			{Record: Record{Name: "app", Addr: a2}, ID: "1", Marked: true},
			{Record: Record{Name: "www", Addr: a2}, ID: "2", Marked: true},
		}},
	}
	p := Make(in)
	if len(p.Drifts) != 1 || p.Drifts[0].Name != "www" || len(p.Changes) != 2 {
		t.Errorf("drift %v, changes %v", p.Drifts, p.Changes)
	}
}
