package api

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Remote is a controller that is asked over the network.
type Remote struct {
	// URL of it, with its base path.
	URL string
	// Token is sent with each request; "" sends none. It never goes over a plain
	// connection, but for one on this machine.
	Token string
	// TLS says whom to believe; nil is as the system does.
	TLS *tls.Config
}

// NewRemoteClient makes a client; nothing is connected before it is used.
func NewRemoteClient(r Remote) (*Client, error) {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the URL of the controller cannot be read, expected one such as https://dnsteer.example.lan:8053")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("%s is no URL of a controller, expected one such as https://dnsteer.example.lan:8053", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s: give a token instead of a name and a password", u.Redacted())
	case u.Scheme == "http" && r.Token != "" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s: the token would be sent in the clear: use https", u.Redacted())
	}
	base := strings.TrimSuffix(u.String(), "/")
	transport := &http.Transport{TLSClientConfig: r.TLS, ForceAttemptHTTP2: true, DisableCompression: true}
	return &Client{
		where: base, base: base, token: r.Token,
		http: &http.Client{
			Transport: transport,
			// A redirect would take the token with it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
