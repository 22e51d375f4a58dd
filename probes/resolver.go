package probes

import "net/netip"

// Resolver asks a site's resolver a question that it answers by itself (O3).
type Resolver struct {
	// Ask is the name; "" means "localhost.". Type is "A" or "AAAA"; "" means A.
	Ask, Type string
	// Port; 0 means 53.
	Port int
	// Expect lists the addresses of which the answer must consist. Empty means
	// that any well-formed response to our question will do.
	Expect []netip.Addr
}
