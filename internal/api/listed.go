package api

import "github.com/dnsteer/dnsteer/sites"

// listedSites makes JSON write the empty lists of views as lists.
func listedSites(views []sites.SiteView) []sites.SiteView {
	for i := range views {
		v := &views[i]
		v.Witnesses, v.Nodes, v.Pools = listed(v.Witnesses), listed(v.Nodes), listed(v.Pools)
		for j := range v.Nodes {
			n := &v.Nodes[j]
			n.Addresses, n.Lines = listed(n.Addresses), listed(n.Lines)
			for k := range n.Lines {
				n.Lines[k].Checks = listed(n.Lines[k].Checks)
			}
		}
	}
	return listed(views)
}

// listedServices does the same of services.
func listedServices(views []ServiceView) []ServiceView {
	for i := range views {
		views[i].Hosts, views[i].Sites = listed(views[i].Hosts), listed(views[i].Sites)
		for j := range views[i].Sites {
			views[i].Sites[j].Addresses = listed(views[i].Sites[j].Addresses)
		}
	}
	return listed(views)
}
