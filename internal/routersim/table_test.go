package routersim

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func response(password, challenge string) string {
	b, _ := hex.DecodeString(challenge)
	sum := md5.Sum(slices.Concat([]byte{0}, []byte(password), b))
	return "00" + hex.EncodeToString(sum[:])
}

func unique(t *testing.T) {
	r := start(t, Options{})
	do(t, r, "/ip/dns/static/add", "name=svc.lan", "address=192.0.2.1", "comment=a")
	do(t, r, "/ip/dns/static/add", "regexp=.*x", "address=192.0.2.1")
	const taken = "failure: entry already exists"
	for _, tt := range []struct {
		name, args, want string
	}{
		{"the same", "name=svc.lan address=192.0.2.1", taken},
		{"with another TTL and comment", "name=svc.lan address=192.0.2.1 ttl=5s comment=b", taken},
		{"with match-subdomain", "name=svc.lan address=192.0.2.1 match-subdomain=yes", taken},
		{"with a dot", "name=svc.lan. address=192.0.2.1", taken},
		{"disabled", "name=svc.lan address=192.0.2.1 disabled=yes", ""},
		{"other letters", "name=SVC.lan address=192.0.2.1", ""},
		{"another address", "name=svc.lan address=192.0.2.2", ""},
		{"another type", "name=svc.lan type=AAAA address=2001:db8::1", ""},
		{"a CNAME beside it", "name=svc.lan type=CNAME cname=a.lan", ""},
		{"a second CNAME", "name=svc.lan type=CNAME cname=b.lan", ""},
		{"an expression again", "regexp=.*x address=192.0.2.1", taken},
		{"an expression with another address", "regexp=.*x address=192.0.2.2", ""},
		{"both", "name=a.lan regexp=.*x address=192.0.2.1", "failure: only name or regexp allowed"},
	} {
		if _, err := r.Do("/ip/dns/static/add", strings.Fields(tt.args)...); message(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := r.Do("/ip/dns/static/enable", ".id=*3"); message(err) != taken {
		t.Errorf("enabled beside its twin: %v", err)
	}
	if _, err := r.Do("/ip/dns/static/set", ".id=*1", "type=CNAME", "cname=a.lan"); !strings.HasPrefix(message(err), "invalid value for argument address") {
		t.Errorf("another type in place: %v", err)
	}
}

func normalising(t *testing.T) {
	r := start(t, Options{})
	do(t, r, "/ip/dns/static/add", "name=Zero.Test.", "address=192.0.2.1")
	do(t, r, "/ip/dns/static/add", "name=six.lan", "type=AAAA", "address=2001:0db8:0:0:0:0:0:1", "disabled=yes")
	get := func(i int, field string) string { return r.Records()[i].Fields[field] }
	if get(0, "name") != "Zero.Test" || get(0, "ttl") != "1d" || get(1, "address") != "2001:db8::1" || get(1, "disabled") != "true" {
		t.Errorf("%+v", r.Records())
	}
	for in, want := range map[string]string{
		"3600s": "1h", "600": "10m", "00:01:30": "1m30s", "0s": "0s", "1.5h": "1h30m", "90s": "1m30s",
		"1w2d3h4m5s": "1w2d3h4m5s", "1d 00:00:00": "1d", "1d 01:00:10": "1d1h10s", "14d": "2w",
	} {
		do(t, r, "/ip/dns/static/set", ".id=*1", "ttl="+in)
		if got := get(0, "ttl"); got != want {
			t.Errorf("ttl %s becomes %s, want %s", in, got, want)
		}
	}
	for _, bad := range []string{"", "x", "1y", "-1s", "1:2:3:4", "99999999999w"} {
		if _, err := r.Do("/ip/dns/static/set", ".id=*1", "ttl="+bad); err == nil {
			t.Errorf("the ttl %q is taken", bad)
		}
	}
	for _, bad := range []string{"type=CNAME cname=a.lan.", "type=CNAME", "type=PTR address=192.0.2.1", "address=192.0.2.999", "disabled=maybe address=192.0.2.1", "type=AAAA address=192.0.2.1"} {
		if _, err := r.Do("/ip/dns/static/add", append([]string{"name=bad.lan"}, strings.Fields(bad)...)...); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func absent(t *testing.T) {
	r := start(t, Options{})
	do(t, r, "/ip/dns/static/add", "name=a.lan", "address=192.0.2.1", "comment=", "match-subdomain=no", "address-list=")
	do(t, r, "/ip/dns/static/add", "regexp=.*x", "address=192.0.2.1", "comment=c", "match-subdomain=yes")
	do(t, r, "/ip/dns/static/add", "name=c.lan", "type=CNAME", "cname=a.lan", "address=192.0.2.1")
	want := []map[string]string{
		{"name": "a.lan", "type": "A", "address": "192.0.2.1", "ttl": "1d", "disabled": "false", "dynamic": "false"},
		{"regexp": ".*x", "type": "A", "address": "192.0.2.1", "ttl": "1d", "comment": "c", "match-subdomain": "true", "disabled": "false", "dynamic": "false"},
		{"name": "c.lan", "type": "CNAME", "cname": "a.lan", "ttl": "1d", "disabled": "false", "dynamic": "false"},
	}
	var got []map[string]string
	for _, row := range r.Records() {
		got = append(got, row.Fields)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	do(t, r, "/ip/dns/static/set", ".id=*2", "comment=", "match-subdomain=no")
	if f := r.Records()[1].Fields; f["comment"] != "" || f["match-subdomain"] != "" {
		t.Errorf("%+v", f)
	}
}

func queries(t *testing.T) {
	r := start(t, Options{})
	for i, name := range []string{"a.lan", "b.lan", "c.lan"} {
		do(t, r, "/ip/dns/static/add", "name="+name, "address=192.0.2.1", "ttl="+[]string{"5s", "6s", "7s"}[i])
	}
	do(t, r, "/ip/dns/static/add", "regexp=.*x", "address=192.0.2.1", "comment=a=b", "disabled=yes")
	c := login(t, r)
	for query, want := range map[string]string{
		"?name=a.lan":                              "*1",
		"?-name":                                   "*4",
		"?regexp":                                  "*4",
		"?comment=a=b":                             "*4",
		"?disabled=yes":                            "*4",
		"?name=a.lan ?name=b.lan ?#|":              "*1 *2",
		"?name=a.lan ?name=b.lan":                  "",
		"?name=a.lan ?name=b.lan ?#| ?#!":          "*3 *4",
		"?name=a.lan ?#!":                          "*2 *3 *4",
		"?>name=a.lan":                             "*2 *3",
		"?<name=b.lan":                             "*1",
		"?name=a.lan ?ttl=5s ?#&":                  "*1",
		"?name=a.lan ?name=b.lan ?#1. ?#| ?#| ":    "*1 *2",
		"?name=A.lan":                              "",
		"?name=a.lan ?name=b.lan ?name=c.lan ?#||": "*1 *2 *3",
	} {
		words := append([]string{"/ip/dns/static/print", "=.proplist=.id"}, strings.Fields(query)...)
		got := c.say(words...)
		var found []string
		for s := range strings.SplitSeq(got, " | ") {
			if id, ok := strings.CutPrefix(s, "!re =.id="); ok {
				found = append(found, id)
			}
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%s finds %q, want %s", query, found, want)
		}
	}
	c.want("!re =name=a.lan =ttl=5s | !done", "/ip/dns/static/getall", "?name=a.lan", "=.proplist=ttl,name,colour")
}

func comments(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	raw := "f\xfcr \x00\x01\xff=x" + strings.Repeat("y", 8192)
	c.want("!done =ret=*1", "/ip/dns/static/add", "=name=a.lan", "=address=192.0.2.1", "=comment="+raw)
	c.want("!re =comment="+raw+" | !done", "/ip/dns/static/print", "=.proplist=comment")
}

func safeMode(t *testing.T) {
	r := start(t, Options{})
	do(t, r, "/ip/dns/static/add", "name=a.lan", "address=192.0.2.1")
	s := r.Snapshot()
	before := r.Records()
	do(t, r, "/ip/dns/static/set", ".id=*1", "ttl=1m")
	do(t, r, "/ip/dns/static/add", "name=b.lan", "address=192.0.2.1")
	r.Rollback(s)
	if d := cmp.Diff(before, r.Records()); d != "" {
		t.Error(d)
	}
	if id := do(t, r, "/ip/dns/static/add", "name=b.lan", "address=192.0.2.1"); id != "*3" {
		t.Errorf("the ID %s is used again", id)
	}
	s = r.Snapshot()
	r.Restore(s, false)
	if got := r.Records(); len(got) != 2 || got[0].ID != "*4" || got[0].Fields["name"] != "b.lan" {
		t.Errorf("%+v", got)
	}
	r.Restore(s, true)
	if got := r.Records(); got[0].ID != "*1" || got[0].Fields["name"] != "b.lan" {
		t.Errorf("%+v", got)
	}
}

func humans(t *testing.T) {
	r := start(t, Options{})
	a := do(t, r, "/ip/dns/static/add", "name=a.lan", "address=192.0.2.1")
	b := do(t, r, "/ip/dns/static/add", "name=b.lan", "address=192.0.2.1")
	do(t, r, "/ip/dns/static/disable", ".id="+a)
	do(t, r, "/ip/dns/static/add", "copy-from="+a, "place-before="+a)
	do(t, r, "/ip/dns/static/move", ".id="+b, "destination="+a)
	var got []string
	for _, row := range r.Records() {
		got = append(got, row.ID+row.Fields["name"]+row.Fields["disabled"])
	}
	if d := cmp.Diff([]string{"*3a.lantrue", "*2b.lanfalse", "*1a.lantrue"}, got); d != "" {
		t.Error(d)
	}
	do(t, r, "/ip/dns/static/remove", ".id="+b)
	if len(r.Records()) != 2 {
		t.Error("it is not deleted")
	}
}

func lost(t *testing.T) {
	for fate, done := range map[Fate]bool{Cut: false, LostReply: true, HalfReply: true, Refused: false, RefusedButDone: true} {
		r := start(t, Options{})
		c := login(t, r)
		r.SetFaults(Faults{Each: At(1, fate)})
		got := c.say("/ip/dns/static/add", "=name=a.lan", "=address=192.0.2.1")
		want := "closed"
		if fate == Refused || fate == RefusedButDone {
			want = "!trap =category=4 =message=action failed (6) | !done"
		}
		if got != want || len(r.Records()) == 1 != done {
			t.Errorf("fate %d: %s, %d rows", fate, got, len(r.Records()))
		}
	}
}

func answers(t *testing.T) {
	r := start(t, Options{})
	for _, args := range []string{
		"name=App.lan address=192.0.2.1 ttl=15s", "name=app.lan address=192.0.2.2 ttl=16s", "name=app.lan address=192.0.2.3 disabled=yes",
		"name=gone.lan type=NXDOMAIN", "name=wild.lan address=192.0.2.4 match-subdomain=yes ttl=1s", "name=own.wild.lan address=192.0.2.5 ttl=1s",
		`regexp=.*\.re\.lan$ address=192.0.2.6 ttl=1s`, "name=x.re.lan address=192.0.2.7", "name=alias.lan type=CNAME cname=app.lan ttl=2s",
		"name=out.lan type=CNAME cname=www.example.com ttl=2s", "name=fwd.lan type=FWD forward-to=192.0.2.53",
	} {
		do(t, r, "/ip/dns/static/add", strings.Fields(args)...)
	}
	r.SetUpstream(upstream("app.lan. 300 IN AAAA 2001:db8::bad"))
	for _, tt := range []struct {
		name, kind, want string
		rcode            int
	}{
		{"APP.lan", "A", "15 A 192.0.2.1,16 A 192.0.2.2", 0},
		{"app.lan", "AAAA", "300 AAAA 2001:db8::bad", 0},
		{"app.lan", "TXT", "", 0},
		{"gone.lan", "A", "", dns.RcodeNameError},
		{"gone.lan", "AAAA", "", dns.RcodeNameError},
		{"wild.lan", "A", "1 A 192.0.2.4", 0},
		{"a.b.wild.lan", "A", "1 A 192.0.2.4", 0},
		{"own.wild.lan", "A", "1 A 192.0.2.5", 0},
		{"x.re.lan", "A", "1 A 192.0.2.6", 0},
		{"re.lan", "A", "", dns.RcodeNameError},
		{"alias.lan", "A", "2 CNAME app.lan.,15 A 192.0.2.1,16 A 192.0.2.2", 0},
		{"out.lan", "A", "2 CNAME www.example.com.", dns.RcodeNameError},
		{"fwd.lan", "A", "", dns.RcodeNameError},
	} {
		for _, network := range []string{"udp", "tcp"} {
			got, rcode := ask(t, r, network, tt.name, tt.kind)
			if strings.Join(got, ",") != tt.want || rcode != tt.rcode {
				t.Errorf("%s %s over %s: %q %s, want %s %s", tt.name, tt.kind, network, got, dns.RcodeToString[rcode], tt.want, dns.RcodeToString[tt.rcode])
			}
		}
	}
	r = start(t, Options{RefuseDNS: true})
	if got := r.run([]string{"/ip/dns/print", "=.proplist=allow-remote-requests"}, caller{}); got[0][1] != "=allow-remote-requests=false" {
		t.Error(got)
	}
}
