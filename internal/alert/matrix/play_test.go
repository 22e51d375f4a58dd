package matrix

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/alert/chat"
	"github.com/dnsteer/dnsteer/internal/alert/mail"
	"github.com/dnsteer/dnsteer/internal/alert/webhook"
	"github.com/dnsteer/dnsteer/sites"
)

// What nobody must see.
const (
	mailPassword = "pa55-word-of-mail"
	hookToken    = "token-of-the-hook"
	hookKey      = "key-of-the-signature"
	headerToken  = "token-of-the-header"
	chatToken    = "Aabcdefgh123456"
)

var secrets = []string{
	mailPassword, hookToken, hookKey, headerToken, chatToken,
	base64.StdEncoding.EncodeToString([]byte("\x00dnsteer\x00" + mailPassword)),
}

// world is a controller's events and store, in memory.
type world struct {
	mu     sync.Mutex
	events []sites.Event
	values map[string][]byte
	more   chan struct{}
	lose   bool // what is stored is lost, as by a kill
}

// raised enters an event of the engine. The pager is not configured here, which the
// engine would tell as an end: the rows say how it fares.
func (w *world) raised(e sites.Event) {
	if e.Part != "pager" {
		w.raise(e)
	}
}

func (w *world) raise(e sites.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.ID, e.Time = uint64(len(w.events)+1), time.Now()
	if e.Severity == "" {
		e.Severity = e.Kind.Severity()
	}
	w.events = append(w.events, e)
	close(w.more)
	w.more = make(chan struct{})
}

func (w *world) all() []sites.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

func (w *world) keep(values map[string][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, v := range values {
		switch {
		case w.lose:
		case v == nil:
			delete(w.values, k)
		default:
			w.values[k] = v
		}
	}
}

func (w *world) follow(ctx context.Context, after uint64) (<-chan sites.Event, error) {
	out := make(chan sites.Event)
	go func() {
		defer close(out)
		for next := int(after); ; next++ {
			w.mu.Lock()
			for next >= len(w.events) {
				more := w.more
				w.mu.Unlock()
				select {
				case <-more:
				case <-ctx.Done():
					return
				}
				w.mu.Lock()
			}
			e := w.events[next]
			w.mu.Unlock()
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// journal keeps a log.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// spare is the other channel, which nothing befalls.
type spare struct {
	mu  sync.Mutex
	got []alert.Message
}

func (s *spare) Send(_ context.Context, m *alert.Message, _ alert.Dialogue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, *m)
	return nil
}

func (s *spare) messages() []alert.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// play is one channel under one fault.
type play struct {
	t        *testing.T
	channel  string
	fault    fault
	receiver receiver
	spare    spare
	world    world
	log      journal
	seen     strings.Builder // what the API says meanwhile
	cfg      *alert.Config
	engine   *alert.Engine
	ids      []uint64 // of the rows' first events
}

func newPlay(t *testing.T, channel string, f fault) *play {
	p := &play{t: t, channel: channel, fault: f}
	p.receiver.fault = f
	if f == restarts || f == kills {
		p.receiver.fault = refused
		if channel == "dead-man" {
			p.receiver.fault = none
		}
	}
	p.world.values, p.world.more = make(map[string][]byte), make(chan struct{})
	p.cfg = &alert.Config{Instance: "hq", Group: 10 * time.Second, FallbackAfter: 15 * time.Minute, GiveUp: 48 * time.Hour}
	p.cfg.Channels = []alert.Channel{{Name: "spare", Type: "test", Sender: &p.spare, Timeout: time.Minute}}
	to := []string{"spare"}
	if channel == "dead-man" {
		h := p.hook(webhook.Options{Method: "GET"})
		p.cfg.DeadMan = &alert.DeadMan{Every: time.Minute, Call: h.Call}
	} else {
		p.cfg.Channels = append(p.cfg.Channels, alert.Channel{Name: channel, Type: channel, Sender: p.sender(), Timeout: 30 * time.Second})
		to = append(to, channel)
	}
	p.cfg.Routes = []alert.Route{{Name: "all", To: to}}
	return p
}

func (p *play) sender() alert.Sender {
	switch p.channel {
	case "mail":
		return mail.New(mail.Options{
			Host: "mail.example.com", Port: 25, Encryption: mail.None, User: "dnsteer", Password: mailPassword, Auth: "plain", Dial: p.receiver.dial(p.receiver.smtp),
			From: netmail.Address{Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}},
		})
	case "webhook":
		return p.hook(webhook.Options{Secrets: []alert.Secret{hookKey}, Headers: map[string]string{"Authorization": "Bearer " + headerToken}})
	default:
		s, err := chat.New(chat.Options{URL: "gotify://chat.example.com/" + chatToken + "?disabletls=yes", Dial: p.receiver.dial(p.receiver.http(readChat))})
		if err != nil {
			p.t.Fatal(err)
		}
		return s
	}
}

func (p *play) hook(opt webhook.Options) *webhook.Hook {
	opt.URL, opt.Dial = "http://hook.example.com/"+hookToken, p.receiver.dial(p.receiver.http(readHook))
	h, err := webhook.New(opt)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// start runs an engine; what it gives ends it.
func (p *play) start() (stop func()) {
	w := &p.world
	w.mu.Lock()
	stored, last := maps.Clone(w.values), uint64(len(w.events))
	w.mu.Unlock()
	p.engine = alert.New(p.cfg, alert.World{
		Follow: w.follow, Explain: func(context.Context, string) []string { return []string{"It is as it is."} }, Raise: w.raised,
		Keep: w.keep, KeepNow: func(_ context.Context, values map[string][]byte) error { w.keep(values); return nil },
		Exists: func(string, string) bool { return true }, Healthy: func(context.Context) error { return nil },
		Log: slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, stored, last)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.engine.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// look notes what people can see now.
func (p *play) look() {
	data, err := json.Marshal(p.engine.Status())
	if err != nil {
		p.t.Error(err)
	}
	p.seen.Write(data)
}

// happen raises the first event of a row, or its end.
func (p *play) happen(resolves uint64, r row) uint64 {
	e := r.event
	e.Kind, e.Text, e.Resolves = r.begin, fmt.Sprintf("It was %s.", r.begin), resolves
	if resolves != 0 {
		e.Kind, e.Text, e.Severity = r.end, fmt.Sprintf("It is over: %s.", r.end), ""
	}
	p.world.raise(e)
	return uint64(len(p.world.all()))
}

// play has everything happen while the fault lasts, and waits for what comes
// after it.
func (p *play) play() {
	stop := p.start()
	again := func(i int) {
		if p.fault != restarts && p.fault != kills || i%4 != 0 {
			return
		}
		p.world.mu.Lock()
		p.world.lose = p.fault == kills
		p.world.mu.Unlock()
		stop()
		p.world.mu.Lock()
		p.world.lose = false
		p.world.mu.Unlock()
		stop = p.start()
	}
	for i, r := range rows() {
		id := p.happen(0, r)
		p.ids = append(p.ids, id)
		time.Sleep(11 * time.Second)
		again(i)
		time.Sleep(2 * time.Minute)
		if r.end != "" {
			p.happen(id, r)
		}
		time.Sleep(3 * time.Minute)
		p.look()
	}
	p.receiver.set(none)
	time.Sleep(6 * time.Hour)
	p.look()
	stop()
	delete(p.world.values, "failed/pager") // a channel that is not there does not work again
	// What is left are the incidents, and of each channel what it has sent last.
	for key := range p.world.values {
		if key != "book" && !strings.HasPrefix(key, "past/") {
			p.t.Errorf("what was sent is still stored: %s", key)
		}
	}
}
