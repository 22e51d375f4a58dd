package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// TargetList is the answer to a query for targets.
type TargetList struct {
	Targets []TargetView `json:"targets"`
}

// PlanList is the answer to a query for what would be pushed.
type PlanList struct {
	Plans []TargetPlan `json:"plans"`
}

// TargetVerbs lists what an operator can say of a target.
func TargetVerbs() []TargetVerb {
	return []TargetVerb{TargetDisable, TargetEnable, TargetAdopt, TargetPurge}
}

func (h *Handler) targets(w http.ResponseWriter, r *http.Request) error {
	list, err := h.targetViews(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, TargetList{listed(list)})
	return nil
}

// targetViews asks for the targets, and makes lists of all that are none.
func (h *Handler) targetViews(ctx context.Context) ([]TargetView, error) {
	if h.Publisher == nil {
		return nil, nil
	}
	list, err := h.Publisher.Targets(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Records = listed(slices.Clone(list[i].Records))
		for j := range list[i].Records {
			rec := &list[i].Records[j]
			rec.Desired, rec.Actual = listed(rec.Desired), listed(rec.Actual)
		}
	}
	return list, nil
}

func (h *Handler) plan(w http.ResponseWriter, r *http.Request) error {
	v, err := parameters(r.URL, "target")
	if err != nil {
		return err
	}
	if err := Unhurried(w); err != nil {
		return err
	}
	var plans []TargetPlan
	switch name := v.Get("target"); {
	case h.Publisher != nil:
		if plans, err = h.Publisher.Plan(r.Context(), name); err != nil {
			return err
		}
	case name != "":
		return noTargets(name)
	}
	plans = slices.Clone(plans)
	for i := range plans {
		plans[i].Changes = listed(plans[i].Changes)
	}
	writeJSON(w, PlanList{listed(plans)})
	return nil
}

// certificates has the servers of a target show their certificates.
func (h *Handler) certificates(w http.ResponseWriter, r *http.Request) error {
	if err := Unhurried(w); err != nil {
		return err
	}
	name := r.PathValue("name")
	if h.Publisher == nil {
		return noTargets(name)
	}
	list, err := h.Publisher.Certificates(r.Context(), name)
	if err != nil {
		return err
	}
	list.Certificates = listed(list.Certificates)
	writeJSON(w, list)
	return nil
}

func noTargets(name string) error {
	return &NotFoundError{Text: "There is no target " + name + ": the configuration has none."}
}

// operateTarget carries out an operator's word about a target. What is refused
// is a conflict (409).
func (h *Handler) operateTarget(w http.ResponseWriter, r *http.Request) error {
	body, err := jsonBody(r)
	if err != nil {
		return err
	}
	in, err := ParseTargetRequest(r.PathValue("name"), body)
	if err != nil {
		return err
	}
	if h.Publisher == nil {
		return noTargets(in.Target)
	}
	if err := Unhurried(w); err != nil {
		return err
	}
	if c := CallerOf(r.Context()); !c.Local { // the socket's clients say who sits there
		in.By = whoIs(c)
	}
	// What was begun is carried out, whether its sender waits or not.
	reply, err := h.Publisher.Operate(context.WithoutCancel(r.Context()), in)
	switch {
	case err != nil:
		return err
	case reply.Refused:
		return problem(http.StatusConflict, "%s", reply.Text)
	}
	writeJSON(w, reply)
	return nil
}

// ParseTargetRequest reads an operator's word about the target of that name. The
// error is a [*Problem].
func ParseTargetRequest(name string, body []byte) (TargetRequest, error) {
	bad := func(format string, args ...any) (TargetRequest, error) {
		return TargetRequest{}, problem(http.StatusBadRequest, format, args...)
	}
	var in TargetRequest
	if err := decode(body, "command", &in); err != nil {
		return TargetRequest{}, err
	}
	switch {
	case in.Verb == "":
		return bad("verb: missing; it is one of %s", targetVerbs())
	case !slices.Contains(TargetVerbs(), in.Verb):
		return bad("verb: there is no command %q; there are %s", string(in.Verb), targetVerbs())
	case in.Target != "" && in.Target != name:
		return bad("target: %q stands in the body, and %q in the path", in.Target, name)
	case in.Name != "" && in.Verb != TargetAdopt:
		return bad("name: only adopt takes one")
	}
	for field, text := range map[string]string{"reason": in.Reason, "by": in.By, "name": in.Name} {
		if len(text) > maxText {
			return bad("%s: longer than %d bytes", field, maxText)
		}
	}
	in.Target = name
	in.Name = strings.ToLower(strings.TrimSuffix(in.Name, "."))
	return in, nil
}

func targetVerbs() string {
	var list []string
	for _, v := range TargetVerbs() {
		list = append(list, string(v))
	}
	return strings.Join(list, ", ")
}

// Targets gives what is known of each server of each target.
func (c *Client) Targets(ctx context.Context) ([]TargetView, error) {
	var list TargetList
	err := c.get(ctx, "/api/v1/targets", &list)
	return list.Targets, err
}

// Plan has the controller list what is there and say what a push would change;
// target may be "" for all.
func (c *Client) Plan(ctx context.Context, target string) ([]TargetPlan, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	path := "/api/v1/targets/plan"
	if target != "" {
		path += "?target=" + url.QueryEscape(target)
	}
	var list PlanList
	err := c.ask(ctx, http.MethodGet, path, nil, &list)
	return list.Plans, err
}

// Operate carries out an operator's word about a target. A refusal is a reply,
// not an error.
func (c *Client) Operate(ctx context.Context, r TargetRequest) (reply TargetReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	body, err := json.Marshal(r)
	if err != nil {
		return reply, err
	}
	err = c.ask(ctx, http.MethodPost, "/api/v1/targets/"+url.PathEscape(r.Target), body, &reply)
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusConflict {
		return TargetReply{Refused: true, Text: p.Detail}, nil
	}
	return reply, err
}
