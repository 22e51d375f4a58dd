package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/internal/online"
	"github.com/dnsteer/dnsteer/internal/proptest"
	"github.com/dnsteer/dnsteer/internal/support"
	"github.com/dnsteer/dnsteer/sites"
)

var update = flag.Bool("update", false, "write golden files anew")

// leakFree runs the tests and then looks for goroutines that they left.
type leakFree struct{ *testing.M }

func (m leakFree) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	proptest.Fix()
	testscript.Main(leakFree{m}, map[string]func(){"dnsteer": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		os.Exit(Run(ctx, os.Args[1:], Env{
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv,
			OnlineChecks: []online.Check{func(context.Context, *config.Config) []online.Finding {
				return []online.Finding{{About: "mail", Grade: online.OK, Text: "is taken"}}
			}},
			Serve: func(_ context.Context, opt ServeOptions) error {
				opt.Log.Debug("serving", "config", opt.ConfigPath, "strict", opt.Strict)
				opt.Log.Info("stopped")
				return nil
			},
			Demo: func(_ context.Context, opt DemoOptions) error {
				_, err := fmt.Println("demo on", opt.DNS)
				return err
			},
		}))
	}})
}

// People's scripts depend on what the commands print where, and on their exit
// codes. The scripts ask a controller whose answers stand in controller.json.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			// The path of a socket may have few bytes.
			dir, err := os.MkdirTemp("", "cli")
			if err != nil {
				return err
			}
			env.Defer(func() { os.RemoveAll(dir) })
			env.Setenv("TZ", "UTC")
			// The race detector waits for a second at the end of each command otherwise.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("STATE", dir)
			env.Setenv("SOCKET", filepath.Join(dir, api.SocketName))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"controller": controller, "exits": exits, "waitfor": waitFor, "router": router,
		},
	})
}

// exits runs a command and holds its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// waitFor waits until a file holds a text so many times: waitfor FILE COUNT TEXT.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: waitfor FILE COUNT TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Count(ts.ReadFile(args[0]), args[2]) >= n {
			return
		}
	}
	ts.Fatalf("%s does not get to hold %s", args[0], args[2])
}

// controller answers on $SOCKET until the script ends, as controller.json says.
// The commands that it gets are appended to the file "got".
func controller(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: controller")
	}
	f := &fake{got: ts.MkAbs("got")}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("controller.json")), f))
	ts.Check(os.WriteFile(f.got, nil, 0o600))
	s, err := api.Listen(ts.Getenv("SOCKET"), api.NewHandler(api.Deps{Reader: f, Operator: f, Historian: f, Publisher: f, Health: f, Alerter: f, Supporter: f, Log: slog.New(slog.DiscardHandler)}))
	ts.Check(err)
	ts.Defer(func() { ts.Check(s.Shutdown(context.Background())) })
}

// fake is a controller that knows what a file says.
type fake struct {
	Now          api.Status                 `json:"status"`
	Stored       []sites.Event              `json:"events"`
	Coming       []sites.Event              `json:"coming"`
	Explanations map[string]api.Explanation `json:"explanations"`
	Probes       map[string]api.ProbeReport `json:"probes"`
	Past         map[string][]history.Line  `json:"history"`
	Refusal      string                     `json:"refusal"`
	Reply        string                     `json:"reply"`
	Reloaded     *api.ReloadReport          `json:"reloaded"`
	Faults       string                     `json:"faults"`
	Ill          string                     `json:"ill"`
	Lacking      []string                   `json:"missing"`
	Pushed       []api.TargetView           `json:"targets"`
	Planned      []api.TargetPlan           `json:"plans"`
	Would        *api.TargetReply           `json:"would"` // to what is not confirmed
	Did          api.TargetReply            `json:"did"`

	got string
	mu  sync.Mutex
}

func (f *fake) note(v any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	out, err := os.OpenFile(f.got, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(out).Encode(v), out.Close())
}

func (f *fake) Status(context.Context) (api.Status, error) { return f.Now, f.note("status") }

func (f *fake) Explain(_ context.Context, what string) (api.Explanation, error) {
	if e, ok := f.Explanations[what]; ok {
		return e, nil
	}
	return api.Explanation{}, &api.NotFoundError{Text: fmt.Sprintf("There is no %q. The sites are berlin, hamburg.", what)}
}

func (f *fake) Events(_ context.Context, q api.EventQuery) (list []sites.Event, err error) {
	if q.Since.After(time.Now()) {
		return nil, errors.New("since the future")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.Stored) - 1; i >= 0 && len(list) < q.Limit; i-- {
		if e := f.Stored[i]; q.Site == "" || e.Site == q.Site {
			list = append(list, e)
		}
	}
	return list, nil
}

// Follow gives the events to come and ends, as to a reader who is too slow.
func (f *fake) Follow(_ context.Context, after uint64) (<-chan sites.Event, error) {
	if err := f.note(map[string]uint64{"follow": after}); err != nil {
		return nil, err
	}
	events := make(chan sites.Event, len(f.Coming))
	for _, e := range f.Coming {
		if e.ID > after {
			events <- e
		}
	}
	close(events)
	f.mu.Lock()
	f.Stored, f.Coming = append(f.Stored, f.Coming...), nil // they have happened
	f.mu.Unlock()
	return events, nil
}

func (f *fake) Command(_ context.Context, c sites.Command) (sites.Reply, error) {
	if err := f.note(c); err != nil {
		return sites.Reply{}, err
	}
	if f.Refusal != "" {
		return sites.Reply{Refused: true, Text: f.Refusal}, nil
	}
	return sites.Reply{Text: f.Reply}, nil
}

func (f *fake) Probe(_ context.Context, site, node string) (api.ProbeReport, error) {
	if r, ok := f.Probes[site+"/"+node]; ok {
		return r, nil
	}
	return api.ProbeReport{}, &api.NotFoundError{Text: "There is no node " + site + "/" + node + "."}
}

func (f *fake) History(_ context.Context, site, node string, from, to time.Time) ([]history.Line, error) {
	name := strings.TrimSuffix(site+"/"+node, "/")
	if err := f.note(map[string]string{"history": name, "span": to.Sub(from).String()}); err != nil {
		return nil, err
	}
	if lines, ok := f.Past[name]; ok {
		return lines, nil
	}
	return nil, &api.NotFoundError{Text: "There is no " + name + "."}
}

func (f *fake) Reload(context.Context) (api.ReloadReport, error) {
	if f.Reloaded == nil {
		return api.ReloadReport{}, errors.New(f.Faults)
	}
	return *f.Reloaded, nil
}

func (f *fake) Targets(context.Context) ([]api.TargetView, error) { return f.Pushed, nil }

func (f *fake) Plan(_ context.Context, target string) (list []api.TargetPlan, err error) {
	for _, p := range f.Planned {
		if target == "" || p.Target == target {
			list = append(list, p)
		}
	}
	if target != "" && list == nil {
		return nil, &api.NotFoundError{Text: "There is no target " + target + "."}
	}
	return list, nil
}

func (f *fake) Certificates(_ context.Context, target string) (api.CertificateList, error) {
	if target != "router" {
		return api.CertificateList{}, &api.NotFoundError{Text: "There is no target " + target + ". There is router."}
	}
	return api.CertificateList{Certificates: []api.TargetCertificate{{Server: "10.1.0.1:8729", Fingerprint: "sha256:00", Subject: "CN=router"}}}, nil
}

func (f *fake) Operate(_ context.Context, r api.TargetRequest) (api.TargetReply, error) {
	if err := f.note(r); err != nil {
		return api.TargetReply{}, err
	}
	if !r.Confirmed && f.Would != nil {
		return *f.Would, nil
	}
	return f.Did, nil
}

func (f *fake) Support(context.Context) []support.Part {
	return []support.Part{support.JSON("status.json", f.Status)}
}

func (f *fake) Healthy(context.Context) error {
	if f.Ill == "" {
		return nil
	}
	return errors.New(f.Ill)
}

func (f *fake) Missing(context.Context) []string { return f.Lacking }

// run carries out a command line in this process.
func run(t *testing.T, args ...string) (out, messages string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), args, Env{Out: &o, Err: &e, LookupEnv: func(string) (string, bool) { return "", false }})
	return o.String(), e.String(), code
}

// Alerts and TestAlerts are those of a controller whose mail server fails.
func (f *fake) Alerts(context.Context) (*alert.Status, error) {
	return &alert.Status{
		Channels: []alert.ChannelStatus{
			{Name: "mail", Type: "smtp", Queued: 1, Failing: time.Now().Add(-20 * time.Minute), Error: "mail server mail.example.com:587: connection refused", Queue: []alert.Queued{{ID: "1", Time: time.Now(), Subject: "[hq] berlin cannot be seen"}}},
			{Name: "ops", Type: "webhook", Queue: []alert.Queued{}},
		},
		Open: []alert.Incident{},
	}, nil
}

func (f *fake) TestAlerts(_ context.Context, channel string) ([]alert.TestReport, error) {
	switch channel {
	case "ops":
		return []alert.TestReport{{Channel: "ops", Type: "webhook", OK: true, Dialogue: []string{"> POST https://ops.example.com (612 bytes)", "< 200 OK"}}}, nil
	case "mail":
		return []alert.TestReport{{Channel: "mail", Type: "smtp", Dialogue: []string{"* connect to mail.example.com:587"}, Error: "connection refused"}}, nil
	}
	return nil, &api.NotFoundError{Text: "there is no alert channel \"" + channel + "\", expected one of [mail ops]"}
}
