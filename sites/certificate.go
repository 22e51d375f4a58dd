package sites

import (
	"fmt"
	"slices"
	"time"
)

// Causes of a check that go by the wall clock alone, so that they say nothing
// while that cannot be right (O6).
const (
	CauseTLSExpired  = "tls_expired"
	CauseTLSNotYet   = "tls_not_yet_valid"
	CauseTLSExpiring = "tls_expiring"
)

// timed says whether a check failed by a certificate's time.
func timed(c Check) bool {
	return c.Outcome == Down && (c.Cause == CauseTLSExpired || c.Cause == CauseTLSNotYet || c.Cause == CauseTLSExpiring)
}

// distrust makes what was judged by a wall clock that cannot be right unknown
// (O6).
func distrust(res *Result) {
	if !slices.ContainsFunc(res.Checks, timed) {
		return
	}
	res.Checks = slices.Clone(res.Checks)
	for i := range res.Checks {
		if c := &res.Checks[i]; timed(*c) {
			c.Outcome = Unknown
			c.Text += " by the wall clock of this machine, which cannot be right"
		}
	}
}

const day = 24 * time.Hour

// SavedCertificate remembers the last certificate of which a probe has told
// that it ends. It is never changed.
type SavedCertificate struct {
	// Expires identifies the certificate.
	Expires time.Time `json:"expires"`
	// Said is how many of the times before its end have been told.
	Said int `json:"said"`
	// Event is the last event that said so; 0 when another certificate has
	// taken its place since.
	Event uint64 `json:"event,omitempty"`
}

// certificate follows the certificate that a probe was shown: 21, 7 and 1 days
// before its end it is told, once for a node's certificate whatever the number
// of probes and lines that see it; a later certificate in its place resolves
// that. A certificate that was told and comes back in turn with a later one, as
// behind a load balancer, is not told again.
func (m *Machine) certificate(l *line, i int, c *Check) (changed bool) {
	if m.now.Suspect {
		return false
	}
	n, key := l.node, l.node.cfg.Probes[i].Key
	stage, mem := expiryStage(c.Expires.Sub(m.now.Wall)), SavedCertificate{}
	if p := l.Probes[key].Certificate; p != nil {
		mem = *p
	}
	was := mem
	if !mem.Expires.Equal(c.Expires) {
		if mem.Event != 0 && c.Expires.After(mem.Expires) {
			event := mem.Event
			mem.Event = 0
			l.keepCertificate(key, mem)
			if !n.tells(event) {
				m.node(n, Event{Kind: CertificateRenewed, Resolves: event, Text: m.renewedText(l, i, c)})
			}
		}
		if stage > 0 {
			mem.Expires, mem.Said = c.Expires, 0
		}
	}
	if stage > mem.Said {
		said, event := n.told(c.Expires)
		if said < stage {
			said, event = stage, m.node(n, Event{Kind: CertificateExpiring, Resolves: max(event, mem.Event), Text: m.expiringText(l, i, c)})
			n.eachCertificate(func(l *line, key string, c *SavedCertificate) {
				if c.Expires.Equal(mem.Expires) {
					l.keepCertificate(key, SavedCertificate{c.Expires, said, event})
				}
			})
		}
		mem.Said, mem.Event = said, event
	}
	if mem == was {
		return false
	}
	l.keepCertificate(key, mem)
	m.changed(n.site)
	return true
}

// expiryStage gives how many of the warnings are due with so much time left.
func expiryStage(left time.Duration) (stage int) {
	for _, warning := range [...]time.Duration{21 * day, 7 * day, day} {
		if left <= warning {
			stage++
		}
	}
	return stage
}

func (l *line) keepCertificate(key string, c SavedCertificate) {
	if l.Probes == nil {
		l.Probes = make(map[string]SavedProbe, len(l.checks))
	}
	mem := l.Probes[key]
	mem.Certificate = &c
	l.Probes[key] = mem
}

// told gives how far any probe of the node has told the end of a certificate,
// and by which event.
func (n *node) told(expires time.Time) (said int, event uint64) {
	n.eachCertificate(func(_ *line, _ string, c *SavedCertificate) {
		if c.Expires.Equal(expires) && c.Said > said {
			said, event = c.Said, c.Event
		}
	})
	return said, event
}

// tells says whether a probe of the node still sees the certificate of an
// event.
func (n *node) tells(event uint64) (yes bool) {
	n.eachCertificate(func(_ *line, _ string, c *SavedCertificate) { yes = yes || c.Event == event })
	return yes
}

func (n *node) eachCertificate(f func(l *line, key string, c *SavedCertificate)) {
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		for key, p := range l.Probes {
			if p.Certificate != nil {
				f(l, key, p.Certificate)
			}
		}
	}
}

func (m *Machine) expiringText(l *line, i int, c *Check) string {
	left := c.Expires.Sub(m.now.Wall)
	when := "expires in " + daysOf(left)
	if left <= 0 {
		when = "expired " + daysOf(-left) + " ago"
	}
	return fmt.Sprintf("The certificate of %s %s, at %s (seen by the probe %q). A new one ends this.",
		l.name(), when, c.Expires.UTC().Format(time.RFC3339), l.node.cfg.Probes[i].Name)
}

func (m *Machine) renewedText(l *line, i int, c *Check) string {
	return fmt.Sprintf("%s has a new certificate: it is valid for another %s, until %s (seen by the probe %q).",
		l.name(), daysOf(c.Expires.Sub(m.now.Wall)), c.Expires.UTC().Format(time.RFC3339), l.node.cfg.Probes[i].Name)
}

// daysOf writes a time as whole days, where it has more than two.
func daysOf(d time.Duration) string {
	if d < 2*day {
		return dur(d)
	}
	return fmt.Sprintf("%d days", d/day)
}
