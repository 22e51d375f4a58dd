package config

import (
	"net/netip"
	"time"
)

// file is what stands in a configuration file, as it is written.
type file struct {
	At       Pos
	Instance Value[name]   `yaml:"instance" doc:"The controller's name in events and metrics, and the mark of what it writes to routers and, with ownership: txt, to zones." otherwise:"the host's name" example:"hq"`
	State    stateKeys     `yaml:"state" doc:"Where the controller keeps what must survive a restart."`
	DNS      *dnsKeys      `yaml:"dns" doc:"The built-in authoritative server."`
	Defaults settings      `yaml:"defaults" doc:"Settings of any site, pool or node, for all of them."`
	Sites    []siteKeys    `yaml:"sites" doc:"The places with nodes, each with a resolver of its own."`
	Services []serviceKeys `yaml:"services" doc:"Host names, and the pools that answer them."`

	Brake     brakeKeys   `yaml:"brake" doc:"What holds back moves when so many nodes in two or more sites fail at once that the prober is the likeliest cause: pools in which no node passes its probes are left alone. On unless off is written." otherwise:"on, with the defaults of its keys" rule:"A10"`
	AllowExec Value[bool] `yaml:"allow_exec" doc:"Whether probes of type exec may run programs of this machine, as the controller's user." default:"false" rule:"O2"`

	Targets []targetKeys `yaml:"targets" doc:"Devices and servers that sites' answers are pushed to."`
	Alerts  *alertKeys   `yaml:"alerts" doc:"Who is told of what, and how."`
	Actions []actionKeys `yaml:"actions" doc:"What is carried out on events." nonempty:"yes"`
	HTTP    *httpKeys    `yaml:"http" doc:"The listener of the API, the metrics and the health checks." otherwise:"only the socket in the state folder"`
}

type stateKeys struct {
	At   Pos
	Path Value[string] `yaml:"path" doc:"Folder of the embedded store and of the control socket. Relative to this file." nonempty:"yes" default:"/var/lib/dnsteer"`
}

// brakeKeys says when the prober is the likeliest cause (A10).
type brakeKeys struct {
	At     Pos
	Word   Value[string]        `yaml:"-" short:"yes" doc:"off" enum:"off"`
	Nodes  Value[percent]       `yaml:"nodes" doc:"The share of all nodes with failover that must be exceeded, from 1% to 99%. More than two nodes are needed in any case." default:"50%" rule:"A10"`
	Within Value[time.Duration] `yaml:"within" doc:"How far apart they may have begun to fail." default:"1m" min:"1s" max:"1d" rule:"A10"`
}

type dnsKeys struct {
	At          Pos
	Listen      []Value[netip.AddrPort] `yaml:"listen" doc:"Addresses that are served over UDP and TCP." required:"yes" nonempty:"yes" example:"[127.0.0.1:5353]"`
	DefaultSite Value[string]           `yaml:"default_site" doc:"Whose answers a client gets that belongs to no site." otherwise:"the first site" example:"berlin"`
	AllowQuery  List[Value[querier]]    `yaml:"allow_query" doc:"Who may ask; others get no answer. Prefixes, or \"any\" for a public server. A list replaces the default." nonempty:"yes" otherwise:"loopback, private and link-local ranges, the addresses that are listened on, every clients prefix and resolver" example:"[10.0.0.0/8]"`
	RateLimit   rateLimitKeys           `yaml:"rate_limit" doc:"How many answers over UDP the clients of one network (/24, /56 of IPv6) get, so that nobody floods others through this server by forged senders: off, or a mapping. Loopback, private and link-local clients are exempt, and those with a valid DNS cookie or signature (TSIG)." otherwise:"on, with the defaults of its keys"`
	QueryLog    *queryLogKeys           `yaml:"query_log" doc:"Logs some of the queries, without who asked." otherwise:"none is logged"`
	ServerID    Value[shown]            `yaml:"server_id" doc:"What is told of this server to those who ask for it by NSID or id.server, for telling several apart." otherwise:"nothing is told" example:"dns-a"`
	Version     Value[shown]            `yaml:"version" doc:"What is told to those who ask for version.bind or version.server." otherwise:"nothing is told" example:"none"`
	TSIGKeys    []tsigKeys              `yaml:"tsig_keys" doc:"Keys that secondaries and others sign their messages with (TSIG, RFC 8945)." nonempty:"yes"`
	Zones       []zoneKeys              `yaml:"zones" doc:"The zones that are served." required:"yes" nonempty:"yes"`
}

type zoneKeys struct {
	At         Pos
	Name       Value[domain]   `yaml:"name" doc:"The zone's name." required:"yes" example:"example.lan"`
	NS         []Value[host]   `yaml:"ns" doc:"Full names of the zone's name servers. Needed unless the file has NS records of its own." nonempty:"yes" example:"[ns1.example.lan]"`
	Hostmaster Value[mailbox]  `yaml:"hostmaster" doc:"Mail address for the SOA record. Needed unless the file has an SOA record of its own." example:"admin@example.lan"`
	File       Value[string]   `yaml:"file" doc:"The zone's other records in master-file form (RFC 1035). Relative to this file; $INCLUDE reaches only files in the same folder and below." example:"zones/example.lan.zone"`
	Records    []Value[string] `yaml:"records" doc:"Further records, one in each entry, as in a master file." example:"[\"ns1 300 IN A 10.0.0.53\"]"`

	DNSSEC   *dnssecKeys             `yaml:"dnssec" doc:"Signs the zone's answers when it is asked (DNSSEC): on, or a mapping. The parent zone must then hold the DS record that \"dnsteer dnssec ds\" prints. Secondaries cannot take a signed zone." otherwise:"the zone is not signed"`
	Transfer *transferKeys           `yaml:"transfer" doc:"Who may take the zone as a whole (AXFR) and its changes (IXFR): secondaries, which carry the load and go on answering when this server is gone. They get the answers of one site."`
	Notify   List[Value[notifyKeys]] `yaml:"notify" doc:"Secondaries that are told at once when something changes (NOTIFY): an address, a list of them, or a mapping." nonempty:"yes" example:"[10.1.0.54]"`
}

// nodeSettings are the settings of nodes that sites and defaults may give.
type nodeSettings struct {
	Threshold     Value[time.Duration] `yaml:"threshold" doc:"How long a node must be unreachable before it is taken out." default:"30s" rule:"N1, N2"`
	Grace         Value[time.Duration] `yaml:"grace" doc:"How long a node must answer again before it comes back by itself. Values that fit: 60s for a container, 3m for a virtual machine, 10m for a hypervisor, 15m for a NAS, 30m for a Windows server." default:"5m" rule:"N6"`
	Rise          Value[int]           `yaml:"rise" doc:"Successes in a row before it is believed that a failing node answers again." default:"2" min:"1" max:"100" rule:"O4"`
	Failback      Value[string]        `yaml:"failback" doc:"Who puts a node back after an outage: its grace, or the operator." enum:"auto|manual" default:"auto" rule:"N6, A2, C1"`
	Probes        []probeKeys          `yaml:"probes" doc:"What is asked of a node." nonempty:"yes" default:"[{type: tcp, port: 443}]" rule:"O2"`
	Require       Value[quorum]        `yaml:"require" doc:"How many of the steering probes must succeed: all, any or a number." default:"all" rule:"O2"`
	ProbeInterval Value[time.Duration] `yaml:"probe_interval" doc:"From the start of one probe to the start of the next. A site's witnesses use the site's." default:"5s" min:"100ms" max:"1h" rule:"O2"`
	ProbeTimeout  Value[time.Duration] `yaml:"probe_timeout" doc:"How long an answer may take. A site's witnesses use the site's." default:"2s" min:"10ms" max:"1m" rule:"O2"`

	Quarantine Value[quarantineKeys] `yaml:"quarantine" doc:"Keeps a node out that goes out again and again: off, or a mapping." default:"off" rule:"N11"`
}

// quarantineKeys says how often is too often (N11). All keys are needed: a
// mapping on a node replaces that of its site as a whole.
type quarantineKeys struct {
	Word    Value[string]        `yaml:"-" short:"yes" doc:"off" enum:"off"`
	Outages Value[int]           `yaml:"outages" doc:"The outage that begins the quarantine, counted from the first." required:"yes" min:"1" max:"100" rule:"N11" example:"3"`
	Within  Value[time.Duration] `yaml:"within" doc:"The time in which they must lie." required:"yes" min:"1s" rule:"N11" example:"24h"`
	Hold    Value[time.Duration] `yaml:"hold" doc:"How long the node must then answer before it comes back, in place of its grace." required:"yes" min:"1s" rule:"N11" example:"6h"`
}

// poolSettings are the settings of pools that sites and defaults may give. On
// a site they are those of its pool "default" too.
type poolSettings struct {
	Mode    Value[string]            `yaml:"mode" doc:"active_active answers every serving node, active_passive one." enum:"active_active|active_passive" default:"active_active" rule:"A1, A2"`
	Policy  Value[string]            `yaml:"policy" doc:"What of an active_active pool is answered: all nodes, rotated; weighted, one node an answer by the nodes' weights; ip_hash, one node for each network that asks (/24, /56 of IPv6), the same while it serves. All clients of one resolver ask from its network; least_load, one node an answer in inverse proportion to the load that its probes report (haproxy, heartbeat). Pools of mode active_passive do not inherit it." enum:"all|weighted|ip_hash|least_load" default:"all" rule:"A8"`
	MinHold Value[time.Duration]     `yaml:"min_hold" doc:"How long the active node of an active_passive pool stays before a better one takes over again." default:"0s" rule:"A2"`
	Guard   Value[guardKeys]         `yaml:"guard" doc:"Puts off a failback, and the return from an emergency site, while the nodes that would lose the traffic are busy: off, or a mapping. It never holds an outage's move." default:"off" rule:"A11"`
	OnEmpty List[Value[emptyAnswer]] `yaml:"on_empty" doc:"What is answered when nothing is left: keep answers the last resort, remove takes the records away, addresses are answered (of a page that says sorry)." nonempty:"yes" default:"keep" rule:"A5" example:"[10.9.0.1]"`
}

// siteSettings are the settings of sites that defaults may give.
type siteSettings struct {
	TTL           Value[time.Duration] `yaml:"ttl" doc:"TTL of the site's answers in quiet times, in whole seconds." default:"30s" whole:"1s" min:"1s" max:"1h" rule:"A9"`
	TTLUnsettled  Value[time.Duration] `yaml:"ttl_unsettled" doc:"TTL while a change is near, in whole seconds." default:"5s" whole:"1s" min:"1s" max:"1h" rule:"A9"`
	Witnesses     *witnessesKeys       `yaml:"witnesses" doc:"What proves that the line to the site works: resolver, none (gives that proof up), or a mapping." default:"resolver" rule:"N2, N3"`
	SiteThreshold Value[time.Duration] `yaml:"site_threshold" doc:"How long all witnesses must be silent before the site is looked at as a whole." default:"10s" min:"100ms" rule:"N3"`
	OnSiteDown    Value[siteDown]      `yaml:"on_site_down" doc:"What happens to a site that cannot be seen: hold leaves its answers alone; a mapping lets its emergency site step in. From the defaults it reaches the sites that have an emergency site." default:"hold" rule:"N5"`
}

// siteDown is the value of on_site_down.
type siteDown struct {
	Word  Value[string]        `yaml:"-" short:"yes" doc:"hold" enum:"hold"`
	After Value[time.Duration] `yaml:"failover_after" doc:"The emergency site steps in when this site alone has been down that long while a witness of another site, not of a local one, answered throughout. It gives up for this site that only proven outages move an answer." required:"yes" min:"1s" rule:"N5" example:"10m"`
}

// settings are all that may be given once for all.
type settings struct {
	At           Pos
	nodeSettings `yaml:",inline"`
	poolSettings `yaml:",inline"`
	siteSettings `yaml:",inline"`
}

type siteKeys struct {
	At           Pos
	Name         Value[name]               `yaml:"name" doc:"The site's name." required:"yes" example:"berlin"`
	Local        Value[bool]               `yaml:"local" doc:"The controller stands in this site." default:"false" rule:"N5"`
	Resolver     List[Value[resolverKeys]] `yaml:"resolver" doc:"The site's DNS resolver, the witness of its line: an address (port 53 unless it says otherwise), a list of them, or a mapping. Its addresses belong to the site's clients by themselves." nonempty:"yes" rule:"O3" example:"10.1.0.1"`
	Clients      List[Value[netip.Prefix]] `yaml:"clients" doc:"Whose questions get this site's answers; the longest matching prefix of all sites decides." example:"[10.1.0.0/16, \"fd00:1::/48\"]"`
	Emergency    Value[string]             `yaml:"emergency_site" doc:"The site whose nodes step in when this one has none left." rule:"A4" example:"hamburg"`
	Nodes        []nodeKeys                `yaml:"nodes" doc:"The site's nodes in order of priority." required:"yes" nonempty:"yes"`
	Pools        []poolKeys                `yaml:"pools" doc:"Further orders and modes over the same nodes. Every site has the pool \"default\" of all its nodes."`
	Maintenance  []windowKeys              `yaml:"maintenance" doc:"Recurring maintenance windows." rule:"C5"`
	Targets      List[Value[string]]       `yaml:"targets" doc:"Where the site's answers are published: builtin, and names of targets. A target belongs to one site." nonempty:"yes" default:"[builtin]" example:"[builtin, router-berlin]"`
	nodeSettings `yaml:",inline"`
	poolSettings `yaml:",inline"`
	siteSettings `yaml:",inline"`
}

type nodeKeys struct {
	At           Pos
	Name         Value[name]             `yaml:"name" doc:"The node's name, unique in its site." required:"yes" example:"a"`
	Addresses    List[Value[netip.Addr]] `yaml:"addresses" doc:"Addresses that are answered; the first of each family is probed." required:"yes" nonempty:"yes" rule:"O2" example:"[10.1.0.11, \"fd00:1::11\"]"`
	Secondary    List[Value[netip.Addr]] `yaml:"secondary_addresses" doc:"Addresses that are answered beside the others and never probed." rule:"N9" example:"[10.1.0.21]"`
	Failover     Value[bool]             `yaml:"failover" doc:"false: an outage never takes the node out and is only reported (a VRRP pair)." default:"true" rule:"N9"`
	Weight       Value[int]              `yaml:"weight" doc:"The node's share of the answers of pools with the policy weighted, ip_hash or least_load, relative to the other nodes' weights; 0 keeps it for when no node with a weight serves." default:"1" min:"0" max:"1000" rule:"A8" example:"2"`
	MAC          Value[macText]          `yaml:"mac" doc:"Hardware address, for actions that wake the node up." example:"\"52:54:00:12:34:56\""`
	nodeSettings `yaml:",inline"`
}

type poolKeys struct {
	At           Pos
	Name         Value[name]     `yaml:"name" doc:"The pool's name, unique in its site." required:"yes" example:"streaming"`
	Nodes        []Value[string] `yaml:"nodes" doc:"Names of the site's nodes, in the pool's order." required:"yes" nonempty:"yes" example:"[b, a]"`
	poolSettings `yaml:",inline"`
}

type windowKeys struct {
	At       Pos
	Nodes    []Value[string]      `yaml:"nodes" doc:"The nodes that are taken out." nonempty:"yes" otherwise:"the whole site" example:"[b]"`
	Schedule Value[cronText]      `yaml:"schedule" doc:"When the window begins: minute, hour, day of month, month, day of week." required:"yes" example:"\"0 3 * * SUN\""`
	Duration Value[time.Duration] `yaml:"duration" doc:"How long it lasts." required:"yes" min:"1s" max:"30d" example:"2h"`
	Timezone Value[location]      `yaml:"timezone" doc:"Where the schedule's clock hangs: a name of the time zone database, UTC, or Local for the controller's own." default:"UTC" example:"Europe/Berlin"`
}

type serviceKeys struct {
	At    Pos
	Hosts List[Value[hosts]]   `yaml:"hosts" doc:"Host names; \"*.\" in front makes a wildcard." required:"yes" nonempty:"yes" example:"[app.example.lan, \"*.apps.example.lan\"]"`
	Pool  Value[string]        `yaml:"pool" doc:"The pool that answers." default:"default" example:"streaming"`
	Sites List[Value[string]]  `yaml:"sites" doc:"The sites that have the service. A client of another site is answered from the first of them whose pool serves." nonempty:"yes" otherwise:"all that have the pool" example:"[berlin, hamburg]"`
	TTL   Value[time.Duration] `yaml:"ttl" doc:"TTL of the service in quiet times, in place of the sites'." whole:"1s" min:"1s" max:"1h" otherwise:"the site's" rule:"A9" example:"15s"`
}
