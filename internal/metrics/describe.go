// Package metrics tells Prometheus how the controller and its sites fare. What is
// measured is read when it is asked for, so that a query or a decision costs no
// more because of it; only what passes by is counted on its way.
//
// All names begin with dnsteer_ and stand in one table ([Descriptions]), from
// which docs/metrics.md is made. Labels are names of the configuration and words
// of closed sets: never addresses of clients, and never texts of errors, so that
// their number is bounded.
package metrics

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Description is what is said of a metric.
type Description struct {
	Name   string
	Type   prometheus.ValueType
	Help   string
	Labels []string
}

// metric is a key of the table.
type metric int

const (
	buildInfo metric = iota
	startTime
	problems
	configOK
	configTime
	storeOK
	isolated
	brakeHolds
	siteReachable
	siteDown
	witnessSuccess
	nodeState
	nodeServes
	probeSuccess
	probeDuration
	probeFailures
	poolActive
	poolServes
	poolPaused
	events
	failovers
	dnsRequests
	dnsResponses
	dnsTook
	dnsDropped
	dnsConnections
	dnsLimited
	dnsDeferred
	dnsPanics
	zoneSerial
	zoneTransfers
	certificateEnds
)

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
	// histogram stands in descriptions alone.
	histogram = prometheus.UntypedValue
)

// table describes each metric.
func table() map[metric]Description {
	return map[metric]Description{
		buildInfo:       {"dnsteer_build_info", gauge, "1, with the version and the name of this controller as labels.", []string{"version", "instance"}},
		startTime:       {"dnsteer_start_time_seconds", gauge, "When the controller started, in seconds since 1970.", nil},
		problems:        {"dnsteer_problems", gauge, "How many things a person should look at, as `dnsteer status` lists them.", nil},
		configOK:        {"dnsteer_config_last_reload_successful", gauge, "1 if the configuration on the disk is in place, 0 if it was rejected.", nil},
		configTime:      {"dnsteer_config_last_reload_success_timestamp_seconds", gauge, "When the configuration in place was read.", nil},
		storeOK:         {"dnsteer_store_writable", gauge, "1 if the state can be stored.", nil},
		isolated:        {"dnsteer_controller_isolated", gauge, "1 while no site can be seen, so that no outage moves anything and nothing is sent to targets.", nil},
		brakeHolds:      {"dnsteer_brake_holds", gauge, "1 while the brake holds a mass failure.", nil},
		siteReachable:   {"dnsteer_site_reachable", gauge, "1 if the site's witness answers: only then its nodes can be taken out of DNS.", []string{"site"}},
		siteDown:        {"dnsteer_site_down", gauge, "1 if neither a witness nor a node of the site answers.", []string{"site"}},
		witnessSuccess:  {"dnsteer_witness_success", gauge, "1 if the last probe of the witness succeeded.", []string{"site", "witness"}},
		nodeState:       {"dnsteer_node_state", gauge, "1 for the state that the node is in, 0 for the others.", []string{"site", "node", "state"}},
		nodeServes:      {"dnsteer_node_answers", gauge, "1 if the node passes the probes that steer it.", []string{"site", "node"}},
		probeSuccess:    {"dnsteer_probe_success", gauge, "1 if the last probe succeeded.", []string{"site", "node", "family", "probe"}},
		probeDuration:   {"dnsteer_probe_duration_seconds", gauge, "How long the last probe took.", []string{"site", "node", "family", "probe"}},
		probeFailures:   {"dnsteer_probe_failures_total", counter, "Failed probes of nodes and witnesses, by reason.", []string{"site", "subject", "reason"}},
		poolActive:      {"dnsteer_pool_active", gauge, "1 for the node that an active_passive pool answers with, 0 for the others.", []string{"site", "pool", "node"}},
		poolServes:      {"dnsteer_pool_serves_itself", gauge, "1 if the pool is answered with nodes of its own; 0 for another site's, a last resort or nothing.", []string{"site", "pool"}},
		poolPaused:      {"dnsteer_pool_paused", gauge, "1 while an operator holds the pool.", []string{"site", "pool"}},
		events:          {"dnsteer_events_total", counter, "Events since the start, by kind.", []string{"kind", "severity"}},
		failovers:       {"dnsteer_failovers_total", counter, "Moves of answers since the start, by cause: outage, switch, failback or maintenance.", []string{"site", "cause"}},
		dnsRequests:     {"dnsteer_dns_requests_total", counter, "DNS messages that came in.", []string{"transport"}},
		dnsResponses:    {"dnsteer_dns_responses_total", counter, "DNS answers.", []string{"transport", "rcode"}},
		dnsTook:         {"dnsteer_dns_request_duration_seconds", histogram, "How long making a DNS answer took, its sending not included; one message in 64 is measured.", []string{"transport"}},
		dnsDropped:      {"dnsteer_dns_dropped_total", counter, "DNS messages that got no answer, by reason.", []string{"transport", "reason"}},
		dnsConnections:  {"dnsteer_dns_tcp_connections", gauge, "Open TCP connections of the DNS server.", nil},
		dnsLimited:      {"dnsteer_dns_rate_limited_total", counter, "DNS messages over the rate limit.", nil},
		dnsDeferred:     {"dnsteer_dns_deferred_total", counter, "DNS messages that were answered with TC because too much was to be signed at once.", nil},
		dnsPanics:       {"dnsteer_dns_panics_total", counter, "DNS messages that met a fault of dnsteer itself and were answered with SERVFAIL.", nil},
		zoneSerial:      {"dnsteer_zone_serial", gauge, "The serial number of a zone.", []string{"zone"}},
		zoneTransfers:   {"dnsteer_zone_transfers_total", counter, "Zones that were asked for, by how that ended: whole, changes, failed or refused.", []string{"result"}},
		certificateEnds: {"dnsteer_http_certificate_end_timestamp_seconds", gauge, "When the certificate of the HTTP listener ends.", nil},
	}
}

// The histogram of decisions, which is fed as they are made.
const (
	decisionName = "dnsteer_decision_delay_seconds"
	decisionHelp = "From when a change of answers was due, or its cause was known, until they were in place."
)

// Descriptions lists the metrics in the order of the documentation.
func Descriptions() []Description {
	t := table()
	list := make([]Description, 0, len(t))
	for m := range metric(len(t)) {
		list = append(list, t[m])
	}
	return append(list, besides()...)
}

// Reference gives docs/metrics.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(intro)
	row := func(name, kind, labels, help string) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, kind, labels, help)
	}
	b.WriteString("\n## All metrics\n\n| name | type | labels | meaning |\n|---|---|---|---|\n")
	for _, d := range Descriptions() {
		kind := "gauge"
		switch d.Type {
		case counter:
			kind = "counter"
		case gauge:
		case histogram:
			kind = "histogram"
		}
		row(d.Name, kind, strings.Join(d.Labels, ", "), d.Help)
	}
	row(decisionName, "histogram", "", decisionHelp)
	b.WriteString("\nBeside them stand `go_*` and `process_*`, which are those of every Go program.\n")
	return []byte(b.String())
}

// intro is what docs/metrics.md says before its table.
const intro = `# Metrics

Prometheus reads them at ` + "`/metrics`" + ` of the [HTTP listener](http.md). Made from the
program's own table. Times are in seconds since 1970, durations in seconds.

` + "```text" + `
scrape_configs:
  - job_name: dnsteer
    scheme: https
    authorization: {credentials_file: /etc/prometheus/dnsteer.token}
    static_configs: [{targets: ["dnsteer.example.lan:8053"]}]
` + "```" + `

[deploy/prometheus/dnsteer.rules.yml](../deploy/prometheus/dnsteer.rules.yml) has alert
rules, [deploy/grafana/dnsteer.json](../deploy/grafana/dnsteer.json) a dashboard. An alert
on ` + "`up == 0`" + ` is the one that dnsteer cannot raise by itself.
`
