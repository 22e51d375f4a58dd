package web

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// scene is a controller in every trouble at once, with names, addresses and
// sentences as long as they come.
type scene struct {
	*fake
	at time.Time
	// broken: nothing can be had of it; bare: it has nothing to show.
	broken, bare bool

	mu sync.Mutex
	// gone is a site that has left the configuration.
	gone string
}

// long is the longest label of a DNS name (RFC 1035, section 2.3.4).
var long = strings.Repeat("very-", 12) + "old"

// sentenceOf is one as long as the explanations of nodes are.
func sentenceOf(about string) string {
	return about + ` has not answered for 30s (got HTTP status "502 Bad Gateway" where 200 to 399 were expected, after 1.8s); it will be taken out at 23:59:59 UTC if it still does not answer then and the resolver [2001:db8:1::53]:53 does.`
}

func addrs(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// newScene makes the trouble that holds at a time.
func newScene(at time.Time) *scene {
	s := &scene{fake: &fake{}, at: at}
	who := &sites.Hold{By: "alice", Reason: "the disks of " + long, Since: at.Add(-time.Hour), Until: at.Add(time.Hour)}
	node := func(name string, word sites.Word) sites.NodeView {
		n := sites.NodeView{
			Name: name, Word: word, Since: at.Add(-20 * time.Second), Answers: word == sites.WordUp, Timeout: 2 * time.Second,
			Explain: sentenceOf("berlin/" + name), Addresses: addrs("10.1.0.11", "2001:db8:1:2:3:4:5:11"),
			Lines: []sites.LineView{{Checks: []sites.Checked{{Steer: true, Outcome: "up", Duration: 1234 * time.Microsecond}}}},
		}
		switch word {
		case sites.WordFailing, sites.WordRecovering:
			n.Next = at.Add(10 * time.Minute)
		case sites.WordMaintenance, sites.WordDisabled:
			n.Ordered = who
		}
		return n
	}
	berlin := sites.SiteView{
		Name: "berlin", Condition: sites.SiteIsUp, Explain: sentenceOf("berlin"), Witnesses: []sites.WitnessView{{Name: "resolver [2001:db8:1::53]:53", Outcome: "up"}},
		Pools: []sites.PoolView{
			{Name: sites.DefaultPool, Mode: "active_passive", Serves: "own", Active: "up", IPv4: addrs("10.1.0.11", "10.1.0.12"), IPv6: addrs("2001:db8:1:2:3:4:5:11"), Explain: sentenceOf("berlin"), Paused: who},
			{Name: long, Mode: "active_active", Serves: "empty", Explain: sentenceOf("berlin/" + long)},
			{Name: "last", Mode: "active_active", Serves: "last_resort", IPv4: addrs("10.1.0.11"), Explain: sentenceOf("berlin/last")},
			{Name: "far", Mode: "active_active", Serves: "emergency:hamburg", IPv4: addrs("10.2.0.11"), Explain: sentenceOf("berlin/far")},
		},
	}
	for i, w := range words {
		berlin.Nodes = append(berlin.Nodes, node(string(w), w))
		if i == 1 { // the one that is up
			berlin.Nodes[i].Drill = who
		}
	}
	berlin.Nodes = append(berlin.Nodes, node(long, sites.WordOut))
	berlin.Nodes[len(berlin.Nodes)-1].Quarantine = true
	hamburg := sites.SiteView{
		Name: "hamburg", Condition: sites.SiteIsDown, Explain: sentenceOf("hamburg"), Nodes: []sites.NodeView{node("a", sites.WordFailing), node("b", sites.WordUp)},
		Witnesses: []sites.WitnessView{{Name: "resolver 10.2.0.1:53", Outcome: "down"}, {Name: "gateway", Outcome: "down"}},
		Pools:     []sites.PoolView{{Name: sites.DefaultPool, Mode: "active_active", Serves: "own", IPv4: addrs("10.2.0.11"), Explain: sentenceOf("hamburg"), Braked: true}},
	}
	deaf := hamburg
	deaf.Name, deaf.Condition = long, sites.SiteResolverDown
	dim := hamburg
	dim.Name, dim.Condition, dim.Unjudged, dim.Nodes = "dim", sites.SiteIsUp, true, []sites.NodeView{node("a", sites.WordUp)}
	f := s.fake
	f.status = api.Status{
		Time: at, Brake: "holds", Sites: []sites.SiteView{berlin, hamburg, deaf, dim},
		Problems: []string{sentenceOf("The brake holds: hamburg"), sentenceOf("berlin/a"), sentenceOf("berlin/b")},
		Critical: []api.CriticalView{{Kind: sites.SiteDown, Site: "hamburg", Since: at.Add(-time.Hour), Text: sentenceOf("The brake holds: hamburg"), Do: "Look at the line first (VPN, provider, router), then ask somebody at the site."}},
		Config: api.ConfigStatus{
			Path: "/etc/dnsteer/" + long + ".yaml", Loaded: at, Error: "/etc/dnsteer/dnsteer.yaml:12:5: sites[0].nodes: " + long + " stands there twice", Warnings: []string{sentenceOf("sites[0]")},
		},
		HTTP: &api.HTTPStatus{CertificateEnds: at.Add(time.Hour)},
		Services: []api.ServiceView{{Hosts: []string{long + ".example.lan", "www." + long + ".example.lan"}, Pool: sites.DefaultPool, Sites: []api.ServiceAnswerView{
			{Site: "berlin", Addresses: []string{"10.1.0.11", "2001:db8:1:2:3:4:5:11"}, TTL: 10, Serves: "own"}, {Site: "hamburg", Serves: "emergency:berlin", TTL: 60, Addresses: []string{"10.1.0.11"}},
		}}},
		Resolved: []api.ResolvedView{
			{Site: "berlin", Resolver: "10.1.0.1:53", Name: "app.example.lan", Asked: at, Verified: at},
			{Site: "hamburg", Asked: at, Error: "no answer within 2s"},
			{Site: long, Name: long + ".example.lan", Asked: at, Addresses: []string{"10.9.9.9"}, Verified: at.Add(-time.Hour)},
		},
	}
	return s
}

// errBroken is what a controller says that cannot say anything.
var errBroken = errors.New("the decision loop does not answer")

func (s *scene) Status(context.Context) (api.Status, error) {
	if s.broken {
		return api.Status{}, errBroken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Sites = slices.DeleteFunc(slices.Clone(st.Sites), func(v sites.SiteView) bool { return v.Name == s.gone })
	return st, nil
}

// leave has a site leave the configuration; "" has all come back.
func (s *scene) leave(site string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = site
}

func (s *scene) Explain(_ context.Context, what string) (api.Explanation, error) {
	if what == "unknown" {
		return api.Explanation{}, &api.NotFoundError{Text: "there is no name " + what}
	}
	return api.Explanation{Sentences: []string{sentenceOf("berlin"), sentenceOf("berlin/up")}, Answers: s.status.Services[0].Sites}, nil
}

func (s *scene) Events(context.Context, api.EventQuery) (list []sites.Event, err error) {
	if s.bare {
		return nil, nil
	}
	kinds := []sites.Kind{
		sites.QuarantineEnded, sites.QuarantineStarted, sites.DrillEnded, sites.DrillStarted, sites.NodeEnabled, sites.NodeDisabled,
		sites.FailoverMaintenance, sites.FailoverFailback, sites.NodeOnline, sites.FailoverOutage, sites.NodeOffline, sites.SiteDown,
	}
	for i, k := range kinds {
		e := sites.Event{ID: uint64(len(kinds) - i), Time: s.at.Add(time.Duration(-i) * 20 * time.Second), Kind: k, Severity: sites.Warning, Site: "berlin", Node: "up", Text: sentenceOf("berlin/up"), By: "alice", Reason: long}
		if k == sites.SiteDown {
			e.Site, e.Node, e.Severity = "hamburg", "", sites.Critical
		}
		if i > 6 {
			e.Drill, e.Resolves = true, e.ID-1
		}
		list = append(list, e)
	}
	return list, nil
}

func (s *scene) Command(_ context.Context, c sites.Command) (sites.Reply, error) {
	refused := c.Node == long && !c.Force
	return sites.Reply{Refused: refused, Forceable: c.Verb == sites.Maintenance, Text: sentenceOf("berlin/" + c.Node)}, nil
}

func (s *scene) Probe(context.Context, string, string) (api.ProbeReport, error) {
	return api.ProbeReport{Site: "berlin", Node: "up", Lines: []api.ProbedLine{{Address: "2001:db8:1:2:3:4:5:11", Checks: []api.ProbedCheck{{
		Checked: sites.Checked{Probe: "https", Outcome: "down", Text: sentenceOf("it"), Duration: time.Second},
		Detail: probes.Detail{
			Address: "[2001:db8:1:2:3:4:5:11]:443", Steps: []probes.Step{{Name: "connect", Took: time.Millisecond}, {Name: "tls", Took: time.Second, Error: sentenceOf("it")}},
			Certificate: &probes.SeenCertificate{Subject: "CN=" + long, Issuer: "CN=" + long, NotAfter: s.at}, HTTP: &probes.SeenHTTP{Status: "502 Bad Gateway"},
		},
	}}}}}, nil
}

func (s *scene) Reload(context.Context) (api.ReloadReport, error) {
	if s.status.Config.Error != "" {
		return api.ReloadReport{}, errors.New(s.status.Config.Error)
	}
	return api.ReloadReport{Changed: true, Text: "the configuration was read again: 1 site was added"}, nil
}

func (s *scene) History(context.Context, string, string, time.Time, time.Time) ([]history.Line, error) {
	var points []history.Point
	for i := range 60 {
		p := history.Point{Time: s.at.Add(time.Duration(24*(i-60)) * time.Minute), Up: 12, Mean: time.Duration(200+i) * time.Millisecond, Most: time.Second}
		switch {
		case i%20 == 7:
			p.Down, p.Cause = 3, "no answer within 2s"
		case i%20 == 9:
			p.Up, p.Unknown, p.Cause = 0, 3, "no free port"
		}
		points = append(points, p)
	}
	line := history.Line{Address: netip.MustParseAddr("2001:db8:1:2:3:4:5:11"), Probes: []history.Probe{{Points: points}}}
	for i := range 2 * recentFailures {
		line.Failures = append(line.Failures, history.Failure{Probe: "https", Text: sentenceOf("it"), Count: i, First: s.at.Add(-time.Hour), Last: s.at})
	}
	return []history.Line{line}, nil
}

func (s *scene) Written(context.Context) ([]config.Shown, error) {
	return []config.Shown{{Path: s.status.Config.Path, Text: strings.Repeat("      - {name: a, addresses: [10.1.0.11], probes: [{type: http, url: \"http://{address}/\"}], threshold: 30s, grace: 1m} # and so on\n", 30)}}, nil
}

func (s *scene) Alerts(context.Context) (*alert.Status, error) {
	if s.bare {
		return nil, nil //nolint:nilnil // nobody is to be told of anything
	}
	subject := "[dnsteer] " + sentenceOf("berlin/up")
	past := []alert.Delivered{{ID: "1", Subject: subject, Time: s.at, Left: s.at}, {ID: "2", Subject: subject, Time: s.at, Left: s.at, Error: sentenceOf("it")}}
	return &alert.Status{
		Channels: []alert.ChannelStatus{
			{Name: "mail", Type: "smtp", LastSent: s.at, Past: past},
			{Name: "pager", Type: "chat"},
			{Name: long, Type: "webhook", Failing: s.at, Error: sentenceOf("it"), Queued: 1, Dropped: 2, Oldest: s.at, Next: s.at, Queue: []alert.Queued{{ID: "1", Subject: subject, Time: s.at, Phase: alert.Reminder}}},
		},
		Open: []alert.Incident{{Subject: subject, To: []string{"mail", long}, Since: s.at, Sent: 2}}, Waiting: 2, DeadMan: &alert.DeadManState{Error: sentenceOf("it")},
	}, nil
}

func (s *scene) TestAlerts(_ context.Context, channel string) ([]alert.TestReport, error) {
	return []alert.TestReport{{Channel: channel, OK: true}, {Channel: long, Error: sentenceOf("it"), Dialogue: []string{"EHLO " + long, "550 no"}}}, nil
}

func (s *scene) Targets(context.Context) (list []api.TargetView, err error) {
	if s.bare {
		return nil, nil
	}
	for i, state := range []api.TargetState{
		api.TargetFailing, api.TargetDenied, api.TargetDisabled, api.TargetHeld, api.TargetWaiting, api.TargetPending, api.TargetDryRun, api.TargetDiffers, api.TargetCurrent,
	} {
		yes := i > 3
		t := api.TargetView{
			Name: fmt.Sprintf("router-%d", i), Server: "[2001:db8:1:2:3:4:5:1]:8729", Kind: "routeros", Site: "berlin", State: state, Product: "RouterOS 7.16", Compared: s.at, Changed: s.at, TTL: 10, Strangers: 9,
			Records:    []api.TargetRecord{{Name: long + ".example.lan", Type: "AAAA", Desired: []string{"2001:db8:1:2:3:4:5:11", "10.1.0.12"}, Actual: []string{"10.1.0.12"}, Visible: &yes}},
			Foreign:    []api.TargetForeign{{Name: long + ".example.lan", Type: "AAAA", Address: "2001:db8:1:2:3:4:5:99"}, {Name: "printer." + long + ".lan", Type: "A", Address: "10.1.0.200"}},
			NoFailover: []api.TargetConflict{{Name: long + ".example.lan", Type: "A", Text: sentenceOf("it")}},
			Findings:   []api.TargetFinding{{Severity: sites.Critical, Text: sentenceOf("it")}, {Severity: sites.Warning, Text: sentenceOf("it")}, {Severity: sites.Info, Text: sentenceOf("it")}},
		}
		switch state {
		case api.TargetFailing, api.TargetDenied:
			t.Error, t.Since, t.Retry = sentenceOf("it"), s.at, s.at
		case api.TargetDiffers:
			t.Repair = s.at
		case api.TargetDisabled:
			t.Disabled = &api.TargetOrder{By: "alice", Reason: long, Since: s.at}
		}
		list = append(list, t)
	}
	return list, nil
}

func (s *scene) Operate(_ context.Context, r api.TargetRequest) (api.TargetReply, error) {
	return api.TargetReply{
		Text: sentenceOf("2 records of " + r.Target), Refused: r.Target == "router-1",
		Changes: []api.TargetChange{{Verb: "remove", Name: long + ".example.lan", Type: "AAAA", From: "2001:db8:1:2:3:4:5:99", To: "10.1.0.11"}},
	}, nil
}

func (s *scene) Certificates(_ context.Context, target string) (api.CertificateList, error) {
	c := api.TargetCertificate{Server: "[2001:db8:1:2:3:4:5:1]:8729", Fingerprint: "sha256:" + strings.Repeat("0f", 32), Subject: "CN=" + long, Issuer: "CN=" + long, Names: []string{long}, NotAfter: s.at, Reason: sentenceOf("it")}
	if target == "router-1" {
		return api.CertificateList{Error: "it shows none"}, nil
	}
	good := c
	good.Server, good.Verified, good.Reason = "10.1.0.1:8729", true, ""
	return api.CertificateList{Certificates: []api.TargetCertificate{c, good, {Server: "x", Error: sentenceOf("it")}}}, nil
}

// Levers of a demo.
func (s *scene) Title() string { return "Break things" }

func (s *scene) Levers() []Lever {
	return []Lever{{ID: "1", What: "berlin/" + long, State: "is stopped", Does: "Start", Broken: true}, {ID: "2", What: "berlin/b", State: "runs", Does: "Stop"}}
}

func (s *scene) Pull(string) (string, bool) { return "berlin/a is stopped", true }
