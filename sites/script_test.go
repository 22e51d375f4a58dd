package sites

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// do carries out one verb.
func (d *driver) do(what string) {
	d.t.Helper()
	verb, about, _ := strings.Cut(what, " ")
	marks := map[string]map[string]bool{"down": d.down, "unknown": d.unknown, "mute": d.mute, "wrong": d.wrong, "unrouted": d.unrouted}
	switch verb {
	case "down", "unknown", "mute", "wrong", "unrouted":
		marks[verb][about] = true
	case "up":
		for _, set := range marks {
			delete(set, about)
		}
	case "load":
		d.load(about)
	case "spoke":
		d.heard[about] = d.now
	case "see":
		for x := range strings.SplitSeq(about, ", ") {
			d.seen = append(d.seen, d.see(x))
		}
	case "answers":
		id, _ := d.m.FindPool(about)
		d.seen = append(d.seen, about+" answers "+d.m.givesText(d.m.sites[id.Site].pools[id.Pool]))
	case "events":
		for i := range d.events {
			text := strings.TrimSpace(string(d.events[i].Kind) + " " + d.events[i].Subject())
			if d.events[i].Drill {
				text += " (drill)"
			}
			d.seen = append(d.seen, text)
		}
		d.events = nil
	case "texts":
		for i := range d.events {
			d.seen = append(d.seen, d.events[i].Text)
		}
		d.events = nil
	case "explain":
		d.seen = append(d.seen, d.explain(about))
	case "asked":
		d.seen = append(d.seen, strings.TrimSpace("asked "+strings.Join(d.asked, ", ")))
		d.asked = nil
	case "hold", "free":
		d.held = verb == "hold"
	case "feed":
		d.feed(about)
	case "tick":
		d.step(Input{})
	case "suspend":
		d.sleep(about)
	case "restart":
		d.restart(about)
	case "suspect", "trust":
		d.suspect = verb == "suspect"
	case "clock":
		at, err := time.Parse(time.RFC3339, about)
		if err != nil {
			d.t.Fatal(err)
		}
		d.wall = at.Add(-d.now)
	case "reload":
		d.reload(about)
	default:
		d.command(verb, about)
	}
}

func (d *driver) sleep(about string) {
	for_, err := time.ParseDuration(about)
	if err != nil {
		d.t.Fatal(err)
	}
	d.now += for_
	for s := range d.next {
		for d.next[s] < d.now {
			d.next[s] += d.interval(s)
		}
	}
	d.step(Input{})
}

func (d *driver) interval(s Subject) time.Duration {
	for _, x := range d.m.Targets() {
		if x.Subject == s {
			return x.Interval
		}
	}
	return time.Second
}

// restart stops the controller for a time and starts it with what it has stored,
// as it comes back from JSON.
func (d *driver) restart(about string) {
	away, err := time.ParseDuration(about)
	if err != nil {
		d.t.Fatal(err)
	}
	saved := d.saved()
	d.next = nil
	d.now += away
	d.start(saved)
}

func (d *driver) saved() (saved Saved) {
	all := Saved{Global: d.m.Global()}
	for i := range d.cfg.Sites {
		all.Sites = append(all.Sites, d.m.Saved(i))
	}
	data, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		d.t.Fatal(err)
	}
	return saved
}

func (d *driver) reload(about string) {
	var i int
	if _, err := fmt.Sscan(about, &i); err != nil {
		d.t.Fatal(err)
	}
	cfg := d.cfg.clone()
	d.reloads[i](cfg)
	d.cfg = cfg
	d.fx = d.m.Reload(d.instant(), cfg)
	d.take()
	var in Input
	for _, s := range d.fx.Probe {
		in.Results = append(in.Results, d.probe(s)...)
	}
	d.step(in)
}

// feed gives one result by hand: who, outcome, start, finish, as "berlin/a down
// 10s 12s" or "berlin up 10s 12s" for its first witness.
func (d *driver) feed(about string) {
	f := strings.Fields(about)
	start, err := time.ParseDuration(f[2])
	finish, err2 := time.ParseDuration(f[3])
	if err != nil || err2 != nil {
		d.t.Fatalf("feed %s: %v %v", about, err, err2)
	}
	outcome := map[string]Outcome{"up": Up, "down": Down, "unknown": Unknown}[f[1]]
	for _, x := range d.m.Targets() {
		s := x.Subject
		name, n := s.Site, 1
		if s.Node != "" {
			name += "/" + s.Node
			n = len(d.node(s.Site, s.Node).Probes)
		}
		if name == f[0] {
			d.step(Input{Results: []Result{{Subject: s, Start: start, Finish: finish, Checks: slices.Repeat([]Check{{Outcome: outcome}}, n)}}})
			return
		}
	}
	d.t.Fatalf("feed: nothing is called %s", f[0])
}

// command has the operator say something, as "maintenance berlin/a for=2h
// force"; the reply is seen when it is a refusal, or with "say".
func (d *driver) command(verb, about string) {
	c := &Command{Verb: Verb(verb), By: "ann", Reason: "test"}
	say := false
	for i, word := range strings.Fields(about) {
		arg, value, _ := strings.Cut(word, "=")
		switch {
		case i == 0:
			site, rest, _ := strings.Cut(word, "/")
			c.Site = site
			if c.Verb == Pause || c.Verb == Resume || c.Verb == Switch {
				c.Pool = rest
			} else {
				c.Node = rest
			}
		case i == 1 && c.Verb == Switch:
			c.Node = word
		case arg == "for":
			c.For, _ = time.ParseDuration(value)
		case arg == "force":
			c.Force = true
		case arg == "say":
			say = true
		default:
			d.t.Fatalf("%s: %s?", verb, word)
		}
	}
	reply := d.step(Input{Command: c})
	if reply == nil {
		d.t.Fatalf("%s %s: no reply", verb, about)
	}
	if reply.Refused {
		d.seen = append(d.seen, "refused: "+reply.Text)
	} else if say {
		d.seen = append(d.seen, reply.Text)
	}
}

// see gives the state of a node ("berlin/a=up"), of a pool ("berlin=own
// 10.1.0.11, 10.1.0.12"), of a site ("site berlin=up", "held berlin=true") or of a name's TTL
// ("ttl berlin=30s").
func (d *driver) see(what string) string {
	kind, name, _ := strings.Cut(what, " ")
	switch kind {
	case "site":
		return what + "=" + d.m.SiteWord(name)
	case "held":
		return what + "=" + strconv.FormatBool(d.m.SiteHeld(name))
	case "ttl":
		id, _ := d.m.FindPool(name)
		s := &d.cfg.Sites[id.Site]
		return what + "=" + d.m.Answer(id).TTL(s.TTL, s.TTLUnsettled).String()
	}
	if w, ok := d.m.NodeWord(what); ok {
		return what + "=" + string(w)
	}
	id, ok := d.m.FindPool(what)
	if !ok {
		d.t.Fatalf("see %q: there is no such thing", what)
	}
	return what + "=" + d.m.Answer(id).String() + " " + d.m.givesText(d.m.sites[id.Site].pools[id.Pool])
}

func (d *driver) explain(what string) string {
	if kind, name, _ := strings.Cut(what, " "); kind == "site" {
		return d.m.ExplainSite(name)
	}
	if _, ok := d.m.NodeWord(what); ok {
		return d.m.ExplainNode(what)
	}
	id, _ := d.m.FindPool(what)
	return d.m.ExplainPool(id)
}

// lines gives the lines of a text without the space around them.
func lines(text string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
