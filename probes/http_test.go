package probes

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// serveHTTP serves on loopback and gives the port.
func serveHTTP(t *testing.T, h http.Handler) (port string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// misbehaving is a server with a path for every fault.
func misbehaving() http.Handler {
	m := http.NewServeMux()
	page := func(path string, f http.HandlerFunc) { m.HandleFunc(path, f) }
	page("/ok", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "all is well") })
	page("/500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	page("/empty", func(http.ResponseWriter, *http.Request) {})
	page("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	page("/slow", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // the next octet comes later than anybody waits
	})
	page("/early", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "all is well")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	page("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 8192)); err != nil {
				return
			}
		}
	})
	page("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "all is well")
		_ = z.Close()
	})
	page("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 1000 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
	})
	page("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", 302) })
	page("/once", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", 302) })
	page("/twice", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/once", 302) })
	page("/far", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 64<<10-len("all is well"))+"all is well")
	})
	page("/farther", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 64<<10-len("all is well")+1)+"all is well")
	})
	page("/login", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "please log in") })
	page("/to-login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://portal.example.net/login", 302)
	})
	page("/cookie", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		http.Redirect(w, r, "/needs-cookie", 302)
	})
	page("/needs-cookie", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err == nil {
			w.WriteHeader(500)
		}
	})
	page("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://login.example.com/", 302)
	})
	page("/absolute", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/ok", 302)
	})
	page("/ftp", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "ftp://"+r.Host+"/ok", 302)
	})
	page("/headers", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 2000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
		}
	})
	return m
}

// A page that does not work would count as one that does, or the other way
// round; a hostile one would hold the controller up or fill its memory.
func TestHTTP(t *testing.T) {
	base := "http://{address}:" + serveHTTP(t, misbehaving())
	const well = "all is well"
	tests := []struct {
		name    string
		probe   HTTP
		timeout time.Duration
		want    want
	}{
		{"ok", HTTP{URL: "/ok"}, soon, want{sites.Up, ""}},
		{"body", HTTP{URL: "/ok", Body: well}, soon, want{sites.Up, ""}},
		{"wrong body", HTTP{URL: "/ok", Body: "not this"}, soon, want{sites.Down, CauseBody}},
		{"empty body", HTTP{URL: "/empty", Body: well}, soon, want{sites.Down, CauseBody}},
		{"error", HTTP{URL: "/500"}, soon, want{sites.Down, CauseStatus}},
		{"error that is expected", HTTP{URL: "/500", Status: []StatusRange{{200, 299}, {500, 500}}}, soon, want{sites.Up, ""}},
		{"not the status expected", HTTP{URL: "/ok", Status: []StatusRange{{204, 204}}}, soon, want{sites.Down, CauseStatus}},
		{"accepts, is silent", HTTP{URL: "/silent"}, never, want{sites.Down, CauseTimeout}},
		{"slow body", HTTP{URL: "/slow", Body: well}, never, want{sites.Down, CauseTimeout}},
		{"slow body that does not matter", HTTP{URL: "/slow"}, soon, want{sites.Up, ""}},
		{"body that is not at its end", HTTP{URL: "/early", Body: well}, soon, want{sites.Up, ""}},
		{"endless body", HTTP{URL: "/endless", Body: well}, soon, want{sites.Down, CauseBody}},
		{"text at the end of what is read", HTTP{URL: "/far", Body: well}, soon, want{sites.Up, ""}},
		{"text behind it", HTTP{URL: "/farther", Body: well}, soon, want{sites.Down, CauseBody}},
		{"the page of a portal", HTTP{URL: "/login", Body: well}, soon, want{sites.Down, CauseBody}},
		{"a redirect to a portal", HTTP{URL: "/to-login", Status: []StatusRange{{200, 299}}, Body: well}, soon, want{sites.Down, CauseStatus}},
		{"a redirect to a portal, followed", HTTP{URL: "/to-login", Redirects: 3, Body: well}, soon, want{sites.Down, CauseRedirect}},
		{"gzip", HTTP{URL: "/gzip", Body: well}, soon, want{sites.Up, ""}},
		{"gzip bomb", HTTP{URL: "/bomb", Body: well}, soon, want{sites.Down, CauseBody}},
		{"too many headers", HTTP{URL: "/headers"}, soon, want{sites.Down, CauseProtocol}},
		{"redirect not followed", HTTP{URL: "/loop"}, soon, want{sites.Up, ""}},
		{"redirect not followed, not expected", HTTP{URL: "/once", Status: []StatusRange{{200, 299}}}, soon, want{sites.Down, CauseStatus}},
		{"redirect", HTTP{URL: "/once", Redirects: 1, Body: well}, soon, want{sites.Up, ""}},
		{"redirect with the host named", HTTP{URL: "/absolute", Redirects: 1, Body: well}, soon, want{sites.Up, ""}},
		{"as many redirects as may be", HTTP{URL: "/twice", Redirects: 2, Body: well}, soon, want{sites.Up, ""}},
		{"one more than may be", HTTP{URL: "/twice", Redirects: 1}, soon, want{sites.Down, CauseRedirect}},
		{"redirect loop", HTTP{URL: "/loop", Redirects: 3}, soon, want{sites.Down, CauseRedirect}},
		{"redirect to another host", HTTP{URL: "/away", Redirects: 3}, soon, want{sites.Down, CauseRedirect}},
		{"redirect to another protocol", HTTP{URL: "/ftp", Redirects: 3}, soon, want{sites.Down, CauseRedirect}},
		{"no cookies", HTTP{URL: "/cookie", Redirects: 1}, soon, want{sites.Up, ""}},
		{"head", HTTP{URL: "/ok", Method: "HEAD"}, soon, want{sites.Up, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.probe.URL = base + tt.probe.URL
			if c := ask(t, tt.probe, "127.0.0.1", tt.timeout); verdict(c) != tt.want {
				t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
			}
		})
	}
}

// What speaks no HTTP would be taken for a web server, or the cause shown would
// lead astray.
func TestHTTPOverBrokenConnections(t *testing.T) {
	tests := []struct {
		name  string
		serve func(net.Conn)
		want  want
	}{
		{"silent", func(net.Conn) {}, want{sites.Down, CauseTimeout}},
		{"closes", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_ = c.Close()
		}, want{sites.Down, CauseEOF}},
		{"resets", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}, want{sites.Down, CauseReset}},
		{"garbage", func(c net.Conn) {
			_, _ = io.WriteString(c, "220 mail.example.com ESMTP\r\n")
		}, want{sites.Down, CauseProtocol}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			timeout := soon
			if tt.want.Cause == CauseTimeout {
				timeout = never
			}
			p := HTTP{URL: fmt.Sprintf("http://node.example.lan:%d/", listen(t, tt.serve))}
			if c := ask(t, p, "127.0.0.1", timeout); verdict(c) != tt.want {
				t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
			}
		})
	}
	p := HTTP{URL: fmt.Sprintf("http://node.example.lan:%d/", closedPort(t))}
	if got := verdict(ask(t, p, "127.0.0.1", soon)); got != (want{sites.Down, CauseRefused}) {
		t.Errorf("closed port: %+v", got)
	}
}

// A probe would ask another machine than the node (by the name in the URL, or
// by a proxy of the environment), or ask it for another virtual host.
func TestHTTPAsksTheNode(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	type seen struct{ Host, Agent, Auth, Method string }
	got := make(chan seen, 1)
	port := serveHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- seen{r.Host, r.UserAgent(), r.Header.Get("Authorization"), r.Method}
	}))
	tests := []struct {
		name  string
		probe HTTP
		want  seen
	}{
		{"name in the url", HTTP{URL: "http://app.invalid:" + port + "/"}, seen{"app.invalid:" + port, "dnsteer", "", "GET"}},
		{"address", HTTP{URL: "http://{address}:" + port}, seen{"127.0.0.1:" + port, "dnsteer", "", "GET"}},
		{"host", HTTP{URL: "http://{address}:" + port, Host: "app.example.lan"}, seen{"app.example.lan", "dnsteer", "", "GET"}},
		{"host with a port", HTTP{URL: "http://{address}:" + port, Host: "app.example.lan:8443"}, seen{"app.example.lan:8443", "dnsteer", "", "GET"}},
		{"headers", HTTP{
			URL: "http://{address}:" + port, Method: "POST",
			Headers: map[string]string{"Authorization": "Bearer x", "user-agent": "check"},
		}, seen{"127.0.0.1:" + port, "check", "Bearer x", "POST"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c := ask(t, tt.probe, "127.0.0.1", soon); c.Outcome != sites.Up {
				t.Fatalf("%+v", c)
			}
			if diff := cmp.Diff(tt.want, <-got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A URL with an IPv6 address would not be one.
func TestHTTPRequestURL(t *testing.T) {
	tests := []struct{ name, url, host, addr, want, wantHost string }{
		{"IPv4", "https://{address}/x", "", "10.0.0.1", "https://10.0.0.1/x", "10.0.0.1"},
		{"IPv6", "https://{address}:8443/x", "", "fd00::1", "https://[fd00::1]:8443/x", "[fd00::1]:8443"},
		{"zone", "http://{address}/", "", "fe80::1%eth0", "http://[fe80::1%25eth0]/", "[fe80::1%eth0]"},
		{"in the path", "http://app.example.lan/?node={address}", "", "10.0.0.1", "http://app.example.lan/?node=10.0.0.1", "app.example.lan"},
		{"host", "https://{address}:8443/x", "app.example.lan", "10.0.0.1", "https://app.example.lan:8443/x", "app.example.lan"},
		{"IPv6 host", "https://{address}/", "[fd00::9]", "fd00::1", "https://[fd00::9]/", "[fd00::9]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := HTTP{URL: tt.url, Host: tt.host}.request(t.Context(), netip.MustParseAddr(tt.addr))
			if err != nil {
				t.Fatal(err)
			}
			if req.URL.String() != tt.want || req.Host != tt.wantHost {
				t.Errorf("got %s with the host %s, want %s with %s", req.URL, req.Host, tt.want, tt.wantHost)
			}
		})
	}
}

// A probe that cannot be run would take its nodes out.
func TestHTTPUnusable(t *testing.T) {
	for _, u := range []string{"", "ftp://{address}/", "{address}", "http://{address}:port/", "http://", "http://a b/"} {
		if got := verdict(ask(t, HTTP{URL: u}, "127.0.0.1", soon)); got != (want{sites.Unknown, CauseLocalConfig}) {
			t.Errorf("%q: %+v", u, got)
		}
	}
}

// A password in the URL would come to light in an event.
func TestHTTPErrorsKeepSecrets(t *testing.T) {
	u := url.URL{Scheme: "http", Host: fmt.Sprintf("node.example.lan:%d", closedPort(t)), RawQuery: "token=geheim", User: url.UserPassword("u", "geheim")}
	c := ask(t, HTTP{URL: u.String()}, "127.0.0.1", soon)
	if c.Outcome != sites.Down || strings.Contains(c.Text, "geheim") {
		t.Errorf("%+v", c)
	}
}
