package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/sites"
)

// Explain says why a site, a node, a pool or a host is answered as it is
// ([api.Reader]).
func (a *App) Explain(ctx context.Context, what string) (api.Explanation, error) {
	x := api.Explanation{Subject: what}
	views := a.pushing.publisher.Views()
	err := a.loop.do(ctx, func() {
		m, cfg := a.loop.engine.Machine(), a.cfg.Load()
		if _, ok := m.NodeWord(what); ok {
			x.Sentences = []string{m.ExplainNode(what)}
			return
		}
		if id, ok := m.FindPool(what); ok {
			s := &cfg.Sites.Sites[id.Site]
			x.Sentences = append(x.Sentences, m.ExplainSite(s.Name))
			for i := range s.Pools {
				if what == s.Name || i == id.Pool {
					x.Sentences = append(x.Sentences, m.ExplainPool(sites.PoolID{Site: id.Site, Pool: i}))
				}
			}
			for i := range s.Nodes {
				x.Sentences = append(x.Sentences, m.ExplainNode(s.Name+"/"+s.Nodes[i].Name))
			}
			return
		}
		a.explainHost(m, cfg, views, what, &x)
	})
	if err == nil && len(x.Sentences) == 0 {
		return x, &api.NotFoundError{Text: notThere(&a.cfg.Load().Sites, what)}
	}
	return x, err
}

// notThere says that nothing of a name is configured, and what is.
func notThere(cfg *sites.Config, what string) string {
	site, name, inSite := strings.Cut(what, "/")
	var names []string
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		if !inSite {
			names = append(names, s.Name)
			continue
		}
		if s.Name != site {
			continue
		}
		for j := range s.Nodes {
			names = append(names, s.Nodes[j].Name)
		}
		return fmt.Sprintf("Site %s has no node or pool %q. Its nodes are %s.", site, name, strings.Join(names, ", "))
	}
	text := fmt.Sprintf("There is no site, node, pool or host %q. Name SITE, SITE/NODE, SITE/POOL or a host name.", what)
	if len(names) > 0 {
		text += " The sites are " + strings.Join(names, ", ") + "."
	}
	return text
}

// explainHost says what each site's clients get for a name: from the built-in
// server, and from the site's targets.
func (a *App) explainHost(m *sites.Machine, cfg *config.Config, views []publish.View, host string, x *api.Explanation) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for i := range cfg.Sites.Sites {
		s := &cfg.Sites.Sites[i]
		builtin := cfg.Builtin(s.Name)
		if builtin {
			a.explainBuiltin(m, s.Name, host, x)
		}
		for _, t := range a.pushing.desired.targets {
			h := t.covers(host)
			if t.Site != s.Name || h == nil {
				continue
			}
			if held := explainTarget(m, t, h, views, x); !builtin {
				x.Answers = append(x.Answers, held...)
			}
		}
	}
}

// explainBuiltin says what a site's clients get from the built-in server.
func (a *App) explainBuiltin(m *sites.Machine, site, host string, x *api.Explanation) {
	server := a.names.get()
	if server == nil {
		return
	}
	v4, v6 := server.Lookup(site, host, dns.TypeA), server.Lookup(site, host, dns.TypeAAAA)
	if v4.Pool == "" && v6.Pool == "" && len(v4.Addresses)+len(v6.Addresses) == 0 {
		return
	}
	found := v4
	if len(v4.Addresses) == 0 {
		found = v6
	}
	view := api.ServiceAnswerView{
		Site: site, TTL: int(found.TTL / time.Second), Addresses: texts(append(v4.Addresses, v6.Addresses...)),
	}
	text := fmt.Sprintf("Clients of %s get %s for %s (TTL %d s)", site, addressList(view.Addresses), host, view.TTL)
	if id, ok := m.FindPool(found.Site + "/" + found.Pool); ok {
		view.Serves = m.Answer(id).String()
		text += ". " + m.ExplainPool(id)
	} else {
		text += ": a record of the zone, without failover."
	}
	x.Sentences = append(x.Sentences, text)
	x.Answers = append(x.Answers, view)
}

// covers gives the host of a target that a name is answered by: itself, or the
// nearest wildcard above it (RFC 4592); nil where there is none.
func (t *pushedTarget) covers(name string) *pushedHost {
	for {
		if i := slices.IndexFunc(t.hosts, func(h pushedHost) bool { return h.name == name }); i >= 0 {
			return &t.hosts[i]
		}
		_, rest, more := strings.Cut(strings.TrimPrefix(name, "*."), ".")
		if !more {
			return nil
		}
		name = "*." + rest
	}
}

// explainTarget says what the servers of a target should hold and hold for a
// name. It gives what they hold.
func explainTarget(m *sites.Machine, t *pushedTarget, h *pushedHost, views []publish.View, x *api.Explanation) (list []api.ServiceAnswerView) {
	if len(h.entries) == 0 {
		return nil
	}
	e, answer := h.chosen(m)
	var want []string
	for _, r := range h.records {
		want = append(want, r.Addr.String())
	}
	slices.Sort(want)
	should := addressList(want)
	if len(want) == 0 && !h.emptied {
		should = "what is not known yet"
	}
	for i := range views {
		v := &views[i]
		if v.Name != t.Name {
			continue
		}
		held, ttl := held(v, h.name)
		text := fmt.Sprintf("Clients of %s get what %s (%s) holds", t.Site, v.Title, v.Server)
		switch {
		case !v.Compared.IsZero() && slices.Equal(held, want) && (h.emptied || len(want) > 0):
			text += fmt.Sprintf(": %s for %s (TTL %d s), as it should be", addressList(held), h.name, int(ttl/time.Second))
		case v.Compared.IsZero() && len(held) == 0:
			text += fmt.Sprintf("; for %s it should be %s, and it was not read yet", h.name, should)
		default:
			text += fmt.Sprintf(": %s for %s when it was last read, and it should be %s", addressList(held), h.name, should)
		}
		x.Sentences = append(x.Sentences, text+"."+whyNot(v, h.name))
		list = append(list, api.ServiceAnswerView{
			Site: t.Site, Serves: answer.String(), TTL: int(ttl / time.Second), Addresses: append([]string{}, held...),
		})
	}
	x.Sentences = append(x.Sentences, m.ExplainPool(e.id))
	return list
}

// held gives the addresses that a server held for a name when it was last read,
// with their TTL.
func held(v *publish.View, name string) (list []string, ttl time.Duration) {
	for i := range v.Sets {
		if s := &v.Sets[i]; s.Name == name {
			list, ttl = append(list, s.Actual...), max(s.TTL, v.Inspection.TTL)
		}
	}
	slices.Sort(list)
	return list, ttl
}

// whyNot says what keeps a server from holding what it should.
func whyNot(v *publish.View, name string) (text string) {
	switch {
	case v.Error != nil:
		text += " It cannot be brought there: " + v.Error.Error() + "."
	case v.State == publish.Disabled:
		text += " It is disabled: nothing is sent to it."
	case v.State == publish.Waiting:
		text += " Nothing is sent to it before its site was seen."
	case v.State == publish.DryRun:
		text += " Nothing is sent to it (dry_run)."
	case !v.Repair.IsZero():
		text += " It is put right at " + v.Repair.UTC().Format("15:04:05 UTC") + ": somebody has changed it again soon after it was put right."
	}
	var all strings.Builder
	all.WriteString(text)
	for _, c := range v.Plan.Conflicts {
		if c.Name == name {
			all.WriteString(" " + c.Text())
		}
	}
	return all.String()
}

func addressList(list []string) string {
	if len(list) == 0 {
		return "no address"
	}
	return strings.Join(list, ", ")
}
