package cli

import (
	"strconv"

	"github.com/dnsteer/dnsteer/sites"
)

// works says which figures of its nodes' work a site has.
type works struct{ sessions, traffic, load bool }

// worksAt looks which columns a site needs.
func worksAt(s *sites.SiteView) (w works) {
	for i := range s.Nodes {
		if f := s.Nodes[i].Figures; f != nil {
			w.sessions = w.sessions || f.Sessions != nil
			w.traffic = w.traffic || f.BytesPerSecond != nil
			w.load = w.load || f.Load != nil
		}
	}
	return w
}

func workHeads(w works) []cell { return w.choose("OPEN", "TRAFFIC", "LOAD", dim) }

// workCells writes the figures of a node; "-" is what nobody knows.
func workCells(w works, f *sites.Figures) []cell {
	open, traffic, load := "-", "-", "-"
	if f != nil && f.Sessions != nil {
		open = strconv.FormatInt(*f.Sessions, 10)
	}
	if f != nil && f.BytesPerSecond != nil {
		traffic = sites.Rate(*f.BytesPerSecond)
	}
	if f != nil && f.Load != nil {
		load = strconv.FormatFloat(*f.Load, 'f', 2, 64)
	}
	return w.choose(open, traffic, load, plain)
}

func (w works) choose(open, traffic, load string, c color) (cells []cell) {
	for _, x := range [...]struct {
		shown bool
		text  string
	}{{w.sessions, open}, {w.traffic, traffic}, {w.load, load}} {
		if x.shown {
			cells = append(cells, cell{x.text, c})
		}
	}
	return cells
}
