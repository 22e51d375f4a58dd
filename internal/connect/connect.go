// Package connect makes the providers of configured targets, in one place for
// the running controller and for what only looks. Nothing is dialled before a
// provider is used.
package connect

import (
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/rfc2136"
	"github.com/dnsteer/dnsteer/providers/routeros"
)

// Server is one server of a target.
type Server struct {
	// Name is host:port or the URL, without secrets.
	Name string
	// Traits are those of its kind.
	Traits providers.Traits
	// Connect makes the provider. It dials nothing; an error names what is wrong
	// with the configuration.
	Connect func() (providers.Provider, error)
	// Config is what Connect uses, a value: a server whose Config is another has
	// another provider.
	Config any
	// Login says who logs in where, comparable: servers that have the same share a
	// [providers.Circuit]. It is nil where nobody can be shut out.
	Login any
}

// login is a log-in at a server.
type login struct {
	at, user string
	password providers.Secret
}

// Servers lists the servers of a target, which all get the same.
func Servers(t *config.Target) []Server {
	switch {
	case t.RouterOS != nil:
		c := *t.RouterOS
		return []Server{{
			Name: c.Address, Config: c, Traits: routeros.Traits, Login: login{c.Address, c.Username, c.Password},
			Connect: func() (providers.Provider, error) { return made(routeros.New(c)) },
		}}
	case t.RFC2136 != nil:
		c := *t.RFC2136
		p := rfc2136.New(c)
		return []Server{{
			Name: c.Server + " " + c.Zone, Config: c, Traits: rfc2136.Traits,
			Connect: func() (providers.Provider, error) { return p, nil },
		}}
	}
	return adguards(t)
}

// made keeps a nil pointer from becoming a provider.
func made[P providers.Provider](p P, err error) (providers.Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}
