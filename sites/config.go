package sites

import (
	"net/netip"
	"time"
)

// Config is what the rules need to know of a configuration. It is never
// changed once a Machine has it. Every setting is resolved: nothing is
// inherited here, and zero values mean what they say.
type Config struct {
	Sites    []Site
	Services []Service
	Brake    Brake
}

// Brake says when so many nodes fail at once that the prober is the likeliest
// cause (A10). The zero Brake never holds anything.
type Brake struct {
	// Percent of all nodes with failover that must be exceeded, 0 for off.
	Percent int
	// Within is how far apart they may have begun to fail.
	Within time.Duration
}

// Site is a place with nodes, and with witnesses that prove that it is reached.
type Site struct {
	Name string
	// Local marks the site that the controller stands in (N5).
	Local bool
	// Nodes in order of priority.
	Nodes []Node
	// Pools; the first is "default" and holds every node.
	Pools []Pool
	// Witnesses prove that a line works (N2, N3). Empty with NoWitness false
	// is not a valid configuration.
	Witnesses []Witness
	// WitnessAll asks for every witness of a line to answer; otherwise one is
	// enough (`require: all`).
	WitnessAll bool
	// WitnessNodes adds "any other node of the site that answers" to the
	// witnesses.
	WitnessNodes bool
	// NoWitness gives E8 up (`witnesses: none`): threshold and two failures
	// decide.
	NoWitness bool
	// Threshold is how long witnesses must be silent before the site is asked
	// for as a whole (`site_threshold`, N3).
	Threshold time.Duration
	// Interval and Timeout are those of the witnesses' probes.
	Interval, Timeout time.Duration
	// EmergencySite names the site that steps in; "" for none (A4).
	EmergencySite string
	// FailoverAfter lets the emergency site step in for a site that alone has
	// been down that long; 0 holds it for ever (N5).
	FailoverAfter time.Duration
	// Windows of maintenance (C5).
	Windows []Window
	// TTL in quiet times and while a change is near (A9).
	TTL, TTLUnsettled time.Duration
}

// Node is one proxy of a site.
type Node struct {
	Name string
	// Addresses that are answered; the first of each family is probed (O2).
	Addresses []netip.Addr
	// Secondary addresses are answered beside the others and never probed (N9).
	Secondary []netip.Addr
	// Threshold: N1, N2. Grace: N6. Both may be 0.
	Threshold, Grace time.Duration
	// Rise is the number of successes in a row that O4 asks for, at least 1.
	Rise int
	// Interval and Timeout are those of the node's probes.
	Interval, Timeout time.Duration
	// Probes of the node, run together; their results arrive together.
	Probes []Probe
	// Require is how many of the steering probes must succeed; 0 means all (O2).
	Require int
	// Failover false: an outage never takes the node out (N9).
	Failover bool
	// Failback manual: an outage's end waits for the operator (N6, A2).
	Failback Failback
	// Weight is the node's share of a weighted pool's answers, relative to the
	// others' (A8).
	Weight int
	// Quarantine keeps a node out that fails again and again (N11).
	Quarantine Quarantine
}

// Quarantine lengthens the grace of a node that has gone out Outages times
// within Within to Hold (N11). The zero Quarantine is off.
type Quarantine struct {
	Outages      int
	Within, Hold time.Duration
}

// Failback says who puts a node back after an outage.
type Failback uint8

// The ways of a failback.
const (
	FailbackAuto Failback = iota
	FailbackManual
)

// Probe is one probe of a node, as far as the rules care.
type Probe struct {
	// Name is how people call it ("tcp", "http"); unique within its node.
	Name string
	// Key identifies its definition: a probe whose key changes is a new probe
	// (O2). Keys are compared within one node alone.
	Key string
	// Steer false: the probe is shown and alerted, and moves nothing.
	Steer bool
}

// Witness is one probe that proves a line.
type Witness struct {
	// Name is unique within the site, for example "resolver 10.1.0.1".
	Name string
	// Addr is what is asked; its family is the line that it proves.
	Addr netip.Addr
}

// Mode says how many nodes of a pool are answered.
type Mode uint8

// The modes of a pool.
const (
	ActiveActive  Mode = iota // every serving node (A1)
	ActivePassive             // one node (A2)
)

func (m Mode) String() string {
	if m == ActivePassive {
		return "active_passive"
	}
	return "active_active"
}

// OnEmpty says what a pool answers when nothing is left (A5).
type OnEmpty uint8

// What a pool answers when nothing is left.
const (
	OnEmptyKeep   OnEmpty = iota // what was last answered, or all that could be
	OnEmptyAnswer                // Pool.Sorry
	OnEmptyRemove                // nothing: the records are taken away
)

// Policy says how an active_active pool's answers are spread over its nodes
// (A8).
type Policy uint8

// The policies.
const (
	PolicyAll       Policy = iota // every node in every answer, rotated
	PolicyWeighted                // one node an answer, by weight
	PolicyIPHash                  // one node for each client network
	PolicyLeastLoad               // one node an answer, by the load that is reported
)

func (p Policy) String() string { return [...]string{"all", "weighted", "ip_hash", "least_load"}[p] }

// DefaultPool is the name of the pool that every site has.
const DefaultPool = "default"

// Pool is an ordered list of a site's nodes with a mode.
type Pool struct {
	Name    string
	Mode    Mode
	Nodes   []int // indices into Site.Nodes, in order of priority
	Policy  Policy
	OnEmpty OnEmpty
	Sorry   []netip.Addr  // what OnEmptyAnswer answers (A5)
	MinHold time.Duration // A2
	Guard   Guard
}

// Guard puts off moves that are not due to an outage while the nodes that would
// lose the traffic are busy (A11). The zero Guard puts nothing off.
type Guard struct {
	// BytesPerSecond that a node must stay under to be quiet.
	BytesPerSecond float64
	// Quiet is how long it must be.
	Quiet time.Duration
	// AtMost is how long a move is put off, whatever is carried; 0 for off.
	AtMost time.Duration
}

// Service is a set of host names that resolve to a pool of each of its sites.
type Service struct {
	// Hosts in lower case without the final dot; "*.apps.example.lan" is a
	// wildcard.
	Hosts []string
	Pool  string
	// Sites, all of which have the pool, in the configuration's order.
	Sites []string
	// TTL of the service; 0 means that of the site (A9).
	TTL time.Duration
}

// Schedule gives the next time after t at which a window begins. It is asked
// in local time written as UTC, so that a change of clocks neither drops nor
// doubles a window (C5). A cron.Schedule is one.
type Schedule interface {
	Next(t time.Time) time.Time
}

// Window is a recurring maintenance of nodes, or of a whole site.
type Window struct {
	// Nodes as indices into Site.Nodes; nil means the whole site.
	Nodes    []int
	Schedule Schedule
	Text     string // the schedule as written
	Duration time.Duration
	Location *time.Location
}

// Family is an address family. A line is a site seen over one of them.
type Family uint8

// The address families.
const (
	IPv4 Family = iota
	IPv6
	families = 2
)

func (f Family) String() string {
	if f == IPv6 {
		return "IPv6"
	}
	return "IPv4"
}

// FamilyOf gives the family of an address (an IPv4-mapped IPv6 address is IPv6,
// as it is in a configuration).
func FamilyOf(a netip.Addr) Family {
	if a.Is4() {
		return IPv4
	}
	return IPv6
}

// first gives the first of the node's addresses in the family (O2).
func (n *Node) first(f Family) (netip.Addr, bool) {
	for _, a := range n.Addresses {
		if FamilyOf(a) == f {
			return a, true
		}
	}
	return netip.Addr{}, false
}
