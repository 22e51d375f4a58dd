package connect

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/dnsteer/dnsteer/internal/config"
)

// Certified lists where a target's servers show their certificates, as HOST:PORT. A
// target without any is an error that says so.
func Certified(t *config.Target) (list []string, err error) {
	switch {
	case t.RFC2136 != nil:
		return nil, fmt.Errorf("%s takes updates over DNS, which have no certificate: its key (tsig) says who is right", t.Name)
	case t.RouterOS != nil:
		return []string{t.RouterOS.Address}, nil
	}
	for i := range t.AdGuard {
		u, err := url.Parse(t.AdGuard[i].URL)
		switch {
		case err != nil:
			return nil, err
		case u.Scheme != "https":
			continue
		case u.Port() == "":
			u.Host = strings.TrimSuffix(u.Host, ":") + ":443"
		}
		list = append(list, u.Host)
	}
	if list == nil {
		return nil, fmt.Errorf("no server of %s is spoken to over https://", t.Name)
	}
	return list, nil
}
