package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// CommandRequest is a [sites.Command] as it is sent.
type CommandRequest struct {
	Verb   sites.Verb `json:"verb"`
	Site   string     `json:"site,omitempty"`
	Node   string     `json:"node,omitempty"`
	Pool   string     `json:"pool,omitempty"`
	Force  bool       `json:"force,omitempty"`
	For    string     `json:"for,omitempty"` // a duration: "90m", "2d"
	Reason string     `json:"reason,omitempty"`
	By     string     `json:"by,omitempty"`
}

// CommandReply says what a command has done.
type CommandReply struct {
	Text string `json:"text"`
}

// commandTime bounds the wait for the loop, which answers at once or not at all.
const commandTime = 30 * time.Second

// maxText bounds what is stored with events.
const maxText = 1000

// command carries out a command. What the rules refuse (unknown sites and nodes
// too: they say which there are) is a conflict (409).
func (h *Handler) command(w http.ResponseWriter, r *http.Request) error {
	body, err := jsonBody(r)
	if err != nil {
		return err
	}
	c, err := ParseCommand(body)
	if err != nil {
		return err
	}
	caller := CallerOf(r.Context())
	if !caller.Local { // the socket's clients say who sits there
		c.By = whoIs(caller)
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		return problem(http.StatusBadRequest, "Idempotency-Key: longer than %d bytes", maxKey)
	}
	// A command that was begun is carried out, whether its sender waits or not:
	// the sender who asks again with the same key is told what came of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), commandTime)
	defer cancel()
	reply, err := h.replies.once(ctx, scoped(caller, key), c, func() (sites.Reply, error) { return h.Operator.Command(ctx, c) })
	switch {
	case err != nil:
		return err
	case reply.Refused:
		p := problem(http.StatusConflict, "%s", reply.Text)
		p.Forceable = reply.Forceable
		return p
	}
	writeJSON(w, CommandReply{reply.Text})
	return nil
}

// whoIs names a caller in events.
func whoIs(c *Caller) string {
	if c.Name == "" {
		return "somebody at " + c.Source.String()
	}
	return c.Name
}

// ParseCommand reads a command. The error is a [*Problem].
func ParseCommand(body []byte) (sites.Command, error) {
	bad := func(format string, args ...any) (sites.Command, error) {
		return sites.Command{}, problem(http.StatusBadRequest, format, args...)
	}
	var in CommandRequest
	if err := decode(body, "command", &in); err != nil {
		return sites.Command{}, err
	}
	switch {
	case in.Verb == "":
		return bad("verb: missing; it is one of %s", verbs())
	case !slices.Contains(sites.Verbs(), in.Verb):
		return bad("verb: there is no command %q; there are %s", string(in.Verb), verbs())
	}
	c := sites.Command{
		Verb: in.Verb, Site: in.Site, Node: in.Node, Pool: in.Pool, Force: in.Force, By: in.By, Reason: in.Reason,
	}
	if in.For != "" {
		var err error
		if c.For, err = config.ParseDuration(in.For); err != nil {
			return bad("for: %v", err)
		}
		if c.For <= 0 {
			return bad("for: %q is no time at all; leave it out for ever", in.For)
		}
	}
	for name, text := range map[string]string{"reason": in.Reason, "by": in.By} {
		if len(text) > maxText {
			return bad("%s: longer than %d bytes", name, maxText)
		}
	}
	return c, nil
}

// verbs lists what may be ordered.
func verbs() string {
	var list []string
	for _, v := range sites.Verbs() {
		list = append(list, string(v))
	}
	return strings.Join(list, ", ")
}

// request writes a command as [ParseCommand] reads it.
func request(c *sites.Command) CommandRequest {
	out := CommandRequest{
		Verb: c.Verb, Site: c.Site, Node: c.Node, Pool: c.Pool, Force: c.Force, By: c.By, Reason: c.Reason,
	}
	if c.For > 0 {
		out.For = fmt.Sprint(c.For)
	}
	return out
}
