package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// reading is one answer to Prometheus.
type reading struct {
	set *Set
	ch  chan<- prometheus.Metric
}

func (r *reading) put(m metric, value float64, labels ...string) {
	kind := gauge
	switch m {
	case probeFailures, events, failovers, dnsRequests, dnsResponses, dnsDropped, dnsLimited, dnsDeferred, dnsPanics, zoneTransfers:
		kind = counter
	default:
	}
	one, err := prometheus.NewConstMetric(r.set.descs[m], kind, value, labels...)
	if err != nil { // a name that is no UTF-8: the others are still told
		one = prometheus.NewInvalidMetric(r.set.descs[m], err)
	}
	r.ch <- one
}

func (r *reading) flag(m metric, yes bool, labels ...string) {
	value := 0.0
	if yes {
		value = 1
	}
	r.put(m, value, labels...)
}

// took puts the times of one transport.
func (r *reading) took(t *dnsserver.Took, transport string) {
	buckets := make(map[float64]uint64, len(t.Within))
	for d, n := range t.Within {
		buckets[d.Seconds()] = n
	}
	one, err := prometheus.NewConstHistogram(r.set.descs[dnsTook], t.Count, t.Sum.Seconds(), buckets, transport)
	if err != nil {
		one = prometheus.NewInvalidMetric(r.set.descs[dnsTook], err)
	}
	r.ch <- one
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func (r *reading) controller(st *api.Status) {
	r.put(buildInfo, 1, st.Version, st.Instance)
	r.put(startTime, seconds(st.Started))
	r.put(problems, float64(len(st.Problems)))
	r.flag(configOK, st.Config.Error == "")
	r.put(configTime, seconds(st.Config.Loaded))
	r.flag(storeOK, st.Store.Error == "")
	r.flag(isolated, st.Isolated)
	r.flag(brakeHolds, st.Brake == "holds")
	if st.HTTP != nil && !st.HTTP.CertificateEnds.IsZero() {
		r.put(certificateEnds, seconds(st.HTTP.CertificateEnds))
	}
}

// words are the states that a node can be in.
func words() []sites.Word {
	return []sites.Word{
		sites.WordPending, sites.WordUp, sites.WordFailing, sites.WordOut, sites.WordRecovering, sites.WordReturning,
		sites.WordMaintenance, sites.WordDisabled,
	}
}

func (r *reading) site(s *sites.SiteView) {
	reachable := false
	for i := range s.Witnesses {
		w := &s.Witnesses[i]
		up := w.Outcome == sites.Up.String()
		reachable = reachable || up
		r.flag(witnessSuccess, up, s.Name, w.Name)
	}
	if len(s.Witnesses) > 0 {
		// Of those that must answer one may be silent, which the site says by itself.
		r.flag(siteReachable, reachable && !s.Unjudged, s.Name)
	}
	r.flag(siteDown, s.Condition == sites.SiteIsDown, s.Name)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, w := range words() {
			r.flag(nodeState, n.Word == w, s.Name, n.Name, string(w))
		}
		r.flag(nodeServes, n.Answers, s.Name, n.Name)
		for j := range n.Lines {
			l := &n.Lines[j]
			for k := range l.Checks {
				c := &l.Checks[k]
				if c.Outcome == sites.None.String() {
					continue
				}
				r.flag(probeSuccess, c.Outcome == sites.Up.String(), s.Name, n.Name, l.Family, c.Probe)
				r.put(probeDuration, c.Duration.Seconds(), s.Name, n.Name, l.Family, c.Probe)
			}
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		r.flag(poolServes, p.Serves == "own", s.Name, p.Name)
		r.flag(poolPaused, p.Paused != nil, s.Name, p.Name)
		if p.Active == "" {
			continue
		}
		for j := range s.Nodes {
			r.flag(poolActive, p.Active == s.Nodes[j].Name, s.Name, p.Name, s.Nodes[j].Name)
		}
	}
}

// counts tells what was counted, and forgets what is configured no more.
func (r *reading) counts(st *api.Status) {
	there := make(map[string]bool)
	for i := range st.Sites {
		v := &st.Sites[i]
		there[v.Name] = true
		for j := range v.Nodes {
			there[v.Name+"\x00"+v.Nodes[j].Name] = true
		}
		for j := range v.Witnesses {
			there[v.Name+"\x00"+v.Witnesses[j].Name] = true
		}
	}
	s := r.set
	s.mu.Lock()
	defer s.mu.Unlock()
	for f, n := range s.failures {
		if !there[f.site+"\x00"+f.subject] {
			delete(s.failures, f)
			continue
		}
		r.put(probeFailures, n, f.site, f.subject, f.reason)
	}
	for m := range s.failovers {
		if !there[m.site] {
			delete(s.failovers, m)
		}
	}
	// From the start, so that the first of a kind is seen to be one.
	for i := range st.Sites {
		for _, cause := range causes() {
			r.put(failovers, s.failovers[moved{st.Sites[i].Name, cause}], st.Sites[i].Name, cause)
		}
	}
	for _, k := range sites.Kinds() {
		r.put(events, s.events[k], string(k), string(k.Severity()))
	}
}

func (r *reading) dns(stats *dnsserver.Stats, st *api.DNSStatus) {
	limited, deferred, panics := uint64(0), uint64(0), uint64(0)
	for transport, t := range map[string]*dnsserver.Transport{"udp": &stats.UDP, "tcp": &stats.TCP} {
		r.put(dnsRequests, float64(t.Queries), transport)
		for rcode, n := range t.Responses {
			r.put(dnsResponses, float64(n), transport, rcode)
		}
		r.took(&t.Took, transport)
		for why, n := range t.Dropped {
			r.put(dnsDropped, float64(n), transport, why)
		}
		limited += t.Limited
		deferred += t.Deferred
		panics += t.Panics
	}
	r.put(dnsLimited, float64(limited))
	r.put(dnsDeferred, float64(deferred))
	r.put(dnsPanics, float64(panics))
	r.put(dnsConnections, float64(stats.Connections))
	for result, n := range map[string]uint64{
		"whole": stats.Transfers.Whole, "changes": stats.Transfers.Changes,
		"failed": stats.Transfers.Failed, "refused": stats.Transfers.Refused,
	} {
		r.put(zoneTransfers, float64(n), result)
	}
	if st != nil {
		for zone, serial := range st.Serials {
			r.put(zoneSerial, float64(serial), zone)
		}
	}
}
