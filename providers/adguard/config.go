package adguard

import (
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/outbound"
)

// Config is one AdGuard Home.
type Config struct {
	// URL of the server, with a path where it stands behind one: without
	// /control, user and query.
	URL      string
	Username string
	Password providers.Secret
	TLS      providers.TLS
	// Guard is held against what the name of the server leads to.
	Guard outbound.Guard
	// ManageTTL sets the TTL of the whole server to TTL.
	ManageTTL bool
	// TTL is the least that a service of the site asks for.
	TTL time.Duration
}
