package alert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/sites"
)

// The subject of a large outage would name other nodes each time, in the order in
// which probes happened to end.
func TestSubjectOfManyNodes(t *testing.T) {
	var list []told
	for i := range 196 {
		n := (i*89)%196 + 1 // in no order
		list = append(list, told{Event: sites.Event{Kind: sites.FailoverOutage, Site: "berlin", Node: fmt.Sprintf("n%d", n)}})
	}
	got := subject(list)
	if !strings.Contains(got, "196 nodes (berlin/n1, berlin/n2") {
		t.Errorf("%q", got)
	}
}
