package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/history"
)

// Historian knows what the probes of the last day have found.
type Historian interface {
	// History gives the course of a node's probes from a time to another, one
	// line for each of its addresses, or for an empty node that of the site's
	// witnesses. What is not probed has no line; an unknown name is a
	// [NotFoundError].
	History(ctx context.Context, site, node string, from, to time.Time) ([]history.Line, error)
}

// HistoryReport is the course of the probes of a node or of a site's witnesses.
type HistoryReport struct {
	Site  string         `json:"site"`
	Node  string         `json:"node,omitempty"`
	From  time.Time      `json:"from"`
	To    time.Time      `json:"to"`
	Lines []history.Line `json:"lines"`
}

// historyTime is how far back a question goes that does not say so.
const historyTime = 24 * time.Hour

func (h *Handler) history(w http.ResponseWriter, r *http.Request) error {
	from, to, err := span(r.URL, time.Now())
	if err != nil {
		return err
	}
	report := HistoryReport{Site: r.PathValue("site"), Node: r.PathValue("node"), From: from, To: to}
	if report.Lines, err = h.Historian.History(r.Context(), report.Site, report.Node, from, to); err != nil {
		return err
	}
	report.Lines = listed(slices.Clone(report.Lines))
	for i := range report.Lines {
		l := &report.Lines[i]
		l.Probes, l.Failures = listed(slices.Clone(l.Probes)), listed(l.Failures)
		for j := range l.Probes {
			l.Probes[j].Points = listed(l.Probes[j].Points)
		}
	}
	writeJSON(w, report)
	return nil
}

// span reads from when to when a URL asks: by default the day until now. The
// error is a [*Problem].
func span(u *url.URL, now time.Time) (from, to time.Time, err error) {
	v, err := parameters(u, "from", "to")
	if err != nil {
		return from, to, err
	}
	if to, err = moment(v, "to"); err != nil {
		return from, to, err
	}
	if to.IsZero() {
		to = now
	}
	if from, err = moment(v, "from"); err != nil {
		return from, to, err
	}
	if from.IsZero() {
		from = to.Add(-historyTime)
	}
	if from.Year() < 0 { // JSON has no such year
		from = to
	}
	if from.After(to) {
		return from, to, problem(http.StatusBadRequest, "from: it lies after the end of what is asked for, %s", to.Format(time.RFC3339))
	}
	return from, to, nil
}

// History gives the course of a node's probes from a time to another, or of a
// site's witnesses for an empty node.
func (c *Client) History(ctx context.Context, site, node string, from, to time.Time) (r HistoryReport, err error) {
	path := "/api/v1/history/" + url.PathEscape(site)
	if node != "" {
		path += "/" + url.PathEscape(node)
	}
	v := url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}
	return r, c.get(ctx, path+"?"+v.Encode(), &r)
}
