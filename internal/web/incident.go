package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// happened is an event as it is shown.
type happened struct {
	sites.Event
	Tone  Tone
	Ended bool
	// State is what it makes of its node, for the history of states; its Shape is ""
	// where it makes nothing else of it.
	State sign
	// Base is the base path.
	Base string
}

// incident is what belongs together: something that began, what was done about it,
// and its end. The story is told from its beginning.
type incident struct {
	Events []happened
	// About is the site or the node that all of it is about; "" where there are
	// several.
	About string
	Tone  Tone
	// Begun and Ended are when the first and the last event came; Over says that
	// everything in it has ended.
	Begun, Ended time.Time
	Over         bool
	Base         string
}

// past gives the events that a page of something else ends with. Unread: the disk does not
// give them, which is no reason not to show how things are.
func (h *Handler) past(v *visit, q api.EventQuery) (list []sites.Event, unread bool, err error) {
	list, err = h.Reader.Events(v.r.Context(), q)
	if err == nil || api.ProblemOf(err).Status != http.StatusInternalServerError {
		return list, false, err
	}
	h.Log.Error("a page is shown without its events", "path", v.r.URL.Path, "error", err)
	return nil, true, nil
}

// incidentGap is how long after the last event of a site another one still belongs
// to the same incident, although neither names the other.
const incidentGap = time.Minute

// incidents groups events, which come newest first, and gives the groups newest
// first.
func incidents(list []sites.Event, v *visit) []incident {
	over := make(map[uint64]bool)
	for i := range list {
		if list[i].Resolves != 0 {
			over[list[i].Resolves] = true
		}
	}
	var groups []*incident
	of := make(map[uint64]*incident)     // by the ID of an event
	latest := make(map[string]*incident) // by site
	for i := range slices.Backward(list) {
		e := &list[i]
		g := of[e.Resolves]
		if last := latest[e.Site]; g == nil && last != nil && e.Site != "" && (!last.Over || e.Time.Sub(last.Ended) < incidentGap) {
			g = last
		}
		if g == nil {
			g = &incident{Begun: e.Time, About: e.Subject(), Tone: Calm, Over: true, Base: v.caller.BasePath}
			groups = append(groups, g)
		}
		g.add(shown(e, over[e.ID], v))
		of[e.ID] = g
		if e.Site != "" {
			latest[e.Site] = g
		}
	}
	slices.SortStableFunc(groups, func(a, b *incident) int { return b.Ended.Compare(a.Ended) })
	out := make([]incident, len(groups))
	for i, g := range groups {
		g.Over = g.Tone == Calm
		out[i] = *g
	}
	return out
}

// shown makes an event ready to be shown. What a later one has ended is told
// quietly.
func shown(e *sites.Event, ended bool, v *visit) happened {
	h := happened{Event: *e, Ended: ended, Tone: Calm, State: stateOf(e), Base: v.caller.BasePath}
	switch {
	case ended:
	case e.Severity == sites.Critical:
		h.Tone = Gone
	case e.Severity == sites.Warning:
		h.Tone = Watch
	}
	return h
}

// add puts the next event into an incident.
func (g *incident) add(h happened) {
	g.Events = append(g.Events, h)
	g.Ended = h.Time
	if h.Tone == Gone || g.Tone == Calm {
		g.Tone = h.Tone
	}
	g.Over = g.Tone == Calm
	if about := h.Subject(); about != g.About {
		site := h.Site
		for i := range g.Events {
			if g.Events[i].Site != site {
				site = ""
			}
		}
		g.About = site
	}
}

// stateOf gives the sign of the state that an event puts its node into; one without
// a shape where it puts it into none.
func stateOf(e *sites.Event) sign {
	switch e.Kind {
	case sites.FailoverOutage:
		return signOf(sites.WordOut, false)
	case sites.NodeOffline:
		return sign{"failing", "does not answer", Watch}
	case sites.NodeOnline:
		return sign{"recovering", "answers again", Calm}
	case sites.FailoverFailback:
		return signOf(sites.WordUp, false)
	case sites.FailoverMaintenance:
		// The end is an event of the same kind; ordered anew, it resolves one too.
		if strings.HasPrefix(e.Text, "The maintenance of ") {
			return sign{"returning", "maintenance ended", Calm}
		}
		return signOf(sites.WordMaintenance, false)
	case sites.NodeDisabled:
		return signOf(sites.WordDisabled, false)
	case sites.NodeEnabled:
		return sign{"returning", "enabled", Calm}
	case sites.DrillStarted:
		return sign{"out", "drill", Held}
	case sites.DrillEnded:
		return sign{"returning", "drill ended", Calm}
	case sites.QuarantineStarted:
		return sign{"recovering", "quarantine", Watch}
	case sites.QuarantineEnded:
		return sign{"up", "quarantine ended", Calm}
	default:
		return sign{}
	}
}
