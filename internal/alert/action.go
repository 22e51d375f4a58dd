package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/logging"
	"github.com/dnsteer/dnsteer/sites"
)

// Action is something that is carried out on events, at most once for each.
type Action struct {
	Name string
	Match
	// Do carries it out, and says in a few words what was done. Its errors hold
	// no secrets.
	Do func(ctx context.Context, m *Message) (string, error)
	// Via wakes a node up by a target, in place of Do; nil for Do.
	Via *Via
	// Try looks whether it could be carried out, and does not do it; nil where
	// that cannot be tried.
	Try func(ctx context.Context, log Dialogue) error
	// AtMost is how often it is carried out within Within; 0 for no bound.
	AtMost int
	Within time.Duration
	// Timeout bounds one run.
	Timeout time.Duration
}

// Via says how a target wakes a node up.
type Via struct {
	Target string
	// Interface is the one that the packet leaves by; empty for the target's
	// choice.
	Interface string
	// Whom gives the node that a message asks for, and its hardware address.
	Whom func(m *Message) (string, net.HardwareAddr, error)
}

// Waker is a target that can wake machines up, on one of its interfaces or, for
// "", on its own choice.
type Waker interface {
	Wake(ctx context.Context, mac net.HardwareAddr, on string) error
}

// Bounds of actions.
const (
	// staleAction is how old an event may be: what happened while the controller
	// was off is no reason to act now.
	staleAction = 5 * time.Minute
	// atOnce bounds how many runs are under way.
	atOnce     = 8
	actionTry  = 3
	actionWait = 10 * time.Second
	actionKey  = "action/" // action/NAME
	quietKey   = "quiet/"  // quiet/NAME
)

// action is one run that is to be made.
type action struct {
	Action
	message Message
	why     *sites.Event
}

// actions chooses and carries out. Its state belongs to the engine's goroutine.
type actions struct {
	world World
	list  []Action
	// instance is the controller's name.
	instance string
	// runs are when each action was carried out, as far as its bound asks.
	runs map[string][]time.Time
	// quiet is until when no more is said of an action's bound.
	quiet map[string]time.Time
	room  chan struct{}
}

func newActions(w World) *actions {
	return &actions{world: w, runs: make(map[string][]time.Time), quiet: make(map[string]time.Time), room: make(chan struct{}, atOnce)}
}

func (a *actions) use(cfg *Config) { a.list, a.instance = cfg.Actions, cfg.Instance }

// restore takes over when actions were carried out, and what was said of it.
func (a *actions) restore(stored map[string][]byte, fail func(string, error)) {
	for key, value := range stored {
		if name, ok := strings.CutPrefix(key, quietKey); ok {
			var until time.Time
			if err := until.UnmarshalText(value); err != nil {
				fail(key, err)
			}
			a.quiet[name] = until
		}
		if name, ok := strings.CutPrefix(key, actionKey); ok {
			var runs []time.Time
			if err := json.Unmarshal(value, &runs); err != nil {
				fail(key, err)
			}
			a.runs[name] = runs
		}
	}
}

// choose gives the runs that an event asks for. Events about actions ask for
// none.
func (a *actions) choose(e *sites.Event, now time.Time) (list []action) {
	if e.Kind == sites.ActionDone || e.Kind == sites.ActionFailed {
		return nil
	}
	for i := range a.list {
		x := &a.list[i]
		if !x.Chooses(e) {
			continue
		}
		m := compose([]told{{Event: *e}}, Firing)
		m.Time, m.Since = e.Time, e.Time
		m.ID = fmt.Sprintf("action-%s-%d-%d", x.Name, e.ID, e.Time.UnixNano())
		m.Thread = m.ID
		switch age := now.Sub(e.Time); {
		case age > staleAction:
			a.failed(x.Name, e, fmt.Sprintf("it is %s old", length(int64(age/time.Second))))
		case !a.allow(x, now):
			a.tooOften(x, e, now)
		default:
			list = append(list, action{*x, m, e})
		}
	}
	return list
}

// allow enters a run, if the action's bound has room for it.
func (a *actions) allow(x *Action, now time.Time) bool {
	if x.AtMost == 0 {
		return true
	}
	runs := slices.DeleteFunc(a.runs[x.Name], func(at time.Time) bool { return now.Sub(at) >= x.Within || at.After(now) })
	if len(runs) >= x.AtMost {
		a.runs[x.Name] = runs
		return false
	}
	a.runs[x.Name] = append(runs, now)
	data, err := json.Marshal(a.runs[x.Name])
	if err == nil { // it is a list of times
		a.world.Keep(map[string][]byte{actionKey + x.Name: data})
	}
	return true
}

// tooOften says that an action's bound is reached: once in the time that it
// counts in, and in the log each time.
func (a *actions) tooOften(x *Action, why *sites.Event, now time.Time) {
	within := length(int64(x.Within / time.Second))
	a.world.Log.Warn("an action was not carried out: its bound is reached", "action", x.Name, "event", why.ID, "at_most", x.AtMost, "within", within)
	if until := a.quiet[x.Name]; now.Before(until) && until.Sub(now) <= x.Within {
		return
	}
	until := now.Add(x.Within)
	a.quiet[x.Name] = until
	if text, err := until.MarshalText(); err == nil { // its year has four digits
		a.world.Keep(map[string][]byte{quietKey + x.Name: text})
	}
	a.failed(x.Name, why, fmt.Sprintf("it was carried out %d times within %s already. That this happens again is told once within %s; the log names each", x.AtMost, within, within))
}

func (a *actions) failed(name string, why *sites.Event, text string) {
	a.world.Raise(sites.Event{
		Kind: sites.ActionFailed, Part: name, Site: why.Site, Node: why.Node, Drill: why.Drill,
		Text: fmt.Sprintf("The action %s was not carried out on %s: %s.", name, describe(why), text),
	})
}

// describe names an event.
func describe(e *sites.Event) string {
	if s := e.Subject(); s != "" {
		return fmt.Sprintf("%s of %s (event %d)", e.Kind, s, e.ID)
	}
	return fmt.Sprintf("%s (event %d)", e.Kind, e.ID)
}

// start carries out a run beside the engine. Where too many are under way it is
// not carried out, and that is told.
func (a *actions) start(ctx context.Context, x action, running *sync.WaitGroup) {
	select {
	case a.room <- struct{}{}:
	default:
		a.failed(x.Name, x.why, fmt.Sprintf("%d actions are under way already", atOnce))
		return
	}
	x.message.Instance = a.instance
	running.Go(func() {
		defer func() { <-a.room }()
		done, err := a.run(ctx, &x)
		switch {
		case ctx.Err() != nil:
			a.world.Log.Warn("an action was cut short by the stop", "action", x.Name, "event", x.why.ID)
		case err != nil:
			a.failed(x.Name, x.why, err.Error())
		default:
			a.world.Raise(sites.Event{
				Kind: sites.ActionDone, Part: x.Name, Site: x.why.Site, Node: x.why.Node, Drill: x.why.Drill,
				Text: fmt.Sprintf("The action %s was carried out on %s: %s.", x.Name, describe(x.why), done),
			})
		}
	})
}

// run tries a few times.
func (a *actions) run(ctx context.Context, x *action) (done string, err error) {
	for try := 1; ; try++ {
		limited, cancel := context.WithTimeout(ctx, x.Timeout)
		done, err = a.attempt(limited, x)
		cancel()
		if err == nil || try == actionTry || refused(err).Message {
			return done, err
		}
		select {
		case <-time.After(actionWait):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// attempt makes an error of a panic.
func (a *actions) attempt(ctx context.Context, x *action) (done string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s", logging.Panic(v))
		}
	}()
	if x.Via == nil {
		return x.Do(ctx, &x.message)
	}
	name, mac, err := x.Via.Whom(&x.message)
	if err != nil {
		return "", err
	}
	if err := a.world.Wake(ctx, x.Via, mac); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has sent a packet that wakes up %s (%s)", x.Via.Target, name, mac), nil
}
