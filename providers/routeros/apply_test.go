package routeros

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// find gives the entry with an address.
func find(t *testing.T, l providers.Listing, addr string) providers.Entry {
	t.Helper()
	i := slices.IndexFunc(l.Entries, func(e providers.Entry) bool { return e.Addr.String() == addr })
	if i < 0 {
		t.Fatalf("%s is not listed: %+v", addr, l.Entries)
	}
	return l.Entries[i]
}

// A change would be made in another way than RouterOS takes it, in some version.
func TestApply(t *testing.T) {
	for _, version := range routersim.Versions {
		t.Run(version, func(t *testing.T) {
			r := router(t, routersim.Options{Version: version})
			do(t, r, "add", "name=app.lan", "address=192.0.2.1", "comment=f\xfcr alle")
			do(t, r, "add", "name=App.Lan", "address=192.0.2.2", "comment=managed-by=dnsteer/test by hand", "disabled=yes")
			do(t, r, "add", "name=app.lan", "address=192.0.2.3", "comment=managed-by=dnsteer/test")
			p := open(t, plain(r))
			l := list(t, p, "app.lan")
			human, other, third := find(t, l, "192.0.2.1"), find(t, l, "192.0.2.2"), find(t, l, "192.0.2.3")
			err := p.Apply(within(t), providers.Change{
				Key: human.Key(), Adopt: []providers.Entry{human},
				Swap:   []providers.Swap{{From: human, To: record("app.lan", "192.0.2.7", 30*time.Second)}, {From: other, To: record("app.lan", "192.0.2.8", 90*time.Second)}},
				Add:    []providers.Record{record("app.lan", "192.0.2.9", time.Second)},
				Remove: []providers.Entry{third},
			})
			if err != nil {
				t.Fatal(err)
			}
			six := record("app.lan", "2001:db8::1", time.Hour)
			if err := p.Apply(within(t), providers.Change{Key: six.Key(), Add: []providers.Record{six}}); err != nil {
				t.Fatal(err)
			}
			l = list(t, p, "app.lan")
			want := []string{"app.lan 192.0.2.7 30s marked", "app.lan 192.0.2.8 1m30s marked", "app.lan 192.0.2.9 1s marked", "app.lan 2001:db8::1 1h0m0s marked"}
			if d := cmp.Diff(want, entries(l)); d != "" {
				t.Error(d)
			}
			var comments, names []string
			for _, rec := range r.Records() {
				comments, names = append(comments, rec.Fields["comment"]), append(names, rec.Fields["name"])
			}
			mark := "managed-by=dnsteer/test"
			if d := cmp.Diff([]string{mark + " f\xfcr alle", mark + " by hand", mark, mark}, comments); d != "" {
				t.Errorf("comments: %s", d)
			}
			if d := cmp.Diff([]string{"app.lan", "app.lan", "app.lan", "app.lan"}, names); d != "" {
				t.Errorf("names: %s", d)
			}
		})
	}
}

// Somebody else's record would be changed: one that was not adopted, one that
// became his since it was listed, or one that an old ID names now.
func TestApplyLeavesOthersAlone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		meddle func(*testing.T, *routersim.Router, string)
		addr   string
		class  providers.Class
	}{
		{"not ours", nil, "192.0.2.1", providers.Permanent},
		{"a dynamic row", nil, "192.0.2.4", providers.Permanent},
		{"taken over by somebody", func(t *testing.T, r *routersim.Router, id string) {
			do(t, r, "set", ".id="+id, "comment=mine now")
		}, "192.0.2.2", providers.Changed},
		{"changed by somebody", func(t *testing.T, r *routersim.Router, id string) {
			do(t, r, "set", ".id="+id, "address=192.0.2.66")
		}, "192.0.2.2", providers.Changed},
		{"removed by somebody", func(t *testing.T, r *routersim.Router, id string) {
			do(t, r, "remove", ".id="+id)
		}, "192.0.2.2", providers.Changed},
		{"an ID that names another row", func(_ *testing.T, r *routersim.Router, _ string) {
			r.Restore(r.Snapshot(), true)
			r.DropSessions()
		}, "192.0.2.2", providers.Changed},
	} {
		for _, verb := range []string{"swap", "remove"} {
			t.Run(tt.name+", "+verb, func(t *testing.T) {
				r := router(t, routersim.Options{})
				do(t, r, "add", "name=app.lan", "address=192.0.2.1")
				do(t, r, "add", "name=app.lan", "address=192.0.2.2", "comment=managed-by=dnsteer/test")
				do(t, r, "add", "name=nas.lan", "address=192.0.2.3")
				if err := r.AddDynamic(map[string]string{"name": "app.lan", "address": "192.0.2.4"}); err != nil {
					t.Fatal(err)
				}
				p := open(t, plain(r))
				e := find(t, list(t, p, "app.lan"), tt.addr)
				if tt.meddle != nil {
					tt.meddle(t, r, e.ID)
				}
				before := rows(r)
				c := providers.Change{Key: e.Key(), Swap: []providers.Swap{{From: e, To: record("app.lan", "192.0.2.9", time.Minute)}}}
				if verb == "remove" {
					c = providers.Change{Key: e.Key(), Remove: []providers.Entry{e}}
				}
				err := p.Apply(within(t), c)
				if class, _ := providers.ClassOf(err); err == nil || class != tt.class {
					t.Errorf("class %v: %v", class, err)
				}
				if d := cmp.Diff(before, rows(r)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// A refusal would be tried again at once for ever, or not for minutes where it
// passes in a second, or be told without what helps.
func TestRefusalsHaveAClass(t *testing.T) {
	p := &Provider{config: Config{Username: "dnsteer"}, session: &session{version: parseVersion("7.4.1 (stable)")}}
	for message, want := range map[string]struct {
		class providers.Class
		text  string
	}{
		"failure: entry already exists":                                 {providers.Changed, "somebody has made"},
		"failure: already have such entry":                              {providers.Changed, "somebody has made"},
		"failure: Already have such item":                               {providers.Changed, "somebody has made"},
		"no such item (4)":                                              {providers.Changed, "gone"},
		"not enough permissions (9)":                                    {providers.Permanent, "/user set dnsteer group=dnsteer"},
		"no such command prefix":                                        {providers.Permanent, "7.4.1"},
		"no such command or directory (static)":                         {providers.Permanent, "7.4.1"},
		"unknown parameter match-subdomain":                             {providers.Permanent, "7.4.1"},
		"invalid value for argument address:\n    invalid value of mac": {providers.Permanent, "does not take the value"},
		"input does not match any value of type":                        {providers.Permanent, "does not take the value"},
		"value of ttl out of range (0..4294967295)":                     {providers.Permanent, "does not take the value"},
		"failure: bad MX data":                                          {providers.Permanent, "does not take the value"},
		"failure: expected regexp value":                                {providers.Permanent, "expression"},
		"failure: only name or regexp allowed":                          {providers.Permanent, "both"},
		"failure: can not change dynamic entry":                         {providers.Permanent, "router itself"},
		"action failed (6)":                                             {providers.Declined, "action failed"},
		"interrupted":                                                   {providers.Transient, "interrupted"},
		"std failure: timeout (13)":                                     {providers.Transient, "timeout"},
		"failure: not enough space on disk":                             {providers.Declined, "not enough space"},
		"something new":                                                 {providers.Declined, "something new"},
	} {
		err := p.explain("change", &trapError{message})
		if class, _ := providers.ClassOf(err); class != want.class || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: class %v, %v", message, class, err)
		}
	}
}

// A refusal would cost a new login, which fills the router's log.
func TestRefusalKeepsTheSession(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	do(t, r, "add", "name=app.lan", "address=192.0.2.1")
	list(t, p, "app.lan")
	for range 3 {
		err := p.Apply(within(t), providers.Change{Add: []providers.Record{record("app.lan", "192.0.2.1", time.Minute)}})
		if class, _ := providers.ClassOf(err); class != providers.Changed {
			t.Error(err)
		}
	}
	if n := r.Counts().Logins; n != 1 {
		t.Errorf("%d logins", n)
	}
}
