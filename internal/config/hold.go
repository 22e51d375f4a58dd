package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// percent is a share that can be exceeded: 1 to 99.
type percent int

func (p *percent) form() form { return form{name: "percentage", pattern: `^[1-9][0-9]? ?%$`} }

func (p *percent) UnmarshalText(text []byte) error {
	digits, ok := strings.CutSuffix(string(text), "%")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	switch {
	case err == nil && !ok && 1 <= n && n <= 99:
		return expected("a percentage with its sign: write " + strconv.Itoa(n) + "%")
	case err != nil || !ok || n < 1 || n > 99:
		return expected("a percentage from 1% to 99%")
	}
	*p = percent(n)
	return nil
}

// doubtTop warns of what stands at the top.
func (b *builder) doubtTop() {
	if word := b.file.Brake.Word; word.Set {
		b.warn(word.At, "the brake is off: a fault of the prober (a firewall rule, a wrong path, a clock) that makes the nodes of all sites fail at once takes all of them out")
	}
	if allow := b.file.AllowExec; allow.V {
		b.warn(allow.At, "allow_exec lets whoever may change this configuration run programs as the controller's user")
	}
}

// doubtQuarantine warns of a quarantine that changes nothing.
func (b *builder) doubtQuarantine(k *siteKeys, n *nodeKeys, s *sites.Site, node *sites.Node) {
	q := node.Quarantine
	if q.Outages == 0 {
		return
	}
	keys := first(n.Quarantine, k.Quarantine, b.file.Defaults.Quarantine).V
	// Between two outages lie a grace and a threshold.
	least := time.Duration(q.Outages-1) * (node.Grace + node.Threshold)
	switch {
	case !node.Failover && n.Quarantine.Set:
		b.warn(n.Quarantine.At, "the quarantine of node %s/%s has no effect: with \"failover: false\" no outage takes it out", s.Name, node.Name)
	case !node.Failover:
	case q.Hold <= node.Grace:
		b.warn(keys.Hold.At, "the quarantine's hold %s is not over the grace %s of node %s/%s: it has no effect", formatDuration(q.Hold), formatDuration(node.Grace), s.Name, node.Name)
	case least > q.Within:
		b.warn(keys.Within.At, "the quarantine of node %s/%s hardly ever begins: %d outages with a grace of %s and a threshold of %s between them take %s, expected at least that", s.Name, node.Name, q.Outages, formatDuration(node.Grace), formatDuration(node.Threshold), formatDuration(least))
	}
}
