package alert

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// A kind of event without words, or with those of another, would reach people as a
// bare or a wrong line at three in the morning, and one without a role would never
// end, or end what it did not begin. What each says stands in testdata/words.txt, to be
// read by people.
func TestEveryKindHasWords(t *testing.T) {
	var all strings.Builder
	for _, k := range sites.Kinds() {
		w, ok := wordsOf(k)
		if !ok || w.command == "" {
			t.Errorf("%s has no words", k)
		}
		if roleOf(k) == unknown {
			t.Errorf("%s has no role", k)
		}
		if rank(k.Severity()) > 0 && w.done == "" && w.alone == "" {
			t.Errorf("%s does not say what was done, or left alone", k)
		}
		if rank(k.Severity()) > 0 && roleOf(k) == ends {
			t.Errorf("%s ends something, and is a %s", k, k.Severity())
		}
		e := sites.Event{ID: 1, Time: noon, Kind: k, Severity: k.Severity(), Site: "berlin", Node: "a", Target: "router 10.1.0.1", Part: "mail", Text: "It has happened."}
		m := compose([]told{{Event: e}}, Firing)
		if text := m.Subject + m.Text(); strings.ContainsAny(text, "{}") || m.Subject == "" {
			t.Errorf("%s: %s", k, text)
		}
		if _, of := targetWords(k); !of {
			e.Target = ""
		}
		if _, of := ownWords(k); !of {
			e.Part = ""
		}
		m = compose([]told{{Event: e}}, Firing)
		m.Since = noon
		fmt.Fprintf(&all, "--- %s\n%s\n\n%s\n", k, m.Subject, m.Text())
	}
	golden(t, filepath.Join("testdata", "words.txt"), all.String())
	if _, ok := wordsOf("no_such_kind"); ok || roleOf("no_such_kind") != unknown {
		t.Error("a kind that is not there has words")
	}
}

// push enters an event about a target with a severity of its own.
func (d *desk) push(k sites.Kind, s sites.Severity, resolves uint64) uint64 {
	d.id++
	d.Take(sites.Event{ID: d.id, Time: d.now, Kind: k, Severity: s, Site: "berlin", Target: "router", Text: string(k) + " at router.", Resolves: resolves}, nil, d.now)
	return d.id
}

// A push that fails while clients get what is no longer right would be told
// late, or only to those who were told before that it fails; and a router that
// starts again would be told of.
func TestTargets(t *testing.T) {
	calm := Route{Name: "calm", Match: Match{Least: sites.Warning}, To: []string{"mail"}, Wait: 2 * time.Minute}
	loud := Route{Name: "loud", Match: Match{Least: sites.Critical}, To: []string{"phone"}, Wait: 2 * time.Minute}
	tests := []struct {
		name   string
		routes []Route
		play   func(d *desk)
		want   []string
	}{
		{"a comparison that fails for a moment", nil, func(d *desk) {
			id := d.push(sites.PublishFailed, sites.Warning, 0)
			d.pass(time.Minute)
			d.push(sites.PublishRecovered, sites.Info, id)
			d.pass(time.Hour)
		}, nil},
		{"a move that fails is told at once", nil, func(d *desk) {
			d.push(sites.PublishFailed, sites.Critical, 0)
			d.pass(11 * time.Second)
		}, []string{"mail: firing 1: Clients still get the old answer: router does not take the new one"}},
		{"it becomes worse", []Route{loud, calm}, func(d *desk) {
			id := d.push(sites.PublishFailed, sites.Warning, 0)
			d.pass(10 * time.Minute)
			id = d.push(sites.PublishFailed, sites.Critical, id)
			d.pass(10 * time.Minute)
			d.push(sites.PublishRecovered, sites.Info, id)
			d.pass(time.Hour)
		}, []string{
			"mail: firing 1: router does not take the records that it should hold",
			"mail: update 1: Clients still get the old answer: router does not take the new one",
			"phone: firing 1: Clients still get the old answer: router does not take the new one",
			"mail: resolved 1: router does not take the records that it should hold",
			"phone: resolved 1: Clients still get the old answer: router does not take the new one",
		}},
		{"it becomes worse soon", []Route{loud, calm}, func(d *desk) {
			id := d.push(sites.PublishFailed, sites.Warning, 0)
			d.pass(3 * time.Minute)
			d.push(sites.PublishFailed, sites.Critical, id)
			d.pass(11 * time.Second)
		}, []string{
			"mail: firing 1: router does not take the records that it should hold",
			"mail: update 1: Clients still get the old answer: router does not take the new one",
			"phone: firing 1: Clients still get the old answer: router does not take the new one",
		}},
		{"a site that cannot be seen explains it", nil, func(d *desk) {
			d.happen("site_down berlin", 0)
			d.push(sites.PublishFailed, sites.Critical, 0)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: berlin cannot be seen"}},
		{"drift that is put right", nil, func(d *desk) {
			id := d.push(sites.Drift, sites.Warning, 0)
			d.pass(time.Second)
			d.push(sites.DriftRepaired, sites.Info, id)
			d.pass(time.Hour)
		}, nil},
		{"what cannot be seen, and then can", nil, func(d *desk) {
			id := d.push(sites.PublishNotVisible, sites.Warning, 0)
			d.pass(5 * time.Minute)
			d.push(sites.PublishVisible, sites.Info, id)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: What was pushed to router cannot be seen", "mail: resolved 1: What was pushed to router cannot be seen"}},
		{"another controller", nil, func(d *desk) {
			id := d.push(sites.InstanceConflict, sites.Warning, 0)
			d.pass(time.Hour)
			d.push(sites.InstanceConflictEnded, sites.Info, id)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: Another controller seems to write to router", "mail: resolved 1: Another controller seems to write to router"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(tt.routes...)
			tt.play(d)
			if diff := cmp.Diff(tt.want, d.said()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// What is never ended would be kept for ever, and told as if it lasted.
func TestWhatEndsIsNotKept(t *testing.T) {
	d := newDesk(Route{Name: "all", To: []string{"mail"}})
	for _, k := range sites.Kinds() {
		if roleOf(k) == ends || roleOf(k) == once {
			d.happen(string(k)+" berlin/a", 0)
		}
	}
	d.pass(2 * time.Hour)
	if len(d.Open) != 0 || len(d.Cases) != 0 || len(d.said()) == 0 {
		t.Errorf("%d are open, %d are told as lasting", len(d.Open), len(d.Cases))
	}
}
