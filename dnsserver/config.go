package dnsserver

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Config is what the server needs to know. It is never changed once the server
// has it. Names are in lower case and without the final dot unless said
// otherwise.
type Config struct {
	// Listen lists the addresses that are served over UDP and TCP. A port of 0
	// takes a free one, the same for both. [::] serves IPv6 alone and stands
	// beside 0.0.0.0.
	Listen []netip.AddrPort
	Zones  []Zone
	// Views say which site a client belongs to.
	Views []View
	// DefaultSite is the site of clients that belong to none; "" where there
	// are no sites.
	DefaultSite string
	Services    []Service
	// AllowQuery lists who may ask; others get no answer. Empty means anybody.
	AllowQuery []netip.Prefix
	// QueryLog says which queries are logged.
	QueryLog QueryLog
	// Keys are those that messages may be signed with (TSIG).
	Keys []Key
	// RateLimit bounds answers to clients that are not private.
	RateLimit RateLimit
	// ServerID is told to those who ask for it by NSID (RFC 5001) or id.server (RFC
	// 4892), Version to those who ask for version.server; "" is told to nobody.
	ServerID, Version string
}

// Zone is one zone with its static records.
type Zone struct {
	Name string
	// Records hold exactly one SOA, at the apex, the apex NS set, and all else
	// that does not come from services. The SOA's serial is a lower bound: the
	// server raises it with every change (RFC 1982).
	Records []dns.RR
	// Transfer is nil where nobody may take the zone.
	Transfer *Transfer
	// Notify lists the servers that are told of changes.
	Notify []Secondary
	// DNSSEC is nil where the zone is not signed.
	DNSSEC *Signing
}

// View is a site as seen from clients' addresses. The longest matching prefix
// of all views decides; resolvers belong to the site as if they were /32 or
// /128 prefixes.
type View struct {
	Site      string
	Clients   []netip.Prefix
	Resolvers []netip.Addr
}

// Service is a set of host names with the pools that can answer them.
type Service struct {
	Hosts []string // "*.apps.example.lan" is a wildcard (RFC 4592)
	Pool  string
	// Sites in order: a client of another site is answered from the first of
	// them whose pool serves.
	Sites []ServiceSite
}

// ServiceSite is a service at one site, with its TTLs (rule A9).
type ServiceSite struct {
	Site         string
	TTL          time.Duration
	TTLUnsettled time.Duration
}
