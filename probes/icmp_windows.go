package probes

import (
	"errors"

	"github.com/dnsteer/dnsteer/sites"
)

// tryICMP knows that Windows has one kind of socket for echo requests, which it
// gives to everybody.
func tryICMP(_ sites.Family, m ICMPMode) error {
	if m == ICMPUnprivileged {
		return errors.ErrUnsupported
	}
	return nil
}
