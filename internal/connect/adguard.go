package connect

import (
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/adguard"
)

// adguards lists the servers of AdGuard Home of a target.
func adguards(t *config.Target) (list []Server) {
	for _, c := range t.AdGuard {
		list = append(list, Server{
			Name: c.URL, Config: c, Traits: (*adguard.Provider)(nil).Traits(),
			Login:   login{c.URL, c.Username, c.Password},
			Connect: func() (providers.Provider, error) { return made(adguard.New(c)) },
		})
	}
	return list
}
