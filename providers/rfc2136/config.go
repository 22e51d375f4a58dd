// Package rfc2136 pushes records to servers that take dynamic updates (RFC 2136).
package rfc2136

import (
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/outbound"
)

// Config is one zone of a server that takes dynamic updates (RFC 2136).
type Config struct {
	// Server is host:port.
	Server string
	// Zone in lower case without the final dot.
	Zone string
	// KeyName, Algorithm ("hmac-sha256", …) and Secret (the octets in base64)
	// sign what is sent (TSIG, RFC 8945); without a KeyName nothing is signed.
	KeyName, Algorithm string
	Secret             providers.Secret
	// Guard is held against what the name of the server leads to.
	Guard outbound.Guard
	// Mark, if not empty, is the instance's name: ownership then stands in TXT
	// records beside the names too ("_dnsteer.app.example.lan"), and outlives the
	// caller's journal.
	Mark string
}
