package routeros

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/providers"
)

const table = "/ip/dns/static"

// Apply implements [providers.Provider]. The rows that it changes are read once
// more before: an ID may name another row by now, and a row may have become
// somebody else's.
func (p *Provider) Apply(ctx context.Context, c providers.Change) error {
	doing := "change " + c.Key.String()
	end, err := p.begin(ctx)
	if err != nil {
		return p.explain(doing, err)
	}
	defer end()
	touched, err := p.touched(c)
	if err == nil {
		err = p.unchanged(ctx, touched)
	}
	if err == nil {
		err = p.apply(ctx, c, touched)
	}
	return p.explain(doing, err)
}

// touched gives the rows that a change is about, by ID, as they were listed.
func (p *Provider) touched(c providers.Change) (map[string]row, error) {
	rows := map[string]row{}
	adopted := map[string]bool{}
	see := func(e providers.Entry, ours bool) error {
		r, ok := p.last.rows[e.ID]
		switch {
		case !ok:
			return changed("the row %s was not there when records were listed last", e.ID)
		case e.Fixed:
			return refused("the row %s cannot be changed", r)
		case ours && !adopted[e.ID] && !marked(r.comment, p.mark):
			return refused("the row %s is not ours", r)
		}
		rows[e.ID] = r
		return nil
	}
	var errs []error
	for _, e := range c.Adopt {
		adopted[e.ID] = true
		errs = append(errs, see(e, false))
	}
	for _, s := range c.Swap {
		errs = append(errs, see(s.From, true))
	}
	for _, e := range c.Remove {
		errs = append(errs, see(e, true))
	}
	return rows, errors.Join(errs...)
}

func changed(format string, args ...any) error {
	return &providers.Error{Class: providers.Changed, Err: fmt.Errorf(format, args...)}
}

func refused(format string, args ...any) error {
	return &providers.Error{Class: providers.Permanent, Err: fmt.Errorf(format, args...)}
}

// unchanged reads rows again and fails where one is not as it was.
func (p *Provider) unchanged(ctx context.Context, rows map[string]row) error {
	if len(rows) == 0 {
		return nil
	}
	var conditions []string
	for _, r := range rows {
		condition := "?name=" + r.name
		if r.regexp != "" {
			condition = "?regexp=" + r.regexp
		}
		if !slices.Contains(conditions, condition) {
			conditions = append(conditions, condition)
		}
	}
	words := []string{fields}
	for i, condition := range conditions {
		words = append(words, condition)
		if i > 0 {
			words = append(words, "?#|")
		}
	}
	found, err := p.print(ctx, table, words...)
	if err != nil {
		return err
	}
	now := map[string]row{}
	for _, s := range found {
		r := parseRow(s)
		now[r.id] = r
	}
	for id, r := range rows {
		if now[id] != r {
			return changed("the row %s was changed or removed by somebody since records were listed", r)
		}
	}
	return nil
}

func (p *Provider) apply(ctx context.Context, c providers.Change, rows map[string]row) error {
	for _, e := range c.Adopt {
		r := rows[e.ID]
		if marked(r.comment, p.mark) {
			continue
		}
		r.comment = remark(r.comment, p.mark)
		if err := p.write(ctx, table+"/set", "=.id="+e.ID, "=comment="+r.comment); err != nil {
			return err
		}
		rows[e.ID] = r
	}
	for _, s := range c.Swap {
		if err := p.swap(ctx, rows[s.From.ID], s.To); err != nil {
			return err
		}
	}
	for _, r := range c.Add {
		if err := p.add(ctx, r, p.mark); err != nil {
			return err
		}
	}
	for _, e := range c.Remove {
		if err := p.remove(ctx, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// swap changes a row in place. One that would have to become an expression, or is one, is
// made anew before it goes.
func (p *Provider) swap(ctx context.Context, from row, to providers.Record) error {
	words := []string{table + "/set", "=.id=" + from.id, "=address=" + to.Addr.String(), "=ttl=" + formatTTL(to.TTL), "=disabled=no"}
	form := p.form(to.Name)
	if form.regexp != from.regexp {
		if err := p.add(ctx, to, from.comment); err != nil {
			return err
		}
		return p.remove(ctx, from.id)
	}
	if from.regexp == "" && from.name != form.name {
		words = append(words, "=name="+form.name)
	}
	switch {
	case form.below && !from.below:
		words = append(words, "=match-subdomain=yes")
	case from.below && !form.below && form.regexp == "":
		words = append(words, "=match-subdomain=no")
	}
	return p.write(ctx, words...)
}

// form is how a name stands in a row.
func (p *Provider) form(name string) row {
	switch {
	case !strings.HasPrefix(name, "*."):
		return row{name: name}
	case p.last.asRow[name]:
		return row{name: name[2:], below: true}
	default:
		return row{regexp: expression(name)}
	}
}

// add makes a row. Its type is given where the router knows types and would not
// take it for A.
func (p *Provider) add(ctx context.Context, r providers.Record, comment string) error {
	form := p.form(r.Name)
	words := []string{table + "/add", "=name=" + form.name}
	if form.regexp != "" {
		words[1] = "=regexp=" + form.regexp
	}
	if form.below {
		words = append(words, "=match-subdomain=yes")
	}
	if !r.Addr.Is4() {
		if err := p.connect(ctx); err != nil {
			return err
		}
		if p.session.version.types() {
			words = append(words, "=type=AAAA")
		}
	}
	words = append(words, "=address="+r.Addr.String(), "=ttl="+formatTTL(r.TTL), "=comment="+comment)
	return p.write(ctx, words...)
}

// remove takes a row away; one that is gone is that already.
func (p *Provider) remove(ctx context.Context, id string) error {
	err := p.write(ctx, table+"/remove", "=.id="+id)
	if trap, ok := errors.AsType[*trapError](err); ok && strings.Contains(strings.ToLower(trap.message), "no such item") {
		return nil
	}
	return err
}
