package config

import (
	"net/netip"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Config is a configuration that was checked and resolved: nothing is
// inherited any more. It is never changed once it was read.
type Config struct {
	// Instance is the controller's name in events and metrics, and the mark of what it
	// writes to routers.
	Instance string
	// StatePath is the folder of the store and of the control socket.
	StatePath string
	Sites     sites.Config
	// DNS is nil where the built-in server is left out.
	DNS *dnsserver.Config
	// Targets that sites are pushed to, in their order.
	Targets []Target
	// HTTP is nil where only the socket in the state folder is served.
	HTTP *HTTP
	// Alerts are never nil; without a channel or an action nobody is told.
	Alerts *alert.Config
	// Warnings in the order of their places.
	Warnings []Warning
	// Files that were read, zone files too, sorted: what is to be watched
	// (together with the folder, where it was one).
	Files []string
	// Stamps are how the files looked before each was read, by their names; nil for
	// what was read from memory.
	Stamps map[string]Stamp
	// Raw is everything that the configuration was read from ([Restore] takes
	// it), Hash its SHA-256 in hexadecimal. Raw holds the values of the
	// environment variables that were used.
	Raw  []byte
	Hash string

	probers map[sites.Subject][]probes.Prober
	beating []probes.Beating
	find    lookup
	// elsewhere has the sites that the built-in server does not publish.
	elsewhere map[string]bool
}

// Builtin says whether the built-in server publishes a site's answers.
func (c *Config) Builtin(site string) bool { return c.DNS != nil && !c.elsewhere[site] }

// Heartbeats lists the nodes that report by themselves, with their tokens.
func (c *Config) Heartbeats() []probes.Beating { return c.beating }

// Probers gives what is to be asked of a subject: in the order of
// [sites.Node.Probes] for a node, one for a witness, nil for a subject that is
// not in the configuration. The subject's address does not matter, so that a
// node's old address is probed as its new one is (rule A7).
func (c *Config) Probers(s sites.Subject) []probes.Prober {
	s.Addr = netip.Addr{}
	return c.probers[s]
}
