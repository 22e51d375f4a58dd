package web

import (
	"fmt"
	"slices"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// foreseen says what DNS will give if the command is taken, as far as the state
// of this moment tells.
func foreseen(st *api.Status, c *sites.Command) []string {
	s, err := find(st, c.Site)
	if err != nil {
		return nil
	}
	var out []string
	for i := range s.Pools {
		p := &s.Pools[i]
		if c.Pool != "" && p.Name != c.Pool {
			continue
		}
		now := addresses(p.IPv4, p.IPv6)
		then, known := after(s, p, c)
		switch {
		case !known:
			out = append(out, fmt.Sprintf("%s: %s now; what comes after is up to what its probes find.", subjectOf(st, s.Name, p.Name), listed(now)))
		case slices.Equal(now, then):
			out = append(out, fmt.Sprintf("%s: %s stays.", subjectOf(st, s.Name, p.Name), listed(now)))
		case len(then) == 0:
			out = append(out, fmt.Sprintf("%s: %s goes, and no other node of the site serves: its emergency site steps in, if it has one.", subjectOf(st, s.Name, p.Name), listed(now)))
		default:
			out = append(out, subjectOf(st, s.Name, p.Name)+": "+moves(now, then))
		}
	}
	return out
}

// after gives the addresses of a pool once the command is taken.
func after(s *sites.SiteView, p *sites.PoolView, c *sites.Command) (list []string, known bool) {
	now := addresses(p.IPv4, p.IPv6)
	switch c.Verb {
	case sites.Maintenance, sites.Disable, sites.Drill:
		leaves := func(n *sites.NodeView) bool { return c.Node == "" || n.Name == c.Node }
		for i := range s.Nodes {
			if leaves(&s.Nodes[i]) {
				own := addresses(s.Nodes[i].Addresses)
				now = slices.DeleteFunc(now, func(a string) bool { return slices.Contains(own, a) })
			}
		}
		if len(now) > 0 {
			return now, true
		}
		if p.Name != sites.DefaultPool {
			return nil, false // which nodes it has is not known here
		}
		for i := range s.Nodes { // the first other one that answers steps in
			if n := &s.Nodes[i]; !leaves(n) && n.Answers && n.Ordered == nil {
				return addresses(n.Addresses), true
			}
		}
		return nil, true
	case sites.Switch:
		n, err := findNode(s, c.Node)
		if err != nil || p.Mode != "active_passive" {
			return nil, false
		}
		return addresses(n.Addresses), true
	case sites.Pause, sites.Resume:
		return now, c.Verb == sites.Pause
	default:
		return nil, false
	}
}

// subjectOf names a pool by the first host that it answers: "berlin app.example.lan".
func subjectOf(st *api.Status, site, pool string) string {
	name, more := "", 0
	for i := range st.Services {
		if v := &st.Services[i]; v.Pool == pool && slices.ContainsFunc(v.Sites, func(x api.ServiceAnswerView) bool { return x.Site == site }) {
			more += len(v.Hosts)
			if name == "" && len(v.Hosts) > 0 {
				name = v.Hosts[0]
			}
		}
	}
	switch {
	case name == "":
		return poolName(site, pool)
	case more > 1:
		return fmt.Sprintf("%s %s (and %d more)", site, name, more-1)
	default:
		return site + " " + name
	}
}

func poolName(site, pool string) string {
	if pool == sites.DefaultPool {
		return site
	}
	return site + "/" + pool
}

// moves says what becomes of an answer: of a long one, what goes and what comes.
func moves(now, then []string) string {
	if len(now) <= maxListed {
		return listed(now) + " → " + listed(then)
	}
	without := func(list, others []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(a string) bool { return slices.Contains(others, a) })
	}
	gone, come := without(now, then), without(then, now)
	text := listed(gone) + " → " + listed(come)
	if len(come) == 0 {
		text = "without " + listed(gone)
	}
	switch stay := len(then) - len(come); stay {
	case 0:
		return text
	case 1:
		return text + "; one other stays"
	default:
		return fmt.Sprintf("%s; %d others stay", text, stay)
	}
}
