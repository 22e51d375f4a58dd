package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// What the sum of a failover adds to the configuration: the answers of the
// witnesses in the round of rule N2, and the time until the built-in server
// answers with a decision.
const (
	roundAnswers = time.Second
	publishing   = 5 * time.Millisecond
	// transferring is NOTIFY and IXFR, and the second that NSD waits between two
	// loads unless told otherwise.
	transferring = publishing + 1100*time.Millisecond
)

// Beyond is the sentence on what no server can shorten.
const Beyond = "No DNS server can shorten the rest: operating systems and browsers keep names for minutes on their own, and open connections stay where they are. Where seconds count, a VRRP pair at the site is the means."

// Sum is how long a failover takes at worst, from a node's failure.
type Sum struct {
	Site, Node string
	// Stale is how old the last report of a node that reports by itself may be.
	Stale time.Duration
	// Target is the one that takes longest; "" for the built-in server.
	Target string
	// Interval until the next probe starts, which is the first to fail.
	Interval time.Duration
	// Threshold is how long the node is failing, at least until that first
	// failure is known.
	Threshold time.Duration
	// Confirmation is the node's probe in the round of N2 with the witnesses'
	// answers around it.
	Confirmation time.Duration
	// Publish until the server answers with it, or until the target has all
	// records of the site.
	Publish time.Duration
	// TTL is what caches can still hold when the answer moves: TTLUnsettled, or
	// what is left of the quiet TTL since the second failure (A9); all of the
	// fixed TTL of a target.
	TTL time.Duration

	timeout, quiet, unsettled time.Duration
	push                      push
}

// Moved is the time from the failure to the changed answer.
func (s Sum) Moved() time.Duration {
	return s.Stale + s.Interval + s.Threshold + s.Confirmation + s.Publish
}

// Total is the time from the failure to empty caches.
func (s Sum) Total() time.Duration { return s.Moved() + s.TTL }

// WorstCase gives the sum of the site's node that takes longest, at the target
// that does; false where no outage ever moves an answer of the site.
func (c *Config) WorstCase(site string) (Sum, bool) {
	var worst Sum
	found := false
	s := c.siteNamed(site)
	if s == nil {
		return worst, false
	}
	quiet, pushes := c.quietTTL(s), c.pushes(s)
	for j := range s.Nodes {
		n := &s.Nodes[j]
		if !n.Failover || !judged(s, n) {
			continue
		}
		for _, p := range pushes {
			if sum := p.in(worstOf(s, n, c.stale(s, n), quiet)); !found || sum.Total() > worst.Total() {
				worst, found = sum, true
			}
		}
	}
	return worst, found
}

// quietTTL is the largest TTL that the site's names have in quiet times.
func (c *Config) quietTTL(s *sites.Site) time.Duration {
	var quiet time.Duration
	for _, svc := range c.servicesOf(s.Name) {
		quiet = max(quiet, ttlOf(svc, s))
	}
	if quiet == 0 {
		return s.TTL
	}
	return quiet
}

// stale gives how old the last report of a node may be that reports by itself.
func (c *Config) stale(s *sites.Site, n *sites.Node) (age time.Duration) {
	for i, p := range c.Probers(sites.Subject{Site: s.Name, Node: n.Name}) {
		if h, ok := p.(probes.Heartbeat); ok && n.Probes[i].Steer {
			age = max(age, h.StaleAfter)
		}
	}
	return age
}

func worstOf(s *sites.Site, n *sites.Node, stale, quiet time.Duration) Sum {
	sum := Sum{
		Site: s.Name, Node: n.Name, Stale: stale,
		Interval:     n.Interval,
		Threshold:    max(n.Threshold, n.Timeout),
		Confirmation: n.Timeout + roundAnswers,
		Publish:      publishing,
		timeout:      n.Timeout,
		quiet:        quiet,
		unsettled:    min(s.TTLUnsettled, quiet),
	}
	if s.NoWitness {
		// No round is asked for: two failures in a row and the threshold decide.
		sum.Threshold = max(n.Threshold, max(n.Interval, n.Timeout)+n.Timeout)
		sum.Confirmation = 0
	}
	// The second failure is known one interval and one timeout after the
	// first probe that failed began; from then on the TTL is the unsettled one.
	second := sum.Stale + sum.Interval + max(n.Interval, n.Timeout) + n.Timeout
	sum.TTL = max(sum.unsettled, quiet-max(0, sum.Moved()-second))
	return sum
}

// String gives the sum, one term a line.
func (s Sum) String() string {
	type term struct{ sign, amount, text string }
	var terms []term
	add := func(sign string, d time.Duration, text string) {
		terms = append(terms, term{sign, formatDuration(d.Round(time.Millisecond)), text})
	}
	first := " "
	if s.Stale > 0 {
		add(first, s.Stale, "until its last report is too old (stale_after)")
		first = "+"
	}
	add(first, s.Interval, "until the next probe starts, the first to fail (probe_interval)")
	add("+", s.Threshold, "failing before it may be taken out (threshold)")
	if s.Confirmation > 0 {
		add("+", s.Confirmation, fmt.Sprintf("confirmation: one more probe (probe_timeout %s), and the witness before and after it", formatDuration(s.timeout)))
	}
	add("+", s.Publish, s.push.text())
	add("=", s.Moved(), "from failure to changed answer, at most")
	add("+", s.TTL, s.ttlText())
	add("=", s.Total(), "from failure to empty caches, at most")
	width := 0
	for _, t := range terms {
		width = max(width, len(t.amount))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (worst case, node %s)\n", s.Site, s.Node)
	for _, t := range terms {
		fmt.Fprintf(&b, "  %s %*s  %s\n", t.sign, width, t.amount, t.text)
	}
	return b.String()
}

func (s Sum) ttlText() string {
	if s.Target != "" || s.push.secondaries {
		return s.push.ttlText()
	}
	if s.TTL > s.unsettled {
		return fmt.Sprintf("in caches: what is left of the TTL %s since the second failure", formatDuration(s.quiet))
	}
	return fmt.Sprintf("in caches: ttl_unsettled; the TTL %s of quiet times has run out by then", formatDuration(s.quiet))
}

// WorstCases gives the sums of all sites, with the sentence on what no server
// can shorten; "" where there are no sites.
func (c *Config) WorstCases() string {
	if len(c.Sites.Sites) == 0 {
		return ""
	}
	var b strings.Builder
	used := c.usage()
	for i := range c.Sites.Sites {
		s := &c.Sites.Sites[i]
		if len(c.Sites.Services) > 0 && !used.sites[s.Name] {
			fmt.Fprintf(&b, "%s\n  no service has this site: its nodes are never answered\n\n", s.Name)
			continue
		}
		sum, ok := c.WorstCase(s.Name)
		if ok {
			b.WriteString(sum.String())
		} else {
			fmt.Fprintf(&b, "%s\n  no outage of a node ever moves an answer here\n", s.Name)
		}
		b.WriteString(c.pushText(s, sum.Target))
		b.WriteString(c.lossText(s))
		b.WriteByte('\n')
	}
	return b.String() + Beyond + "\n"
}

// Summary counts what the configuration holds, in one line.
func (c *Config) Summary() string {
	nodes, pools, hosts := 0, 0, 0
	for i := range c.Sites.Sites {
		nodes += len(c.Sites.Sites[i].Nodes)
		pools += len(c.Sites.Sites[i].Pools)
	}
	for _, s := range c.Sites.Services {
		hosts += len(s.Hosts)
	}
	text := fmt.Sprintf("%s, %s, %s, %s of services", plural(len(c.Sites.Sites), "site"), plural(nodes, "node"), plural(pools, "pool"), plural(hosts, "host"))
	if n := len(c.Targets); n > 0 {
		text += ", " + plural(n, "target")
	}
	if c.DNS == nil {
		return text + ", no built-in DNS server"
	}
	var listen []string
	for _, l := range c.DNS.Listen {
		listen = append(listen, l.String())
	}
	return fmt.Sprintf("%s, %s on %s", text, plural(len(c.DNS.Zones), "zone"), strings.Join(listen, ", "))
}
