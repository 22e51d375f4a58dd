package adguard

import (
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Config is one AdGuard Home.
type Config struct {
	// URL of the server, with a path where it stands behind one: without
	// /control, user and query.
	URL      string
	Username string
	Password providers.Secret
	TLS      providers.TLS
	// ManageTTL sets the TTL of the whole server to TTL.
	ManageTTL bool
	// TTL is the least that a service of the site asks for.
	TTL time.Duration
}
