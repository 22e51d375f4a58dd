package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/sites"
)

// Status gives everything that is known now ([api.Reader]).
func (a *App) Status(ctx context.Context) (api.Status, error) {
	st, cfg, err := a.viewed(ctx)
	if err != nil {
		return api.Status{}, err
	}
	st.Instance, st.Config.Hash, st.Config.Warnings = cfg.Instance, cfg.Hash, warnings(cfg)
	st.Version, st.Started = version.Version, a.started
	st.Config.Path, st.Config.Loaded, st.Config.Error = a.status.get()
	st.Store.Path = a.statedir
	if err := a.keeper.failure(); err != nil {
		st.Store.Error = err.Error()
	}
	st.DNS = a.names.status()
	st.HTTP = a.webStatus(cfg)
	st.Alerts = summary(a.alerts.Status())
	st.Resolved = a.seen.views()
	st.Problems = append(problems(&st), a.names.absent()...)
	st.Critical = critical(&cfg.Sites, &st, a.last(ctx))
	return st, nil
}

// status tells of the DNS server; nil if there is none.
func (n *names) status() *api.DNSStatus {
	s := n.get()
	if s == nil {
		return nil
	}
	stats := s.Stats()
	st := &api.DNSStatus{Serials: s.Serials(), Queries: stats.UDP.Queries + stats.TCP.Queries, Unmatched: stats.Unmatched}
	for _, addr := range s.Addrs() {
		st.Listen = append(st.Listen, addr.String())
	}
	for _, x := range stats.Strangers {
		st.Strangers = append(st.Strangers, fmt.Sprintf("%s (%d)", x.Addr, x.Count))
	}
	namesStatus(st, &stats)
	return st
}

// brakeText tells of a mass failure (A10).
const brakeText = "The brake holds: many nodes began to fail at once while their sites' resolvers answer, so the likeliest cause is the prober itself " +
	"(a firewall rule, a wrong path, a certificate, a clock). Pools in which no node passes its probes are left alone. " +
	"If it is the nodes that fail, `dnsteer release` ends that."

// isolatedText tells of isolation (N4).
const isolatedText = "The controller is cut off. No outage moves anything, and nothing is sent to targets by itself, until it sees a site again."

// problems lists what a person should look at first, worst first.
func problems(st *api.Status) []string {
	list := []string{}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if st.Brake == "holds" {
		add(brakeText)
	}
	if st.Isolated {
		add(isolatedText)
	}
	worst, middling, minor := siteProblems(st)
	list = append(list, worst...)
	if st.Store.Error != "" {
		list = append(list, storeText(st))
	}
	list = append(append(list, middling...), namesProblems(st.DNS)...)
	if st.HTTP != nil && st.HTTP.Error != "" {
		add("The API is served by the socket alone: %s", st.HTTP.Error)
	}
	if st.Config.Error != "" {
		add("The configuration on the disk was rejected; the last good one is in place: %s", st.Config.Error)
	}
	if st.Alerts != nil {
		for _, text := range st.Alerts.Failing {
			add("Alerts do not get through: %s", text)
		}
	}
	return append(list, minor...)
}

// siteProblems are those of sites, pools and nodes: where nothing is seen or nothing can
// serve, what works otherwise than it should, and nodes.
func siteProblems(st *api.Status) (worst, middling, minor []string) {
	for i := range st.Sites {
		s := &st.Sites[i]
		switch {
		case st.Isolated: // it stands for all sites
		case s.Condition == sites.SiteIsDown:
			worst = append(worst, s.Explain)
		case s.Condition != sites.SiteIsUp || s.Unjudged:
			middling = append(middling, s.Explain)
		}
		for j := range s.Pools {
			switch p := &s.Pools[j]; {
			case p.Held || p.Serves == "empty" || p.Serves == "last_resort":
				worst = append(worst, p.Explain)
			case p.Serves != "own" || p.Paused != nil:
				middling = append(middling, p.Explain)
			}
		}
		if s.Condition == sites.SiteIsDown {
			continue // the site stands for all of its nodes
		}
		for j := range s.Nodes {
			if n := &s.Nodes[j]; troubled(n) {
				minor = append(minor, n.Explain)
			}
		}
	}
	return worst, middling, minor
}

// troubled says whether a node needs a look. What an operator has ordered does
// not, nor does a new node that answers.
func troubled(n *sites.NodeView) bool {
	if n.Drill != nil {
		return n.Stale
	}
	switch n.Word {
	case sites.WordUp:
		return n.Stale || n.Unjudged
	case sites.WordMaintenance, sites.WordDisabled:
		return false
	case sites.WordPending:
		return !n.Answers
	default:
		return true
	}
}

func texts(addrs []netip.Addr) []string {
	list := []string{}
	for _, a := range addrs {
		list = append(list, a.String())
	}
	return list
}

// Healthy gives nil while the decision loop turns ([api.Health]).
func (a *App) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := a.loop.do(ctx, func() {}); err != nil {
		return fmt.Errorf("the decision loop does not turn: %w", err)
	}
	return nil
}

// Missing names what is not ready yet ([api.Health]).
func (a *App) Missing(ctx context.Context) []string {
	list := []string{}
	if err := a.Healthy(ctx); err != nil {
		return append(list, err.Error())
	}
	if a.cfg.Load().DNS != nil && len(a.names.addresses()) == 0 {
		list = append(list, "the DNS server does not listen")
	}
	if err := a.web.failure(); err != nil {
		list = append(list, "the HTTP listener: "+err.Error())
	}
	if err := a.keeper.failure(); err != nil {
		list = append(list, "the store: "+err.Error())
	}
	return list
}

// Command carries out an operator's command ([api.Operator]).
func (a *App) Command(ctx context.Context, c sites.Command) (sites.Reply, error) {
	var reply *sites.Reply
	err := a.loop.do(ctx, func() {
		if reply = a.loop.command(&c); reply != nil && !reply.Refused {
			reply.Text += a.pushing.order(&c)
		}
	})
	if err != nil {
		return sites.Reply{}, err
	}
	if reply == nil {
		return sites.Reply{}, errors.New("the command has had no reply")
	}
	// What an operator has ordered is stored before it is said to be done.
	stored, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err = a.keeper.writer.Flush(stored); err != nil && !reply.Refused {
		reply.Text += " It is in force, but could not be stored yet: a restart would forget it (" + err.Error() + ")."
	}
	return *reply, nil
}
