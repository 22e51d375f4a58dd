package routeros

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	lib "github.com/go-routeros/routeros/v3"

	"github.com/dnsteer/dnsteer/providers"
)

// Traits of a router: records bear a mark and a TTL, and can be disabled.
var Traits = providers.Traits{Marks: true, TTL: true, Disable: true}

// limits are the longest that something may take.
type limits struct {
	connect time.Duration // with the login
	request time.Duration
	print   time.Duration
	ping    time.Duration // to show that a session that was idle is still there
	idle    time.Duration // after which it has to
}

// Provider is one router; it implements [providers.Provider]. It keeps one
// session, for each login stands in the router's log, and makes one request at a
// time.
type Provider struct {
	config  Config
	tls     *tls.Config // nil without TLS
	mark    string
	limits  limits
	turn    chan struct{} // holds one token: whose turn it is
	session *session      // nil for none
	last    listing       // what Apply and Inspect go by
	full    fullPrint     // the last that was read without a query
}

var _ providers.Provider = (*Provider)(nil)

// New gives the router that a configuration describes, without a word to it. An
// error names what is wrong with the configuration.
func New(c Config) (*Provider, error) {
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return nil, fmt.Errorf("the address of the router, %q, is not HOST:PORT: %w", c.Address, err)
	}
	config, err := c.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("TLS of the router %s: %w", c.Address, err)
	}
	if config != nil && config.ServerName == "" {
		config.ServerName = host
	}
	if c.Mark == "" {
		return nil, errors.New("no mark is set for what is ours at the router " + c.Address)
	}
	return &Provider{
		config: c, tls: config, mark: markOf(c.Mark), turn: make(chan struct{}, 1),
		limits: limits{connect: 10 * time.Second, request: 10 * time.Second, print: time.Minute, ping: 3 * time.Second, idle: 30 * time.Second},
	}, nil
}

// begin waits for the turn, and ends a session that is dead.
func (p *Provider) begin(ctx context.Context) (end func(), err error) {
	select {
	case p.turn <- struct{}{}:
		p.probe(ctx)
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("another request is under way: %w", context.Cause(ctx))
	}
}

// Close ends the session.
func (p *Provider) Close() error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.drop()
	return nil
}

// print reads rows of a menu.
func (p *Provider) print(ctx context.Context, menu string, words ...string) (*lib.Reply, error) {
	words = append([]string{menu + "/print"}, words...)
	return p.do(ctx, request{words, p.limits.print, maxPrint}, true)
}

// write changes something.
func (p *Provider) write(ctx context.Context, words ...string) error {
	_, err := p.do(ctx, request{words, p.limits.request, maxReply}, false)
	return err
}

// Wake has the router send a magic packet to a MAC address, on one of its
// interfaces ("" for the router's choice).
func (p *Provider) Wake(ctx context.Context, mac net.HardwareAddr, on string) error {
	end, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	words := []string{"/tool/wol", "=mac=" + strings.ToUpper(mac.String())}
	if on != "" {
		words = append(words, "=interface="+on)
	}
	return p.explain("wake "+mac.String(), p.write(ctx, words...))
}
