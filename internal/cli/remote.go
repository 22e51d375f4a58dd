package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dnsteer/dnsteer/internal/api"
)

// remote is a controller that is asked over the network.
type remote struct{ url, tokenFile, caFile string }

// flags adds the flags, whose defaults are variables of the environment.
func (r *remote) flags(flags *pflag.FlagSet, lookup func(string) (string, bool)) {
	from := func(name string) string { v, _ := lookup(name); return v }
	flags.StringVar(&r.url, "url", from("DNSTEER_URL"), "ask the controller at this `URL` instead of by its socket; also $DNSTEER_URL. The token is in $DNSTEER_TOKEN or in --token-file")
	flags.StringVar(&r.tokenFile, "token-file", from("DNSTEER_TOKEN_FILE"), "the token for --url, in a `file`; also $DNSTEER_TOKEN_FILE")
	flags.StringVar(&r.caFile, "ca-file", from("DNSTEER_CA_FILE"), "whom to believe that the certificate of --url is right, PEM in a `file`; also $DNSTEER_CA_FILE")
}

// client makes the client.
func (r *remote) client(lookup func(string) (string, bool)) (*api.Client, error) {
	out := api.Remote{URL: r.url}
	out.Token, _ = lookup("DNSTEER_TOKEN")
	if r.tokenFile != "" {
		data, err := os.ReadFile(r.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		out.Token = string(data)
	}
	out.Token = strings.TrimSpace(out.Token)
	if strings.ContainsFunc(out.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, &exit{wrongUse, fmt.Errorf("the token holds what no header takes")}
	}
	if r.caFile != "" {
		pem, err := os.ReadFile(r.caFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the authority: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", r.caFile)
		}
		out.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	client, err := api.NewRemoteClient(out)
	if err != nil {
		return nil, &exit{wrongUse, err}
	}
	return client, nil
}
