package web

import (
	"slices"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// action is a command that a page offers: one that would change something now.
type action struct {
	Verb             sites.Verb
	Text             string
	Site, Node, Pool string
	// Back is the page to go back to, Base the base path.
	Back, Base string
}

// siteActions lists what can be done about a site as it is.
func siteActions(v *visit, st *api.Status, s *sites.SiteView) (list []action) {
	base := v.caller.BasePath
	add := func(verb sites.Verb, text string, applies bool) {
		if applies {
			list = append(list, action{Verb: verb, Text: text, Site: s.Name, Back: "/sites/" + s.Name, Base: base})
		}
	}
	paused := slices.ContainsFunc(s.Pools, func(p sites.PoolView) bool { return p.Paused != nil })
	free := slices.ContainsFunc(s.Pools, func(p sites.PoolView) bool { return p.Paused == nil })
	if st.Brake == "holds" {
		list = append(list, action{Verb: sites.Release, Text: "Release the brake", Back: "/sites/" + s.Name, Base: base})
	}
	add(sites.FailbackNow, "Fail back now", mayFailBack(s))
	add(sites.Resume, "Resume", paused)
	add(sites.Pause, "Pause", free)
	add(sites.MaintenanceEnd, "End maintenance", slices.ContainsFunc(s.Nodes, inMaintenance))
	add(sites.Maintenance, "Maintenance of the whole site", slices.ContainsFunc(s.Nodes, func(n sites.NodeView) bool { return n.Ordered == nil }))
	add(sites.DrillEnd, "End the drill", slices.ContainsFunc(s.Nodes, func(n sites.NodeView) bool { return n.Drill != nil }))
	return list
}

// inMaintenance says whether an operator, or a window, has put a node there.
func inMaintenance(n sites.NodeView) bool { return n.Word == sites.WordMaintenance }

// returns says whether a node waits to come back.
func returns(n *sites.NodeView) bool {
	return n.Word == sites.WordRecovering || n.Word == sites.WordReturning || n.Word == sites.WordOut && n.Answers || n.Quarantine
}

// mayFailBack says whether a failback would move something of a site.
func mayFailBack(s *sites.SiteView) bool {
	for i := range s.Nodes {
		if returns(&s.Nodes[i]) {
			return true
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.PutOff != nil || p.Mode == "active_passive" && p.Serves == "own" && p.Active != "" && p.Active != firstUp(s) {
			return true
		}
	}
	return false
}

// firstUp is the first node in order that is up; "" for none.
func firstUp(s *sites.SiteView) string {
	for i := range s.Nodes {
		if s.Nodes[i].Word == sites.WordUp && s.Nodes[i].Answers {
			return s.Nodes[i].Name
		}
	}
	return ""
}

// nodeActions lists what can be done about a node as it is.
func nodeActions(v *visit, s *sites.SiteView, n *sites.NodeView) (list []action) {
	add := func(verb sites.Verb, text string, applies bool) {
		if applies {
			list = append(list, action{Verb: verb, Text: text, Site: s.Name, Node: n.Name, Back: "/sites/" + s.Name + "/" + n.Name, Base: v.caller.BasePath})
		}
	}
	disabled := n.Word == sites.WordDisabled
	passive := func(p sites.PoolView) bool { return p.Mode == "active_passive" && p.Active != n.Name }
	add(sites.FailbackNow, "Fail back now", returns(n))
	add(sites.MaintenanceEnd, "End maintenance", inMaintenance(*n))
	add(sites.Maintenance, "Maintenance", !inMaintenance(*n) && !disabled)
	add(sites.Enable, "Enable", disabled)
	add(sites.Switch, "Switch to it", n.Ordered == nil && slices.ContainsFunc(s.Pools, passive))
	add(sites.DrillEnd, "End the drill", n.Drill != nil)
	add(sites.Drill, "Drill", n.Drill == nil && n.Word == sites.WordUp && n.Answers)
	add(sites.Disable, "Disable", !disabled)
	return list
}
