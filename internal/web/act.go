package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// forPages takes what the command line alone can do out of a text for all.
var forPages = strings.NewReplacer(
	", or use --force.", ", or do it all the same.", " Use --force to switch to it all the same.", "",
	", for example --for 5m", "",
)

// maxReason bounds what is kept with events, in bytes.
const maxReason = 1000

// tooLong says that a reason is.
const tooLong = "The reason is longer than 1000 bytes."

// order is a command on its way: asked for, confirmed, refused or done.
type order struct {
	sites.Command
	// Title is what the button says, Changes what DNS will give, Not what will
	// not be done.
	Title   string
	Changes []string
	Not     []string
	// Lasts lists for how long it may be ordered; none where it has no end.
	Lasts []lasting
	// ForText is the duration as it was typed in Other or chosen, Refusal why it was
	// refused, Fault what is wrong with what was typed.
	ForText, Other, Refusal, Fault string
	// Forceable: it is done all the same if that is asked for.
	Forceable bool
	// Back is the page that it was asked from, a path of ours.
	Back string
}

// lasting is a duration that is offered.
type lasting struct {
	Value, Text string
	Chosen      bool
}

// offered lists the durations of a verb that may last.
func offered(verb sites.Verb, chosen string) []lasting {
	list := []lasting{{Value: "30m", Text: "30 min"}, {Value: "2h", Text: "2 h"}, {Value: "1d", Text: "1 day"}}
	if verb == sites.Drill { // it always ends
		list = []lasting{{Value: "5m", Text: "5 min"}, {Value: "30m", Text: "30 min"}}
	} else {
		list = append(list, lasting{Text: "until I end it"})
	}
	for i := range list {
		list[i].Chosen = list[i].Value == chosen
	}
	return list
}

// describe says of each verb what it is called and what it does not do.
func describe(verb sites.Verb) (title string, not []string, lasts bool) {
	switch verb {
	case sites.Maintenance:
		return "Begin maintenance", []string{"It goes on being probed.", "Connections that are open stay where they are; caches keep the old answer for its TTL."}, true
	case sites.MaintenanceEnd:
		return "End maintenance", []string{"It comes back once it answers; it is not put back blindly."}, false
	case sites.Disable:
		return "Disable", []string{"It is not probed any more, and nothing about it is an alert."}, true
	case sites.Enable:
		return "Enable", []string{"It comes back once it answers; it is not put back blindly."}, false
	case sites.FailbackNow:
		return "Fail back now", []string{"A node that does not answer is not put back."}, false
	case sites.Switch:
		return "Switch to this node", []string{"The pool is paused afterwards: failover does not move it back by itself until it is resumed or fails back."}, true
	case sites.Pause:
		return "Pause", []string{"Nothing moves while it is paused, an outage neither. It is told all the same."}, true
	case sites.Resume:
		return "Resume", nil, false
	case sites.Drill:
		return "Begin a drill", []string{"The node is treated as if it did not answer. A node that serves alone is spared."}, true
	case sites.DrillEnd:
		return "End the drill", nil, false
	case sites.Release:
		return "Release the brake", []string{"Moves that were held are made at once."}, false
	}
	return "", nil, false
}

// ask is the page that says what a command will do, before it is given.
func (h *Handler) ask(v *visit) error {
	o, err := h.order(v, v.r.URL.Query())
	if err != nil {
		return err
	}
	return h.showOrder(v, o)
}

func (h *Handler) showOrder(v *visit, o *order) error {
	v.title, v.menu = o.Title, "overview"
	return h.show(v, "act", o)
}

func (h *Handler) order(v *visit, in url.Values) (*order, error) {
	o := &order{Command: sites.Command{
		Verb: sites.Verb(in.Get("verb")), Site: in.Get("site"), Node: in.Get("node"), Pool: in.Get("pool"),
		Reason: strings.TrimSpace(in.Get("reason")), Force: in.Get("force") == "yes",
	}, ForText: strings.TrimSpace(in.Get("for")), Other: strings.TrimSpace(in.Get("other")), Back: local(in.Get("back"))}
	if !slices.Contains(sites.Verbs(), o.Verb) {
		return nil, &api.NotFoundError{Text: fmt.Sprintf("There is no command %q.", o.Verb)}
	}
	var lasts bool
	if o.Title, o.Not, lasts = describe(o.Verb); lasts {
		if o.ForText == "" && !in.Has("for") { // it is asked for the first time
			o.ForText = map[sites.Verb]string{sites.Drill: "5m", sites.Maintenance: "2h"}[o.Verb]
		}
		o.Lasts = offered(o.Verb, o.ForText)
	}
	if o.Other != "" {
		o.ForText = o.Other
	}
	if len(o.Reason) > maxReason {
		o.Fault = tooLong
		o.Reason = strings.ToValidUTF8(o.Reason[:maxReason], "")
	}
	if o.ForText != "" {
		d, err := config.ParseDuration(o.ForText)
		if err != nil || d <= 0 {
			o.Fault = fmt.Sprintf("%q is no duration: write 30m, 2h or 1d, or leave it empty.", o.ForText)
		}
		o.For = d
	}
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return nil, err
	}
	o.Changes = foreseen(&st, &o.Command)
	return o, nil
}

// local gives a path of ours to go back to: nothing that leads elsewhere. Browsers leave
// out tabs and the ends of lines, and take \ for /.
func local(path string) string {
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return path
	}
	return "/"
}

// act gives the command.
func (h *Handler) act(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return &api.Problem{Status: http.StatusBadRequest, Title: "Bad Request", Detail: "the form cannot be read"}
	}
	o, err := h.order(v, v.r.PostForm)
	if err != nil {
		return err
	}
	if o.Fault != "" {
		v.status = http.StatusUnprocessableEntity
		return h.showOrder(v, o)
	}
	o.By = v.who()
	reply, err := h.Operator.Command(v.r.Context(), o.Command)
	if err != nil {
		return err
	}
	if reply.Refused {
		o.Refusal, o.Forceable = forPages.Replace(reply.Text), reply.Forceable
		v.status = http.StatusConflict
		return h.showOrder(v, o)
	}
	v.title, v.menu = "Done", "overview"
	return h.show(v, "done", struct{ Text, Back string }{reply.Text, o.Back})
}
