package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// maxReason bounds what is kept with events, in bytes.
const maxReason = 1000

// order is a command on its way: asked for, confirmed, refused or done.
type order struct {
	sites.Command
	// Title is what the button says, Changes what DNS will give, Not what will
	// not be done.
	Title   string
	Changes []string
	Not     []string
	// Lasts: it may end by itself.
	Lasts bool
	// ForText is the duration as it was typed, Refusal why it was refused, Fault
	// what is wrong with what was typed.
	ForText, Refusal, Fault string
	// Back is the page that it was asked from, a path of ours.
	Back string
}

// kinds says of each verb what it is called and what it does not do.
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

// values are those of a form or of a URL.
type values interface{ Get(name string) string }

func (h *Handler) order(v *visit, in values) (*order, error) {
	o := &order{Command: sites.Command{
		Verb: sites.Verb(in.Get("verb")), Site: in.Get("site"), Node: in.Get("node"), Pool: in.Get("pool"),
		Reason: strings.TrimSpace(in.Get("reason")), Force: in.Get("force") == "yes",
	}, ForText: strings.TrimSpace(in.Get("for")), Back: local(in.Get("back"))}
	if !slices.Contains(sites.Verbs(), o.Verb) {
		return nil, &api.NotFoundError{Text: fmt.Sprintf("There is no command %q.", o.Verb)}
	}
	o.Title, o.Not, o.Lasts = describe(o.Verb)
	if len(o.Reason) > maxReason {
		o.Fault = fmt.Sprintf("The reason is longer than %d bytes.", maxReason)
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

// local gives a path of ours to go back to: nothing that leads elsewhere.
func local(path string) string {
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(path, "\\") {
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
	if o.By = v.caller.Name; o.By == "" {
		o.By = "somebody at " + v.caller.Source.String()
	}
	reply, err := h.Operator.Command(v.r.Context(), o.Command)
	if err != nil {
		return err
	}
	if reply.Refused {
		o.Refusal = reply.Text
		v.status = http.StatusConflict
		return h.showOrder(v, o)
	}
	v.title, v.menu = "Done", "overview"
	return h.show(v, "done", struct{ Text, Back string }{reply.Text, o.Back})
}

// foreseen says what DNS will give if the command is taken, as far as the state
// of this moment tells.
func foreseen(st *api.Status, c *sites.Command) []string {
	s, err := find(st, c.Site)
	if err != nil {
		return nil
	}
	var out []string
	for i := range s.Pools {
		p := &s.Pools[i]
		if c.Pool != "" && p.Name != c.Pool {
			continue
		}
		now := addresses(p.IPv4, p.IPv6)
		then, known := after(s, p, c)
		switch {
		case !known:
		case slices.Equal(now, then):
			out = append(out, fmt.Sprintf("%s: %s stays.", poolName(s.Name, p.Name), listed(now)))
		case len(then) == 0:
			out = append(out, fmt.Sprintf("%s: %s goes, and no other node of the site serves.", poolName(s.Name, p.Name), listed(now)))
		default:
			out = append(out, fmt.Sprintf("%s: %s → %s", poolName(s.Name, p.Name), listed(now), listed(then)))
		}
	}
	return out
}

// after gives the addresses of a pool once the command is taken.
func after(s *sites.SiteView, p *sites.PoolView, c *sites.Command) (list []string, known bool) {
	now := addresses(p.IPv4, p.IPv6)
	switch c.Verb {
	case sites.Maintenance, sites.Disable:
		leaves := func(n *sites.NodeView) bool { return c.Node == "" || n.Name == c.Node }
		for i := range s.Nodes {
			if leaves(&s.Nodes[i]) {
				own := addresses(s.Nodes[i].Addresses)
				now = slices.DeleteFunc(now, func(a string) bool { return slices.Contains(own, a) })
			}
		}
		if len(now) > 0 {
			return now, true
		}
		for i := range s.Nodes { // the first other one that answers steps in
			if n := &s.Nodes[i]; !leaves(n) && n.Answers && n.Ordered == nil {
				return addresses(n.Addresses), true
			}
		}
		return nil, true
	case sites.Switch:
		n, err := findNode(s, c.Node)
		if err != nil || p.Mode != "active_passive" {
			return nil, false
		}
		return addresses(n.Addresses), true
	case sites.Pause, sites.Resume:
		return now, c.Verb == sites.Pause
	default:
		return nil, false
	}
}

func poolName(site, pool string) string {
	if pool == sites.DefaultPool {
		return site
	}
	return site + "/" + pool
}

func listed(list []string) string {
	if len(list) == 0 {
		return "no address"
	}
	return strings.Join(list, ", ")
}
