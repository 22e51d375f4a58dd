package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Limits of one answer about events.
const (
	defaultLimit = 100
	MaxLimit     = 1000
)

// parameters gives the query of a URL, in which only the named ones may stand,
// and all but "kind" only once.
func parameters(u *url.URL, known ...string) (url.Values, error) {
	v, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	for name, values := range v {
		if !slices.Contains(known, name) {
			return nil, problem(http.StatusBadRequest, "%s: no such parameter, expected only %s", name, strings.Join(known, ", "))
		}
		if len(values) > 1 && name != "kind" {
			return nil, problem(http.StatusBadRequest, "%s: given %d times", name, len(values))
		}
	}
	return v, nil
}

// ParseEventQuery reads the query of a URL. The error is a [*Problem].
func ParseEventQuery(u *url.URL) (EventQuery, error) {
	v, err := parameters(u, "after", "before", "since", "until", "kind", "site", "node", "limit", "order")
	if err != nil {
		return EventQuery{}, err
	}
	q := EventQuery{Site: v.Get("site"), Node: v.Get("node"), Limit: defaultLimit}
	if q.Kinds, err = kinds(v["kind"]); err != nil {
		return EventQuery{}, err
	}
	for name, id := range map[string]*uint64{"after": &q.After, "before": &q.Before} {
		if *id, err = eventID(name, v.Get(name)); err != nil {
			return EventQuery{}, err
		}
	}
	for name, at := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if *at, err = moment(v, name); err != nil {
			return EventQuery{}, err
		}
	}
	if text := v.Get("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > MaxLimit {
			return EventQuery{}, problem(http.StatusBadRequest, "limit: %q is no number from 1 to %d", text, MaxLimit)
		}
	}
	switch order := v.Get("order"); order {
	case "", "desc":
	case "asc":
		q.Ascending = true
	default:
		return EventQuery{}, problem(http.StatusBadRequest, "order: %q is neither asc nor desc", order)
	}
	if q.Node != "" && q.Site == "" {
		return EventQuery{}, problem(http.StatusBadRequest, "node: name its site too")
	}
	return q, nil
}

// Encode writes a query as [ParseEventQuery] reads it.
func (q *EventQuery) Encode() string {
	v := url.Values{}
	set := func(name, value string, given bool) {
		if given {
			v.Set(name, value)
		}
	}
	set("after", strconv.FormatUint(q.After, 10), q.After > 0)
	set("before", strconv.FormatUint(q.Before, 10), q.Before > 0)
	set("since", q.Since.Format(time.RFC3339Nano), !q.Since.IsZero())
	set("until", q.Until.Format(time.RFC3339Nano), !q.Until.IsZero())
	set("site", q.Site, q.Site != "")
	set("node", q.Node, q.Node != "")
	set("limit", strconv.Itoa(q.Limit), q.Limit > 0)
	set("order", "asc", q.Ascending)
	for _, k := range q.Kinds {
		v.Add("kind", string(k))
	}
	return v.Encode()
}

// moment reads a time; zero where none is given.
func moment(v url.Values, name string) (time.Time, error) {
	text := v.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, problem(http.StatusBadRequest, "%s: %q is no time; write it like 2026-01-02T15:04:05Z", name, text)
	}
	return t, nil
}

// eventID reads the ID of an event; 0 for "".
func eventID(name, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, problem(http.StatusBadRequest, "%s: %q is no event's ID; those are numbers from 1", name, text)
	}
	return id, nil
}

func kinds(names []string) (list []sites.Kind, err error) {
	for _, name := range names {
		k := sites.Kind(name)
		if !k.Known() {
			return nil, problem(http.StatusBadRequest, "kind: there are no events of the kind %q", name)
		}
		list = append(list, k)
	}
	return list, nil
}

// wants says whether an event is one of those that a stream asks for.
func (q *EventQuery) wants(e *sites.Event) bool {
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.Site == "" || q.Site == e.Site) && (q.Node == "" || q.Node == e.Node)
}
