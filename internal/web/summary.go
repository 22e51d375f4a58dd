package web

import (
	"fmt"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/sites"
)

// summary is the status line: words, not numbers.
type summary struct {
	Text string
	Tone Tone
	// Critical is the state that Text tells of, where somebody should do something about
	// it at once; nil for another.
	Critical *api.CriticalView
	// More problems than the one that Text names.
	More int
	// Also are the nodes that these are about, and Others how many there is no place
	// for: who is woken must not have to unfold anything to see them.
	Also   []also
	Others int
}

// also is a node in trouble, beside what the status line says.
type also struct {
	Site, Node string
	Sign       sign
}

// maxAlso is how many of them stand below the status line.
const maxAlso = 6

func (h *Handler) summarise(st *api.Status) summary {
	if len(st.Problems) > 0 {
		s := summary{Text: sentence(st.Problems[0]), Tone: Watch, More: len(st.Problems) - 1}
		if len(st.Critical) > 0 {
			s.Tone = Gone
		}
		for i := range st.Critical {
			if c := &st.Critical[i]; c.Text == st.Problems[0] {
				s.Critical = c
				break
			}
		}
		s.aside(st)
		return s
	}
	var ordered []string
	for i := range st.Sites {
		for j := range st.Sites[i].Nodes {
			if n := &st.Sites[i].Nodes[j]; n.Ordered != nil {
				ordered = append(ordered, st.Sites[i].Name+"/"+n.Name)
			}
		}
	}
	var text string
	switch n := len(st.Sites); {
	case n == 0:
		text = "There are no sites: this is an ordinary name server."
	case n == 1:
		text = st.Sites[0].Name + " serves from its own nodes."
	default:
		text = "All " + plural.Of(n, "site") + " serve from their own nodes."
	}
	if len(ordered) > 0 {
		return summary{Text: text + " Taken out on purpose: " + several(ordered) + ".", Tone: Held}
	}
	return summary{Text: text + " Nothing to do.", Tone: Calm}
}

// aside lists the other nodes in trouble, and says what is answered in place of a node
// that is out and comes first.
func (s *summary) aside(st *api.Status) {
	for i := range st.Sites {
		site := &st.Sites[i]
		if site.Condition == sites.SiteIsDown {
			continue // it stands for all of its nodes
		}
		for j := range site.Nodes {
			n := &site.Nodes[j]
			sign := signOf(n.Word, false)
			switch {
			case n.Explain == st.Problems[0]:
				if n.Word == sites.WordOut {
					s.Text += meanwhile(site, s.More == 0)
				}
			case sign.Tone != Watch && sign.Tone != Gone:
			case len(s.Also) == maxAlso:
				s.Others++
			default:
				s.Also = append(s.Also, also{site.Name, n.Name, sign})
			}
		}
	}
}

// meanwhile says what a site answers with the nodes that are left; "" where it is not
// its own. alone: nothing else is wrong.
func meanwhile(site *sites.SiteView, alone bool) string {
	for i := range site.Pools {
		if p := &site.Pools[i]; p.Name == sites.DefaultPool && p.Serves == "own" {
			if list := addresses(p.IPv4, p.IPv6); len(list) > 0 {
				others := listed(list)
				if len(list) > maxListed { // it is a headline
					others = fmt.Sprintf("%d other addresses", len(list))
				}
				text := fmt.Sprintf(" Meanwhile %s answers %s.", site.Name, others)
				if alone {
					text += " Nothing has to be done at once."
				}
				return text
			}
		}
	}
	return ""
}
