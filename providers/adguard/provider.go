// Package adguard pushes records to AdGuard Home, as DNS rewrites (v0.107.33 and
// later).
//
// A rewrite has a name and an answer, no mark, no TTL of its own and no number:
// the server knows it by its text, a deletion takes all that read the same, and
// adding does not look whether it is there. So every change begins with a fresh
// list and goes on only if that shows what the plan was made of. A value is
// changed in place, new ones are added before old ones are deleted: a name is
// never empty. Doubles are left as they are, for none of two can be deleted.
//
// It logs in when the server asks for it, once, and keeps the session; a
// password that is not taken is an error of class [providers.Denied] and is not
// tried again by itself. One request is sent at a time.
package adguard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Provider is one AdGuard Home.
type Provider struct {
	cfg    Config
	client *client
	// looked: the TTL was set in this session, or could not be.
	looked bool
}

var (
	_ providers.Provider = (*Provider)(nil)
	_ providers.Settler  = (*Provider)(nil)
)

// New gives the provider of a server. Errors say what is wrong with its URL or
// its CA.
func New(cfg Config) (*Provider, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, client: c}, nil
}

// Traits of AdGuard Home: no marks, one TTL for all, and a switch for each
// rewrite (versions before v0.107.68 have none that is off).
func (*Provider) Traits() providers.Traits { return providers.Traits{Disable: true} }

// Close ends the session.
func (p *Provider) Close() error {
	p.client.logout(context.Background())
	p.client.http.CloseIdleConnections()
	p.looked = false
	return nil
}

// List reads all rewrites and gives those of the names, with what else may be
// answered for them.
func (p *Provider) List(ctx context.Context, names []string) (providers.Listing, error) {
	rows, err := p.rows(ctx)
	if err != nil {
		return providers.Listing{}, err
	}
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	var l providers.Listing
	for _, r := range rows {
		if addr, ok := r.addr(); ok && wanted[r.name()] {
			l.Entries = append(l.Entries, r.entry(addr))
		}
	}
	l.Shadows = shadows(rows, wanted)
	return l, nil
}

func (p *Provider) rows(ctx context.Context) ([]row, error) {
	a, err := p.client.do(ctx, http.MethodGet, "/rewrite/list", nil)
	if err != nil {
		return nil, err
	}
	if err := a.isJSON(); err != nil {
		return nil, fmt.Errorf("list the rewrites: %w", err)
	}
	return parseRows(a.body)
}

// Apply carries out one change. It lists first: what is not as the change takes
// it to be is an error of class [providers.Changed].
func (p *Provider) Apply(ctx context.Context, c providers.Change) error {
	// A server that will not have its TTL set, or does not answer for it, may take records
	// all the same: [Provider.Settle] says why.
	if err := p.settle(ctx); err != nil {
		if class, _ := providers.ClassOf(err); class == providers.Denied {
			return err
		}
	}
	rows, err := p.rows(ctx)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !within(r, c.Key) })
	if !asListed(rows, c.Before) {
		return &providers.Error{Class: providers.Changed, Err: fmt.Errorf("%s is not as it was listed", c.Key)}
	}
	for _, s := range c.Swap {
		if err := p.swap(ctx, s, rows); err != nil {
			return err
		}
	}
	for _, r := range c.Add {
		if slices.ContainsFunc(rows, func(x row) bool { return x.rewrite == of(r) && !x.off }) {
			return &providers.Error{Class: providers.Changed, Err: fmt.Errorf("%s is there already", of(r).text())}
		}
		if err := p.write(ctx, http.MethodPost, "/rewrite/add", enabled{of(r), true}); err != nil {
			return err
		}
		rows = append(rows, row{rewrite: of(r)})
	}
	return p.remove(ctx, c.Remove, rows)
}

// within says whether a rewrite is of an RRset.
func within(r row, k providers.Key) bool {
	addr, ok := r.addr()
	return ok && (providers.Record{Name: r.name(), Addr: addr}).Key() == k
}

// asListed says whether the rewrites of an RRset are the entries that were
// listed, in any order.
func asListed(rows []row, before []providers.Entry) bool {
	var now, then []string
	for _, r := range rows {
		now = append(now, fmt.Sprint(r.id(), r.off))
	}
	for _, e := range before {
		then = append(then, fmt.Sprint(e.ID, e.Disabled))
	}
	slices.Sort(now)
	slices.Sort(then)
	return slices.Equal(now, then)
}

// enabled is a rewrite that is switched on, whatever it was before: one that is
// changed without a word of it stays off. Versions before v0.107.68 take no
// notice.
type enabled struct {
	rewrite
	Enabled bool `json:"enabled"`
}

// swap changes the first rewrite that reads as the entry, and notes it in rows.
func (p *Provider) swap(ctx context.Context, s providers.Swap, rows []row) error {
	from, err := parseID(s.From.ID)
	if err != nil {
		return err
	}
	to := of(s.To)
	err = p.write(ctx, http.MethodPut, "/rewrite/update", struct {
		Target rewrite `json:"target"`
		Update enabled `json:"update"`
	}{from, enabled{to, true}})
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(rows, func(r row) bool { return r.rewrite == from }); i >= 0 {
		rows[i] = row{rewrite: to}
	}
	return nil
}

// remove deletes entries. A deletion takes all that read the same; where some of
// them are to stay, nothing is deleted.
func (p *Provider) remove(ctx context.Context, entries []providers.Entry, rows []row) error {
	todo := map[rewrite]int{}
	var order []rewrite
	for _, e := range entries {
		r, err := parseID(e.ID)
		if err != nil {
			return err
		}
		if todo[r] == 0 {
			order = append(order, r)
		}
		todo[r]++
	}
	for _, r := range order {
		equal := 0
		for _, x := range rows {
			if x.rewrite == r {
				equal++
			}
		}
		if equal > todo[r] {
			return permanent("%s is there %d times, and deleting one deletes all: delete it there by hand, or leave it", r.text(), equal)
		}
		if err := p.write(ctx, http.MethodPost, "/rewrite/delete", r); err != nil {
			return err
		}
	}
	return nil
}

func (p *Provider) write(ctx context.Context, method, path string, body any) error {
	a, err := p.client.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := a.fault(); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(path, "/"), err)
	}
	if of := a.header.Get("Content-Type"); strings.HasPrefix(of, "text/html") {
		return permanent("%s: a page came in place of an answer: something that stands before the server answers for it", strings.TrimPrefix(path, "/"))
	}
	return nil
}

// settle sets the server's TTL, where that is wanted, once in a session; where it
// cannot be set, [Provider.Settle] alone tries again. It is the one setting that is ever
// changed.
func (p *Provider) settle(ctx context.Context) error {
	if !p.cfg.ManageTTL || p.cfg.TTL <= 0 || p.looked {
		return nil
	}
	p.looked = true
	now, err := p.ttl(ctx)
	if err != nil {
		return err
	}
	if want := p.cfg.TTL.Truncate(time.Second); now != want {
		if err := p.write(ctx, http.MethodPost, "/dns_config", map[string]int{ttlKey: int(want / time.Second)}); err != nil {
			return fmt.Errorf("set the TTL: %w", err)
		}
	}
	return nil
}

// Settle sets the server's TTL where the configuration says so and it is
// another. [Provider.Apply] does it before its first change too.
func (p *Provider) Settle(ctx context.Context) error {
	p.looked = false
	return p.settle(ctx)
}
