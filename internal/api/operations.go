package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/support"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// operation is what is said of a route.
type operation struct {
	summary string
	params  []parameter
	// body and reply are values of the types that are sent; nil for none.
	body, reply any
	// media of the reply, where it is not JSON.
	media    string
	problems []int
}

func query(name, about string) parameter {
	return parameter{"query", name, about, object{"type": "string"}}
}

func moments(name, about string) parameter {
	return parameter{"query", name, about, object{"type": "string", "format": "date-time"}}
}

func number(name, about string) parameter {
	return parameter{"query", name, about, object{"type": "integer", "minimum": 0}}
}

func inPath(name, about string) parameter {
	return parameter{"path", name, about, object{"type": "string"}}
}

// operations describes every route, by its pattern.
func operations() map[string]operation {
	const (
		bad, missing, conflict = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict
		media, large           = http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge
		unprocessable          = http.StatusUnprocessableEntity
	)
	site, node := inPath("site", "The site's name."), inPath("node", "The node's name.")
	kind := parameter{"query", "kind", "Only these kinds; may stand several times.", object{"type": "array", "items": object{"type": "string", "enum": sites.Kinds()}}}
	span := []parameter{moments("from", "From when; a day before to."), moments("to", "Until when; now.")}
	reload := operation{
		summary: "Have the configuration read again; it is taken wholly or not at all.",
		reply:   ReloadReport{}, problems: []int{unprocessable},
	}
	all := map[string]operation{
		"GET /api/v1/status": {summary: "Everything that is known now, what is wrong first.", reply: Status{}},
		"GET /api/v1/explain": {
			summary: "Why something is answered as it is, and what happens next.", reply: Explanation{},
			params: []parameter{query("what", "SITE, SITE/NODE, SITE/POOL or a host name.")}, problems: []int{bad, missing},
		},
		"GET /api/v1/events": {
			summary: "Stored events.", reply: EventList{}, problems: []int{bad},
			params: []parameter{
				number("after", "Only those with a higher ID."), number("before", "Only those with a lower ID."),
				moments("since", "Not before this time."), moments("until", "Before this time."), kind,
				query("site", "Only this site's."), query("node", "Only this node's; its site must be named."),
				{"query", "limit", fmt.Sprintf("At most so many; %d unless it says so.", defaultLimit), object{"type": "integer", "minimum": 1, "maximum": MaxLimit}},
				{"query", "order", "The newest first, or the oldest.", object{"type": "string", "enum": []string{"desc", "asc"}}},
			},
		},
		"GET /api/v1/events/stream": {
			summary: "Events as they come (server-sent events): each has its ID, and as data an Event in JSON. A line of comment comes at least every 15 seconds.",
			media:   streamMedia, problems: []int{bad},
			params: []parameter{
				{"header", "Last-Event-ID", "Go on behind this event.", object{"type": "integer", "minimum": 0}},
				number("after", "Begin behind this event; 0 begins with the first that is stored."), kind,
				query("site", "Only this site's."), query("node", "Only this node's."),
			},
		},
		"GET /api/v1/history/{site}": {
			summary: "What the site's witnesses have answered.", reply: HistoryReport{},
			params: append([]parameter{site}, span...), problems: []int{bad, missing},
		},
		"GET /api/v1/history/{site}/{node}": {
			summary: "What the node's probes have found.", reply: HistoryReport{},
			params: append([]parameter{site, node}, span...), problems: []int{bad, missing},
		},
		"POST /api/v1/commands": {
			summary: "Carry out a command. What the rules refuse is a conflict, which says the way out.",
			body:    CommandRequest{}, reply: CommandReply{}, problems: []int{bad, conflict, large, media, unprocessable},
			params: []parameter{{"header", "Idempotency-Key", "The same command with the same key is carried out once within a day, and replied to alike.", object{"type": "string", "maxLength": maxKey}}},
		},
		"POST /api/v1/probe/{site}/{node}": {
			summary: "Run all probes of a node once, now, and show what each saw.", reply: ProbeReport{},
			params: []parameter{site, node}, problems: []int{missing},
		},
		"GET /api/v1/alerts": {summary: "How the channels fare, and what is open.", reply: alert.Status{}},
		"POST /api/v1/alerts/test": {
			summary: "Send a test message and show the dialogue.", reply: AlertTests{}, problems: []int{bad, missing},
			params: []parameter{query("channel", "Only this channel.")},
		},
		"POST /api/v1/heartbeat/{site}/{node}": {
			summary: "A node reports that it lives, with the bearer token of its heartbeat probe, and how much it does.", body: probes.Report{},
			params: []parameter{site, node}, problems: []int{bad, http.StatusUnauthorized, missing, large, http.StatusTooManyRequests},
		},
		"GET /api/v1/support": {
			summary: "A support bundle: what is needed to look into a fault, without secrets, as a tar file in gzip.", media: support.Media,
		},
		"POST /api/v1/reload": reload,
		"POST /-/reload":      reload,
		"GET /-/healthy":      {summary: "Whether the controller decides.", reply: Healthful{}},
		"GET /-/ready":        {summary: "Whether everything is ready; the problem names what is missing.", reply: Healthful{}},
		"POST /api/v1/login": {
			summary: "Log in with a password; the reply sets the cookie of a session.", body: LoginRequest{}, reply: SessionView{},
			problems: []int{bad, http.StatusUnauthorized, conflict, large, media, http.StatusTooManyRequests},
		},
		"POST /api/v1/logout": {
			summary: "End the session.", reply: SessionView{}, problems: []int{bad},
			params: []parameter{{"query", "everywhere", "End all sessions of the user.", object{"type": "boolean"}}},
		},
		"GET /api/v1/session":      {summary: "Who asks, and what they may do.", reply: SessionView{}},
		"GET /api/v1/openapi.json": {summary: "This document.", reply: object{}},
	}
	maps.Copy(all, targetOperations())
	return all
}

// targetOperations describes the routes of targets.
func targetOperations() map[string]operation {
	const bad, missing, conflict = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict
	name := inPath("name", "The target's name.")
	return map[string]operation{
		"GET /api/v1/targets": {summary: "What is known of each server of each target.", reply: TargetList{}},
		"GET /api/v1/targets/plan": {
			summary: "List what the targets hold now and say what a push would change; nothing is changed.", reply: PlanList{},
			params: []parameter{query("target", "Only this target.")}, problems: []int{bad, missing},
		},
		"POST /api/v1/targets/{name}": {
			summary: "Disable, enable or purge a target, or take over records that it has.", body: TargetRequest{}, reply: TargetReply{},
			params: []parameter{name}, problems: []int{bad, missing, conflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity},
		},
		"GET /api/v1/targets/{name}/certificates": {
			summary: "Have a target's servers show their certificates, for the line of the configuration that pins them; nothing else is sent to them.",
			reply:   CertificateList{}, params: []parameter{name}, problems: []int{missing},
		},
	}
}

// Reference gives the table of docs/api.md.
func Reference() string {
	var b strings.Builder
	ops := operations()
	var patterns []string
	for p := range ops {
		patterns = append(patterns, p)
	}
	slices.SortFunc(patterns, func(a, b string) int {
		_, x, _ := strings.Cut(a, " ")
		_, y, _ := strings.Cut(b, " ")
		return strings.Compare(x+a, y+b)
	})
	b.WriteString("| route | role | what |\n|---|---|---|\n")
	for _, p := range patterns {
		op := ops[p]
		text := op.summary
		var names []string
		for _, q := range op.params {
			if q.in == "query" {
				names = append(names, "`"+q.name+"`")
			}
		}
		if names != nil {
			text += " Parameters: " + strings.Join(names, ", ") + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p, roleWord(roles[p]), text)
	}
	return b.String()
}
