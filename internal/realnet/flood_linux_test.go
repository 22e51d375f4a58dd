package realnet

import "testing"

// If this fails, whoever floods the DNS server keeps the controller from taking a dead
// node out, or from answering anybody afterwards. It runs alone: the flood takes what
// processor there is.
func TestFloodHoldsNoDecisionUp(t *testing.T) {
	u := newUsual(t, page)
	after := u.Last()
	const taken = `dnsteer_dns_requests_total{transport="udp"}`
	before := u.Metrics()[taken]
	flood := u.Site("hamburg").Flood("example.lan")
	back := u.Node("hamburg/a").refuse()
	u.Await(after, "node_offline hamburg/a", "failover_outage hamburg/a")
	asked := u.Metrics()[taken] - before
	sent := flood()
	u.hamburg.Await("10.2.0.12")
	u.pushed("10.2.0.12")
	back()
	u.Await(after, "failover_outage hamburg/a", "failover_failback hamburg/a")
	u.hamburg.Await("10.2.0.11", "10.2.0.12")
	u.Acquainted()
	t.Logf("%d questions were sent, %.0f were taken until the outage", sent, asked)
	if asked < 1000 || float64(sent) < asked {
		t.Errorf("it was no flood: %d questions were sent, and %.0f taken until the outage", sent, asked)
	}
	u.always()
}
