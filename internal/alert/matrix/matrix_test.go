// Package matrix plays every kind of event into every kind of channel while
// everything that befalls channels befalls them: the whole way from an event to
// the octets that a receiver gets, in virtual time.
package matrix

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/sites"
)

// Goroutines that outlive the engine would keep connections open for ever.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fault is what befalls a channel for two and a half hours.
type fault string

const (
	none        fault = "none"
	refused     fault = "connection refused"
	hangs       fault = "hangs"
	cut         fault = "cut midway"
	credentials fault = "wrong credentials"
	later       fault = "busy (421, 503)"
	never       fault = "refused (550, 403)"
	greylisted  fault = "greylisted (451, 429)"
	rejected    fault = "message refused (554, 422)"
	lost        fault = "answer lost"
	restarts    fault = "restarts meanwhile"
	kills       fault = "kills meanwhile"
)

var faults = []fault{none, refused, hangs, cut, credentials, later, never, greylisted, rejected, lost, restarts, kills}

// row is an event that is told, and the event that ends it.
type row struct {
	begin, end sites.Kind
	event      sites.Event
}

// rows are all kinds of events, each once.
func rows() (list []row) {
	node, site, target := sites.Event{Site: "berlin", Node: "a"}, sites.Event{Site: "berlin"}, sites.Event{Site: "berlin", Target: "router-berlin"}
	add := func(e sites.Event, begin, end sites.Kind) { list = append(list, row{begin, end, e}) }
	add(node, sites.FailoverOutage, sites.FailoverFailback)
	add(site, sites.FailoverSwitch, "")
	add(node, sites.FailoverMaintenance, sites.FailoverMaintenance)
	add(node, sites.NodeDisabled, sites.NodeEnabled)
	add(node, sites.NodeOffline, sites.NodeOnline)
	add(node, sites.ProbeNeverUp, sites.ProbeRecovered)
	add(node, sites.ProbeFailed, sites.ProbeRecovered)
	add(node, sites.ProbeStale, sites.ProbeFresh)
	add(node, sites.Unjudged, sites.Judged)
	add(site, sites.SiteDown, sites.SiteUp)
	add(site, sites.ResolverDown, sites.ResolverUp)
	add(sites.Event{}, sites.ControllerIsolated, sites.ControllerReconnected)
	add(sites.Event{}, sites.ClockSuspect, "")
	add(site, sites.PoolOutageStarted, sites.PoolOutageResolved)
	add(site, sites.Paused, sites.Resumed)
	add(site, sites.MoveHeld, sites.MoveHeldEnded)
	add(site, sites.MovePutOff, sites.MovePutOffEnded)
	add(site, sites.WindowSkipped, "")
	add(node, sites.QuarantineStarted, sites.QuarantineEnded)
	add(sites.Event{}, sites.MassFailure, sites.MassFailureEnded)
	add(sites.Event{Site: "berlin", Node: "a", Drill: true}, sites.DrillStarted, sites.DrillEnded)
	add(sites.Event{}, sites.RestartLoop, "")
	add(node, sites.CertificateExpiring, sites.CertificateRenewed)
	add(sites.Event{}, sites.ConfigRejected, sites.ConfigReloaded)
	add(sites.Event{}, sites.StoreFailed, sites.StoreRecovered)
	add(sites.Event{}, sites.KeyReplaced, "")
	add(target, sites.Drift, sites.DriftRepaired)
	push := target
	push.Severity = sites.Critical
	add(push, sites.PublishFailed, sites.PublishRecovered)
	add(target, sites.PublishNotVisible, sites.PublishVisible)
	add(target, sites.InstanceConflict, sites.InstanceConflictEnded)
	add(sites.Event{Part: "pager"}, sites.AlertFailed, sites.AlertRecovered)
	add(sites.Event{Part: "pager"}, sites.AlertDropped, "")
	add(sites.Event{Part: "wake-a"}, sites.ActionDone, "")
	add(sites.Event{Part: "wake-a"}, sites.ActionFailed, "")
	return list
}

// A kind of event that nobody tries here may be lost on some channel.
func TestEveryKindIsTried(t *testing.T) {
	tried := make(map[sites.Kind]bool)
	for _, r := range rows() {
		tried[r.begin], tried[r.end] = true, true
	}
	for _, k := range sites.Kinds() {
		if !tried[k] {
			t.Errorf("%s is not in the matrix", k)
		}
	}
}

// An alert that a fault of its channel loses, doubles under two names, brings out
// of order or with another time, or whose errors show a secret, is one that
// nobody can trust. The matrix is printed by -v.
func TestMatrix(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "alerts.md"))
	if err != nil {
		t.Fatal(err)
	}
	summary := make(map[fault][]string)
	for _, c := range []string{"mail", "webhook", "chat"} {
		cells := make(map[fault][]string)
		for _, f := range faults {
			t.Run(c+"/"+string(f), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPlay(t, c, f)
					p.play()
					cells[f] = p.judge()
					summary[f] = append(summary[f], p.sum(cells[f]))
				})
			})
		}
		t.Log(table(c, cells))
	}
	for _, f := range faults {
		if line := fmt.Sprintf("| %s | %s |", f, strings.Join(summary[f], " | ")); !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("docs/alerts.md has not the line\n%s", line)
		}
	}
}

// table writes the cells of a channel: the events down, the faults across. A cell
// says how often the beginning and the end arrived: = marks doubles of one ID, x
// what was dropped and told, / what is told by the other channel alone.
func table(channel string, cells map[fault][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: beginning and end of each event\n%-22s", channel, "")
	for i := range faults {
		fmt.Fprintf(&b, " %5c", 'A'+i)
	}
	for i, r := range rows() {
		fmt.Fprintf(&b, "\n%-22s", r.begin)
		for _, f := range faults {
			text := "?"
			if i < len(cells[f]) {
				text = cells[f][i]
			}
			fmt.Fprintf(&b, " %5s", text)
		}
	}
	b.WriteString("\n")
	for i, f := range faults {
		fmt.Fprintf(&b, "%c: %s  ", 'A'+i, f)
	}
	return b.String()
}

// judge compares what has arrived by the channel with what the other has, and
// gives a cell for each row.
func (p *play) judge() (cells []string) {
	arrived, whole := p.receiver.list(), p.spare.messages()
	dropped := p.log.text()
	count := make(map[string]int)
	place := make(map[string]int)
	for i, g := range arrived {
		j := slices.IndexFunc(whole, func(m alert.Message) bool { return g.shows(&m) })
		if j < 0 {
			p.t.Errorf("nothing like this was sent: %q\n%s", g.title, g.text)
			continue
		}
		id := whole[j].ID
		if count[id]++; count[id] == 1 {
			place[id] = i
		}
	}
	last := -1
	mark := func(m *alert.Message) string {
		n, at := count[m.ID], place[m.ID]
		switch {
		case n == 0 && m.Events[0].Kind == sites.AlertFailed && p.fault != none:
			return "/"
		case n == 0 && p.fault == rejected && strings.Contains(dropped, m.ID):
			return "x"
		case n == 0:
			p.t.Errorf("%s %s has not arrived", m.Phase, m.Subject)
			return "0"
		case at < last:
			p.t.Errorf("%s %s came out of order", m.Phase, m.Subject)
		}
		last = at
		switch {
		case n == 1:
			return "1"
		case p.fault != lost && p.fault != kills:
			p.t.Errorf("%s %s came %d times", m.Phase, m.Subject, n)
		}
		return "="
	}
	marks, events := make(map[uint64]string), p.world.all()
	for i := range whole {
		m := &whole[i]
		e := m.Events[0]
		if at := events[e.ID-1].Time; m.Phase == alert.Firing && !m.Time.Equal(at) {
			p.t.Errorf("%s happened at %s, it says %s", m.Subject, at, m.Time)
		}
		marks[e.ID] += mark(m)
	}
	for i, r := range rows() {
		cell := marks[p.ids[i]]
		if want := map[bool]int{true: 1, false: 2}[r.end == ""]; len(cell) != want {
			p.t.Errorf("%s was told %d times, want %d", r.begin, len(cell), want)
		}
		cells = append(cells, cell)
	}
	p.secrets()
	return cells
}

// sum says in words what the cells have in common.
func (p *play) sum(cells []string) string {
	all := strings.Join(cells, "")
	switch {
	case strings.Contains(all, "x"):
		return "dropped after 5 attempts, and told"
	case strings.Contains(all, "=") && p.channel == "chat":
		return "again, the same text"
	case strings.Contains(all, "="):
		return "again, the same ID"
	default:
		return "once"
	}
}

// secrets looks for them in all that people can see.
func (p *play) secrets() {
	seen, err := json.Marshal(p.spare.messages())
	if err != nil {
		p.t.Fatal(err)
	}
	text := string(seen) + p.log.text() + p.seen.String()
	for _, e := range p.world.all() {
		text += e.Text
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			p.t.Errorf("the secret %q is shown", secret)
		}
	}
	if p.fault == credentials && !strings.Contains(text, "secret>") {
		p.t.Error("no error has quoted what the receiver says of the credentials")
	}
}

// The dead man's switch would stay silent after a fault of its receiver, or hold
// the alerts up meanwhile, or show its token.
func TestDeadMan(t *testing.T) {
	for _, f := range faults {
		t.Run(string(f), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlay(t, "dead-man", f)
				stop := p.start()
				p.happen(0, rows()[0])
				time.Sleep(time.Hour)
				p.look()
				during := len(p.receiver.list())
				p.receiver.set(none)
				time.Sleep(5 * time.Minute)
				after := len(p.receiver.list()) - during
				stop()
				if well := f == none || f == restarts || f == kills; after < 4 || after > 6 || well && during != 60 && during != 61 {
					t.Errorf("%d calls within an hour of the fault, %d within five minutes after it", during, after)
				}
				if got := p.spare.messages(); len(got) != 1 {
					t.Errorf("%d alerts arrived meanwhile", len(got))
				}
				p.secrets()
			})
		})
	}
}
