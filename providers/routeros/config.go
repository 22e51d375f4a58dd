// Package routeros pushes records to routers of MikroTik over their binary API.
package routeros

import (
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/outbound"
)

// Config is one router.
type Config struct {
	// Address is host:port; 8729 speaks TLS, 8728 does not.
	Address  string
	Username string
	Password providers.Secret
	TLS      providers.TLS
	// Mark is the instance's name, which stands in the comment of every record
	// of ours: "managed-by=dnsteer/INSTANCE".
	Mark string
	// OldLogin answers the challenge of RouterOS before 6.43, for which the
	// password is offered first: over TLS, or where this is set.
	OldLogin bool
	// Guard is held against what the name of the router leads to.
	Guard outbound.Guard
}
