package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/internal/support"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a controller whose answers the test sets.
type fake struct {
	mu       sync.Mutex
	status   Status
	events   []sites.Event
	query    EventQuery
	commands []sites.Command
	targets  []TargetRequest
	follow   chan sites.Event
	after    uint64
	healthy  error
	missing  []string
	from, to time.Time
	alerts   *alert.Status
	pushed   []TargetView // beside the router

	onCommand func(ctx context.Context, c sites.Command) (sites.Reply, error)
}

func (f *fake) Status(context.Context) (Status, error) { return f.status, nil }

func (f *fake) Explain(_ context.Context, what string) (Explanation, error) {
	switch what {
	case "berlin":
		return Explanation{Subject: "berlin", Sentences: []string{"berlin is seen."}}, nil
	case "app.example.lan":
		return Explanation{Subject: what, Sentences: []string{"berlin answers 10.1.0.11."}}, nil
	case "panic":
		panic("out of cheese")
	case "broken":
		return Explanation{}, errors.New("read the store: disk on fire")
	case "slow":
		return Explanation{}, context.DeadlineExceeded
	}
	return Explanation{}, &NotFoundError{Text: "There is no site, node or host " + what + ". The sites are berlin."}
}

func (f *fake) Events(_ context.Context, q EventQuery) ([]sites.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.query = q
	return f.events, nil
}

func (f *fake) Follow(_ context.Context, after uint64) (<-chan sites.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = after
	return f.follow, nil
}

func (f *fake) Command(ctx context.Context, c sites.Command) (sites.Reply, error) {
	f.mu.Lock()
	f.commands = append(f.commands, c)
	f.mu.Unlock()
	switch {
	case f.onCommand != nil:
		return f.onCommand(ctx, c)
	case c.Site == "berlin":
		return sites.Reply{Text: "Done."}, nil
	}
	return sites.Reply{Refused: true, Text: `There is no site "` + c.Site + `". The sites are berlin.`}, nil
}

func (f *fake) Probe(_ context.Context, site, node string) (ProbeReport, error) {
	if node != "a" {
		return ProbeReport{}, &NotFoundError{Text: "There is no node " + site + "/" + node + "."}
	}
	return ProbeReport{Site: site, Node: node, Lines: []ProbedLine{{
		Address: "10.1.0.11", Checks: []ProbedCheck{
			{Checked: sites.Checked{Probe: "tcp", Steer: true, Outcome: "up", Duration: time.Millisecond}},
			{
				Checked: sites.Checked{Probe: "http", Steer: true, Outcome: "down", Cause: "status", Duration: time.Second},
				Detail: probes.Detail{
					Address: "10.1.0.11:443",
					Steps:   []probes.Step{{Name: "connect", Took: time.Millisecond}, {Name: "tls", Took: time.Second, Error: "reset"}},
					HTTP:    &probes.SeenHTTP{Status: "HTTP/1.1 503 Service Unavailable", Body: "busy"},
				},
			},
		},
	}}}, nil
}

// History knows berlin/a from noon on, and nothing of berlin/b, which is
// disabled.
func (f *fake) History(_ context.Context, site, node string, from, to time.Time) ([]history.Line, error) {
	f.mu.Lock()
	f.from, f.to = from, to
	f.mu.Unlock()
	switch {
	case site != "berlin" || node == "x":
		return nil, &NotFoundError{Text: "There is no node " + site + "/" + node + "."}
	case node == "b":
		return nil, nil
	case node == "":
		return []history.Line{{Site: site, Witness: "resolver 10.1.0.1", Address: netip.MustParseAddr("10.1.0.1"), Probes: []history.Probe{{Name: "resolver 10.1.0.1", Step: 60}}}}, nil
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	point := history.Point{Time: at, Up: 5, Down: 1, Least: time.Millisecond, Mean: 2 * time.Millisecond, Most: 3 * time.Millisecond, Cause: "timeout"}
	return []history.Line{{
		Site: site, Node: node, Address: netip.MustParseAddr("10.1.0.11"),
		Probes:   []history.Probe{{Name: "tcp", Step: 60, Points: []history.Point{point}, Total: point}},
		Failures: []history.Failure{{Probe: "tcp", Outcome: "down", Cause: "timeout", Text: "no answer within 2s", First: at, Last: at, Count: 1}},
	}}, nil
}

func (f *fake) Reload(context.Context) (ReloadReport, error) {
	return ReloadReport{}, errors.New("dnsteer.yaml:3:1: nix: unknown key")
}

// Targets knows the router of berlin.
func (f *fake) Targets(context.Context) ([]TargetView, error) {
	return append([]TargetView{{
		Name: "router", Server: "10.1.0.1:8729", Kind: "routeros", Site: "berlin", State: TargetCurrent,
		Records: []TargetRecord{{Name: "app.example.lan", Type: "A", TTL: 30}},
	}}, f.pushed...), nil
}

func (f *fake) Plan(_ context.Context, target string) ([]TargetPlan, error) {
	if target != "" && target != "router" {
		return nil, &NotFoundError{Text: "There is no target " + target + ". There is router."}
	}
	return []TargetPlan{
		{Target: "router", Server: "10.1.0.1:8729"},
		{Target: "router", Server: "10.1.0.2:8729", Changes: []TargetChange{{Verb: "add", Name: "app.example.lan", Type: "A", To: "10.1.0.11"}}},
	}, nil
}

func (f *fake) Certificates(_ context.Context, target string) (CertificateList, error) {
	if target != "router" {
		return CertificateList{}, &NotFoundError{Text: "There is no target " + target + ". There is router."}
	}
	return CertificateList{Certificates: []TargetCertificate{{Server: "10.1.0.1:8729", Fingerprint: "sha256:00", Subject: "CN=router"}}}, nil
}

func (f *fake) Operate(_ context.Context, r TargetRequest) (TargetReply, error) {
	f.mu.Lock()
	f.targets = append(f.targets, r)
	f.mu.Unlock()
	switch {
	case r.Target != "router":
		return TargetReply{}, &NotFoundError{Text: "There is no target " + r.Target + ". There is router."}
	case r.Verb == TargetEnable:
		return TargetReply{Refused: true, Text: "router is not disabled."}, nil
	}
	return TargetReply{Text: "1 record would become ours.", Changes: []TargetChange{{Verb: "adopt", Name: "app.example.lan", Type: "A", From: "10.1.0.11"}}}, nil
}

func (f *fake) Support(context.Context) []support.Part {
	return []support.Part{support.JSON("status.json", f.Status)}
}

func (f *fake) Healthy(context.Context) error    { return f.healthy }
func (f *fake) Missing(context.Context) []string { return f.missing }
func (f *fake) handler() *Handler                { return f.handlerLogging(io.Discard) }
func (f *fake) handlerLogging(log io.Writer) *Handler {
	return NewHandler(Deps{Reader: f, Operator: f, Historian: f, Publisher: f, Health: f, Alerter: f, Supporter: f, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
}

// socketFolder is a folder with a short name: the path of a socket may have
// few bytes.
func socketFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "api")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// started answers on a socket until the test ends.
func started(t *testing.T, f *fake) *Client {
	t.Helper()
	path := filepath.Join(socketFolder(t), SocketName)
	s, err := Listen(path, f.handler())
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(path)
	t.Cleanup(func() {
		c.Close()
		if err := s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// pipes is a listener without a network, for bubbles of virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

func (f *fake) Alerts(context.Context) (*alert.Status, error) {
	if f.alerts == nil {
		return nil, nil //nolint:nilnil // nothing is configured
	}
	return f.alerts, nil
}

func (f *fake) TestAlerts(_ context.Context, channel string) ([]alert.TestReport, error) {
	if channel == "pigeon" {
		return nil, &NotFoundError{Text: "there is no alert channel \"pigeon\", expected one of [mail]"}
	}
	return []alert.TestReport{{Channel: "mail", Type: "smtp", OK: true, Dialogue: []string{"> EHLO hq"}}}, nil
}
