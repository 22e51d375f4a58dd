package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
)

// beatEvery is how often the node behind a NAT reports.
const beatEvery = 5 * time.Second

// beat has a node report by itself, as one does that stands behind a NAT: nobody
// probes it. It is given before the demo starts.
func (n *node) beat() { n.token = rand.Text() }

// config is the node in the demo's configuration.
func (n *node) config() string {
	if n.token == "" {
		return fmt.Sprintf("      - {name: %s, addresses: [%s]}\n", n.name, n.addr.Addr())
	}
	return fmt.Sprintf("      - {name: %s, addresses: [%s], threshold: 30s, probes: [{type: heartbeat, every: %s, stale_after: 10s, token: %s}]}\n",
		n.name, n.addr.Addr(), beatEvery, n.token)
}

// beats reports for the nodes that do until ctx ends. A node that was stopped or
// cut off says nothing.
func (d *demo) beats(ctx context.Context) {
	client := &http.Client{Timeout: shortly, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		for _, n := range d.nodes {
			if n.token != "" && n.running() && n.site.lost() == nil {
				n.report(ctx, client, "http://"+d.web.String())
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// report sends what a node says of itself. A report that is lost is followed by
// the next.
func (n *node) report(ctx context.Context, client *http.Client, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+api.HeartbeatPath+n.site.name+"/"+n.name, strings.NewReader(`{"load": 0.3, "sessions": 4}`))
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+n.token)
	if res, err := client.Do(req); err == nil {
		_ = res.Body.Close()
	}
}
