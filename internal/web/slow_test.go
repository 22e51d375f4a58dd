package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

// hanging is a controller of which everything that asks others hangs until it is given
// up; say is what comes of a reload.
type hanging struct {
	*fake
	say error
}

func given(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("ask it: %w", ctx.Err())
}

func (h *hanging) Probe(ctx context.Context, _, _ string) (api.ProbeReport, error) {
	return api.ProbeReport{}, given(ctx)
}

func (h *hanging) TestAlerts(ctx context.Context, _ string) ([]alert.TestReport, error) {
	return nil, given(ctx)
}

func (h *hanging) Operate(ctx context.Context, _ api.TargetRequest) (api.TargetReply, error) {
	return api.TargetReply{}, given(ctx)
}

func (h *hanging) Certificates(ctx context.Context, _ string) (api.CertificateList, error) {
	return api.CertificateList{}, given(ctx)
}

func (h *hanging) Reload(context.Context) (api.ReloadReport, error) {
	return api.ReloadReport{}, h.say
}

// hung gives the pages of a controller that hangs, and its log.
func hung(t *testing.T, say error) (*Handler, *bytes.Buffer) {
	t.Helper()
	f, log := &hanging{hostile(1), say}, &bytes.Buffer{}
	h, err := New(Deps{
		Reader: f, Operator: f, Historian: f, Entrance: f, Alerter: f, Publisher: f, Configuration: f, Log: slog.New(slog.NewTextHandler(log, nil)), Now: now,
		SiteOf: func(netip.Addr) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, log
}

// once is a listener of one connection.
type once struct {
	conn chan net.Conn
	gone chan struct{}
}

func (o once) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.gone:
		return nil, net.ErrClosed
	}
}
func (o once) Close() error   { close(o.gone); return nil }
func (o once) Addr() net.Addr { return &net.TCPAddr{} }

// If this fails, who asks a target or a mail server that hangs is shown an empty page of
// the browser, and not what came of it: the time for the answer was over with the wait.
func TestWhatHangsIsTold(t *testing.T) {
	for _, path := range []string{
		"POST /probe/berlin/a", "POST /alerts/test/mail", "GET /targets/act?verb=purge&target=router", "POST /targets/act?verb=purge&target=router", "GET /targets/certificates?target=router",
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, log := hung(t, nil)
				server := &http.Server{ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					h.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), &api.Caller{Name: "bob", Role: auth.Admin})))
				})}
				ours, theirs := net.Pipe()
				at := once{make(chan net.Conn, 1), make(chan struct{})}
				at.conn <- theirs
				go func() { _ = server.Serve(at) }()
				method, url, _ := strings.Cut(path, " ")
				go func() {
					_, _ = fmt.Fprintf(ours, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", method, url)
				}()
				res, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					t.Fatalf("there is no answer: %v", err)
				}
				text, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "did not answer in time") {
					t.Errorf("%d %s %v", res.StatusCode, text, err)
				}
				_ = res.Body.Close()
				_ = server.Close()
				if log.Len() > 0 {
					t.Errorf("logged: %s", log)
				}
			})
		})
	}
}

// If this fails, a page that is left before it is made is an error in the log, or a reload
// whose end was not waited for is told as a configuration that was rejected.
func TestWhatIsGivenUpIsNoFault(t *testing.T) {
	for _, say := range []error{context.Canceled, context.DeadlineExceeded} {
		h, log := hung(t, fmt.Errorf("read it again: %w", say))
		w := ask(h, auth.Admin, http.MethodPost, "/configuration", "")
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "rejected; the one before") || log.Len() > 0 {
			t.Errorf("%v: %d %s, logged: %s", say, w.Code, w.Body, log)
		}
	}
}
