package routeros

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// Somebody whose router cannot be reached would be told nothing that helps, be
// locked out by further attempts, or wait five minutes where seconds do.
func TestConnectionFaultsAreExplained(t *testing.T) {
	type routerOptions = routersim.Options
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	strict := webServer(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct {
		name   string
		o      routerOptions
		faults routersim.Faults
		config func(*routersim.Router) Config
		class  providers.Class
		want   string // a part of the error; "" for none
	}{
		{"plain", routerOptions{}, routersim.Faults{}, plain, 0, ""},
		{"pinned", routerOptions{}, routersim.Faults{}, pinned, 0, ""},
		{"torn, with sentences that nobody knows", routerOptions{}, routersim.Faults{Torn: true, Unknown: true}, pinned, 0, ""},
		{"the challenge, over TLS", routerOptions{Version: "6.42"}, routersim.Faults{}, pinned, 0, ""},
		{"the challenge, allowed", routerOptions{Version: "6.42"}, routersim.Faults{}, plain, 0, ""},
		{"the challenge, not allowed", routerOptions{Version: "6.42"}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := plain(r)
			c.OldLogin = false
			return c
		}, providers.Permanent, "set old_login"},
		{"wrong password", routerOptions{Password: "other"}, routersim.Faults{}, plain, providers.Denied, "refuses the user dnsteer"},
		{"wrong password, challenge", routerOptions{Version: "6.42", Password: "other"}, routersim.Faults{}, plain, providers.Denied, "cannot log in"},
		{"a port that is closed", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := plain(r)
			c.Address = closed.Addr().String()
			return c
		}, providers.Transient, "/ip service enable api-ssl"},
		{"a web server", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := plain(r)
			c.Address = strict
			return c
		}, providers.Permanent, "a web server answers there"},
		{"a web server where TLS is wanted", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := pinned(r)
			c.Address = web.Listener.Addr().String()
			return c
		}, providers.Permanent, "TLS is not spoken there"},
		{"TLS where none is wanted", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := plain(r)
			c.Address = r.TLSAddr()
			return c
		}, providers.Transient, "or TLS is spoken there"},
		{"no certificate", routerOptions{NoCertificate: true}, routersim.Faults{}, pinned, providers.Permanent, "api-ssl certificate=NAME"},
		{"another certificate", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := pinned(r)
			c.TLS.Fingerprint = [32]byte{1}
			return c
		}, providers.Permanent, "dnsteer target pin"},
		{"a certificate without a name", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := pinned(r)
			c.TLS = providers.TLS{CA: r.CA()}
			return c
		}, providers.Permanent, "set tls_fingerprint"},
		{"a certificate that nobody vouches for", routerOptions{}, routersim.Faults{}, func(r *routersim.Router) Config {
			c := pinned(r)
			c.TLS = providers.TLS{ServerName: "router"}
			return c
		}, providers.Permanent, "set tls_fingerprint"},
		{"an address list", routerOptions{}, routersim.Faults{Deny: true}, plain, providers.Transient, "the address list of the service"},
		{"an address list, TLS", routerOptions{}, routersim.Faults{Deny: true}, pinned, providers.Transient, "the address list of the service"},
		{"nothing is said", routerOptions{}, routersim.Faults{Hang: true}, plain, providers.Transient, "nothing answers to the login"},
		{"the login is cut", routerOptions{}, routersim.Faults{Each: routersim.At(1, routersim.HalfReply)}, plain, providers.Transient, "the router closed the connection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := router(t, tt.o)
			r.SetFaults(tt.faults)
			p := open(t, tt.config(r))
			if tt.faults.Hang {
				p.limits.request = 20 * time.Millisecond // the login's; a busy machine may take longer to connect
			}
			_, err := p.List(within(t), []string{"a.lan"})
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if class, _ := providers.ClassOf(err); err == nil || class != tt.class || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("class %v: %v\nwant %v %q", class, err, tt.class, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "%!")) {
				t.Errorf("the error shows too much: %v", err)
			}
		})
	}
}

// webServer answers whatever comes as web servers do that find no request in it.
func webServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 1024))
			io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request")
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// An old router would take nobody's login: the vector is computed by its rule.
func TestAnswerToTheChallenge(t *testing.T) {
	got, err := answer("00112233445566778899aabbccddeeff", "secret")
	if err != nil || got != "00c17511d224a5e93170632807d36388aa" {
		t.Error(got, err)
	}
	if _, err := answer("xyz", "secret"); err == nil {
		t.Error("what is not hexadecimal is taken")
	}
}

// A router that hangs would hold up all pushes to it, past the time that they
// were given.
func TestHangingRouterEndsWithTheContext(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	list(t, p, "a.lan")
	r.SetFaults(routersim.Faults{Hang: true})
	p.limits.request, p.limits.connect, p.limits.reading = time.Hour, time.Hour, time.Hour
	for name, cut := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Millisecond)
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		ctx, cancel := cut(t.Context())
		begin := time.Now()
		_, err := p.List(ctx, []string{"a.lan"})
		cancel()
		if err == nil || time.Since(begin) > soon || !errors.Is(err, ctx.Err()) && name == "cancelled" {
			t.Errorf("%s: %v after %v", name, err, time.Since(begin))
		}
	}
	// The router's own limit, where the context has none.
	p.limits.request = 20 * time.Millisecond
	if _, err := p.List(t.Context(), []string{"a.lan"}); err == nil || !strings.Contains(err.Error(), "nothing answers to the login") {
		t.Error(err)
	}
	r.SetFaults(routersim.Faults{})
	p.limits.request, p.limits.connect, p.limits.reading = soon, soon, soon
	list(t, p, "a.lan") // and it goes on
}

// Each login is a line in the router's log: a thousand pushes would fill it.
func TestOneLoginForAThousandPushes(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	for i := range 1000 {
		addr := []string{"192.0.2.1", "192.0.2.2"}[i%2]
		push(t, p, record("app.lan", addr, 15*time.Second))
	}
	if n := r.Counts(); n.Logins != 1 || n.Writes != 1000 {
		t.Errorf("%+v", n)
	}
}

// After a router's reboot, or a firewall's loss of memory, the next move would
// fail once, or wait for the whole limit of a request.
func TestDeadSessionIsReplaced(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*routersim.Router)
		idle time.Duration
	}{
		{"closed", (*routersim.Router).DropSessions, time.Hour},
		{"closed long ago", (*routersim.Router).DropSessions, 0},
		{"half-open", (*routersim.Router).HalfOpen, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := router(t, routersim.Options{})
			p := open(t, plain(r))
			p.limits.idle, p.limits.ping = tt.idle, 50*time.Millisecond
			push(t, p, record("app.lan", "192.0.2.1", time.Minute))
			tt.end(r)
			p.limits.ping = 50 * time.Millisecond
			list(t, p, "app.lan")
			p.limits.idle = time.Hour
			push(t, p, record("app.lan", "192.0.2.2", time.Minute))
			if got := rows(r); len(got) != 1 || got[0] != "app.lan A 192.0.2.2 1m managed-by=dnsteer/test" {
				t.Error(got)
			}
		})
	}
}

// Two callers at once would get each other's answers.
func TestCallsWaitForTheirTurn(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, plain(r))
	do(t, r, "add", "name=a.lan", "address=192.0.2.1")
	done := make(chan error)
	for range 8 {
		go func() {
			l, err := p.List(context.WithoutCancel(t.Context()), []string{"a.lan"})
			if err == nil && len(l.Entries) != 1 {
				err = errors.New("another's answer")
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	p.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.List(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-p.turn
}

// A configuration that cannot work would be found out by its first move.
func TestNewRefusesWhatCannotWork(t *testing.T) {
	for want, c := range map[string]Config{
		"not HOST:PORT":  {Address: "router", Mark: "m"},
		"no certificate": {Address: "router:8729", Mark: "m", TLS: providers.TLS{CA: []byte("x")}},
		"no mark is set": {Address: "router:8729"},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A machine that is to be woken would stay asleep.
func TestWake(t *testing.T) {
	r := router(t, routersim.Options{})
	p := open(t, pinned(r))
	mac := net.HardwareAddr{2, 0, 0, 0xab, 0xcd, 1}
	for _, on := range []string{"bridge", ""} {
		if err := p.Wake(within(t), mac, on); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(r.Woken(), ","); got != "02:00:00:AB:CD:01 bridge,02:00:00:AB:CD:01 " {
		t.Error(got)
	}
	r.SetFaults(routersim.Faults{ReadOnly: true})
	if err := p.Wake(within(t), mac, ""); err == nil || !strings.Contains(err.Error(), "/user group add") {
		t.Error(err)
	}
}
