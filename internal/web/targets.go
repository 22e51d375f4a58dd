package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

// targetTime bounds what is asked of a target.
const targetTime = time.Minute

// targetCard is a server of a target as it is shown.
type targetCard struct {
	api.TargetView
	Sign sign
	Rows []targetRow
	// MoreRows are ours for which there is no place, of which Wrong are not as they
	// should be.
	MoreRows, Wrong int
	// Foreign records of other names than ours, and how many more there are.
	Foreign []api.TargetForeign
	More    int
	// Further: a page of its own shows more of them.
	Further bool
	// MoreConflicts are names without failover that are not listed.
	MoreConflicts int
	Actions       []targetAction
	Base          string
}

// targetRow is one RRset: what it should be, what the device holds, and what the
// site's resolver gives.
type targetRow struct {
	api.TargetRecord
	Differs bool
	// Foreign are records of the same name and type that are not dnsteer's.
	Foreign []api.TargetForeign
	// Seen: "" while it is not known.
	Seen string
}

// targetAction is what can be done about a target.
type targetAction struct {
	Verb api.TargetVerb
	Text string
}

// targets is the page of what is pushed: of all targets, or of one.
func (h *Handler) targets(v *visit) error {
	only := query(v.r, "target")
	var list []api.TargetView
	if h.Publisher != nil {
		var err error
		if list, err = h.Publisher.Targets(v.r.Context()); err != nil {
			return err
		}
	}
	cards := make([]targetCard, 0, len(list))
	for i := range list {
		if only == "" || list[i].Name == only {
			cards = append(cards, targetOf(&list[i], v))
		}
	}
	if only != "" && len(cards) == 0 {
		return &api.NotFoundError{Text: "There is no target " + only + "."}
	}
	page := struct {
		Only  string // "" for all
		Cards []targetCard
		Rest  []targetCard // in a line each
	}{Only: only}
	page.Cards, page.Rest = placed(cards)
	v.title, v.menu = "Targets", "targets"
	return h.show(v, "targets", page)
}

func targetOf(t *api.TargetView, v *visit) targetCard {
	c := targetCard{TargetView: *t, Sign: targetSign(t.State), Base: v.caller.BasePath}
	of := make(map[[2]string]int)
	for i := range t.Records {
		r := &t.Records[i]
		of[[2]string{r.Name, r.Type}] = i
		row := targetRow{TargetRecord: *r, Differs: !slices.Equal(r.Desired, r.Actual)}
		switch {
		case r.Visible == nil:
		case *r.Visible:
			row.Seen = strings.Join(r.Desired, ", ")
		default:
			row.Seen = "something else"
		}
		c.Rows = append(c.Rows, row)
	}
	for _, f := range t.Foreign {
		if i, ours := of[[2]string{f.Name, f.Type}]; ours {
			c.Rows[i].Foreign = append(c.Rows[i].Foreign, f)
		} else {
			c.Foreign = append(c.Foreign, f)
		}
	}
	c.More = t.Strangers - len(t.Foreign)
	adoptable := len(t.NoFailover) > 0 || slices.ContainsFunc(c.Rows, func(r targetRow) bool { return len(r.Foreign) > 0 })
	if v.caller.Role < auth.Admin {
		return c
	}
	if t.State == api.TargetDisabled {
		c.Actions = append(c.Actions, targetAction{api.TargetEnable, "Enable"})
	} else {
		if adoptable {
			c.Actions = append(c.Actions, targetAction{api.TargetAdopt, "Take over records"})
		}
		c.Actions = append(c.Actions, targetAction{api.TargetDisable, "Leave it alone"})
	}
	c.Actions = append(c.Actions, targetAction{api.TargetPurge, "Remove what is ours"})
	return c
}

// targetSign gives the sign of a target's state.
func targetSign(s api.TargetState) sign {
	switch s {
	case api.TargetCurrent:
		return sign{"up", "as it should be", Calm}
	case api.TargetPending:
		return sign{"recovering", "a push is under way", Watch}
	case api.TargetDiffers:
		return sign{"failing", "is other than it should be", Watch}
	case api.TargetFailing:
		return sign{"out", "fails", Gone}
	case api.TargetDenied:
		return sign{"out", "refuses the credentials", Gone}
	case api.TargetDisabled:
		return sign{"disabled", "is left alone", Held}
	case api.TargetHeld:
		return sign{"held", "nothing is sent: its site cannot be seen", Held}
	case api.TargetDryRun:
		return sign{"held", "dry run: nothing is changed", Held}
	default:
		return sign{"pending", "waits until the site is seen", Calm}
	}
}

// targetOrder is a word about a target on its way.
type targetOrder struct {
	api.TargetRequest
	Title   string
	Not     []string
	Text    string // what would be done
	Changes []api.TargetChange
	// Refusal is why it was refused, Fault what is wrong with what was typed.
	Refusal, Fault string
}

// describeTarget says what a verb is called, and what it does and does not do.
func describeTarget(verb api.TargetVerb) (title string, not []string) {
	switch verb {
	case api.TargetDisable:
		return "Leave it alone", []string{"Nothing is sent to it any more, and nothing is removed there: its clients get what it holds now, whatever happens."}
	case api.TargetEnable:
		return "Enable", []string{"What it has missed is caught up with. Removals go too that delete_guard holds back."}
	case api.TargetAdopt:
		return "Take over records", []string{"Only records of configured names with addresses of their nodes are taken over; they are changed and removed from then on as the nodes' states say."}
	case api.TargetPurge:
		return "Remove what is ours", []string{"Its clients lose these names there.", "It is left alone afterwards, until it is enabled. Records of others stay."}
	}
	return "", nil
}

// askTarget says what a word about a target would do.
func (h *Handler) askTarget(v *visit) error {
	o, err := h.targetOrder(v)
	if err != nil {
		return err
	}
	if o.Verb == api.TargetAdopt || o.Verb == api.TargetPurge {
		ctx, cancel := context.WithTimeout(v.r.Context(), targetTime)
		defer cancel()
		would, err := h.Publisher.Operate(ctx, o.TargetRequest)
		if err != nil {
			return err
		}
		o.Text, o.Changes = would.Text, would.Changes
		if would.Refused {
			o.Text, o.Refusal = "", would.Text
		}
	}
	return h.showTargetOrder(v, o)
}

func (h *Handler) showTargetOrder(v *visit, o *targetOrder) error {
	v.title, v.menu = o.Title+": "+o.Target, "targets"
	return h.show(v, "targetact", o)
}

// targetOrder reads a word about a target from a form or a URL.
func (h *Handler) targetOrder(v *visit) (*targetOrder, error) {
	if err := v.r.ParseForm(); err != nil {
		return nil, &api.Problem{Status: http.StatusBadRequest, Title: "Bad Request", Detail: "the form cannot be read"}
	}
	in := v.r.Form
	o := &targetOrder{TargetRequest: api.TargetRequest{
		Verb: api.TargetVerb(in.Get("verb")), Target: in.Get("target"), Reason: strings.TrimSpace(in.Get("reason")), By: v.who(),
	}}
	if len(o.Reason) > maxReason {
		o.Fault = tooLong
		o.Reason = strings.ToValidUTF8(o.Reason[:maxReason], "")
	}
	if h.Publisher == nil || !slices.Contains(api.TargetVerbs(), o.Verb) {
		return nil, &api.NotFoundError{Text: fmt.Sprintf("There is no command %q for targets.", o.Verb)}
	}
	o.Title, o.Not = describeTarget(o.Verb)
	return o, nil
}

// actTarget does it.
func (h *Handler) actTarget(v *visit) error {
	o, err := h.targetOrder(v)
	if err != nil {
		return err
	}
	if o.Fault != "" {
		v.status = http.StatusUnprocessableEntity
		return h.showTargetOrder(v, o)
	}
	o.Confirmed = true
	// What was begun is carried out, whether the browser waits or not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), targetTime)
	defer cancel()
	reply, err := h.Publisher.Operate(ctx, o.TargetRequest)
	if err != nil {
		return err
	}
	if reply.Refused {
		o.Refusal, v.status = reply.Text, http.StatusConflict
		return h.showTargetOrder(v, o)
	}
	v.title, v.menu = "Done", "targets"
	return h.show(v, "done", struct{ Text, Back string }{reply.Text, "/targets"})
}

// certificates shows what a target's servers show of themselves.
func (h *Handler) certificates(v *visit) error {
	name := query(v.r, "target")
	if h.Publisher == nil {
		return &api.NotFoundError{Text: "There is no target " + name + "."}
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), targetTime)
	defer cancel()
	list, err := h.Publisher.Certificates(ctx, name)
	if err != nil {
		return err
	}
	v.title, v.menu = "Certificates of "+name, "targets"
	return h.show(v, "certificates", struct {
		Target string
		api.CertificateList
	}{name, list})
}
