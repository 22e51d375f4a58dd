package httpd

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/daemontest"
)

const pause = `{"verb": "pause", "site": "berlin"}`

// A page that a browser has open could read and command the controller, by a
// name of its own that its DNS turns to us, or by a request that the browser sends
// along with the cookie.
func TestWhatOthersMakeABrowserSend(t *testing.T) {
	s := open(t, func(c *config.HTTP) {
		c.WithoutLogin, c.Hosts = auth.Operator, []string{"dnsteer.example.lan", "*.wild.example"}
	})
	self := "http://" + s.addr()
	tests := []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"itself", "POST", "/api/v1/commands", []string{"Origin: " + self, "Sec-Fetch-Site: same-origin"}, 200},
		{"no browser", "POST", "/api/v1/commands", nil, 200},
		{"localhost", "GET", "/api/v1/status", []string{"Host: localhost:8053"}, 200},
		{"a name of ours", "GET", "/api/v1/status", []string{"Host: DNSteer.example.lan.:8053"}, 200},
		{"a wildcard", "GET", "/api/v1/status", []string{"Host: a.wild.example"}, 200},
		{"an address", "GET", "/api/v1/status", []string{"Host: [::1]:80"}, 200},
		{"below a wildcard", "GET", "/api/v1/status", []string{"Host: a.b.wild.example"}, 421},
		{"another name", "GET", "/api/v1/status", []string{"Host: evil.example"}, 421},
		{"another name that begins alike", "GET", "/api/v1/status", []string{"Host: localhost.evil.example"}, 421},
		{"another name, health", "GET", "/-/healthy", []string{"Host: evil.example"}, 421},
		{"another name, metrics", "GET", "/metrics", []string{"Host: evil.example"}, 421},
		{"another site", "POST", "/api/v1/commands", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"another port", "POST", "/api/v1/commands", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"an old browser on another site", "POST", "/api/v1/commands", []string{"Origin: https://evil.example"}, 403},
		{"a login by another site", "POST", "/api/v1/login", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"a reload by another site", "POST", "/-/reload", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"a form", "POST", "/api/v1/commands", []string{"Content-Type: text/plain"}, 415},
		{"a change by GET", "GET", "/api/v1/commands", nil, 405},
	}
	for _, tt := range tests {
		body := ""
		if tt.method == "POST" {
			body = pause
		}
		res, text := s.ask(tt.method, tt.path, body, tt.headers...)
		if res.StatusCode != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, res.StatusCode, text, tt.want)
		}
		if res.StatusCode >= 400 && res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: no problem: %s", tt.name, res.Header)
		}
	}
	if n := len(s.ctl.commands); n != 2 {
		t.Errorf("%d commands were carried out, want those of the first two", n)
	}
}

// A person who opens the dashboard by a name that it does not have would read the
// braces of a program, or a text of the request as a script.
func TestRefusalsArePages(t *testing.T) {
	s := open(t, func(c *config.HTTP) { c.BasePath = "/x" })
	for name, tt := range map[string]struct {
		path, accept string
		headers      []string
		want         int
		page         bool
	}{
		"another name":                {"/x/", "text/html,*/*", []string{`Host: <script>alert(1)</script>`}, 421, true},
		"another site":                {"/x/act", "text/html", []string{"Sec-Fetch-Site: cross-site"}, 403, true},
		"beside the base path":        {"/", "text/html", nil, 404, true},
		"another name, of the API":    {"/x/api/v1/status", "text/html", []string{"Host: evil.example"}, 421, false},
		"another name, for a program": {"/x/", "*/*", []string{"Host: evil.example"}, 421, false},
	} {
		method := "GET"
		if tt.want == 403 {
			method = "POST"
		}
		res, text := s.ask(method, tt.path, "", append(tt.headers, "Accept: "+tt.accept)...)
		if page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html"); res.StatusCode != tt.want || page != tt.page {
			t.Errorf("%s: %d %s %s", name, res.StatusCode, res.Header.Get("Content-Type"), text)
		}
		if strings.Contains(text, "<script>") || tt.page && !strings.Contains(text, "<h1>") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A page in a frame, a script from elsewhere or a guess at the type of a file
// would do what the user has not asked for.
func TestHeaders(t *testing.T) {
	s := open(t, nil)
	for _, path := range []string{"/", "/api/v1/status", "/-/healthy", "/nothing"} {
		res, _ := s.ask("GET", path, "")
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := res.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("others may read the answers")
		}
	}
}

// Who has not logged in could read or act, or who has could not.
func TestWhoIsLetIn(t *testing.T) {
	hash := auth.HashSecret(metricsWord)
	tests := []struct {
		name    string
		change  func(*config.HTTP)
		method  string
		path    string
		headers []string
		want    int
	}{
		{"nobody reads", nil, "GET", "/api/v1/status", nil, 401},
		{"nobody is well", nil, "GET", "/-/healthy", nil, 200},
		{"a viewer reads", nil, "GET", "/api/v1/status", []string{bearing("viewer")}, 200},
		{"a viewer acts", nil, "POST", "/api/v1/commands", []string{bearing("viewer")}, 403},
		{"an operator acts", nil, "POST", "/api/v1/commands", []string{bearing("operator")}, 200},
		{"an operator reloads", nil, "POST", "/-/reload", []string{bearing("operator")}, 403},
		{"an admin reloads", nil, "POST", "/api/v1/reload", []string{bearing("admin")}, 200},
		{"a wrong token", func(c *config.HTTP) { c.WithoutLogin = auth.Admin }, "GET", "/api/v1/status", []string{bearing("nobody")}, 401},
		{"a password in place of a token", nil, "GET", "/api/v1/status", []string{"Authorization: Basic YWxpY2U6Y2FuYXJ5LXBhc3N3b3Jk"}, 401},
		{"a token in the URL", nil, "GET", "/api/v1/status?token=" + tokenSecret + "viewer", nil, 401},
		{"without a login", func(c *config.HTTP) { c.WithoutLogin = auth.Viewer }, "GET", "/api/v1/status", nil, 200},
		{"without a login, too much", func(c *config.HTTP) { c.WithoutLogin = auth.Viewer }, "POST", "/api/v1/commands", nil, 401 + 2},
		{"without a login by a proxy", func(c *config.HTTP) { c.WithoutLogin = auth.Admin }, "GET", "/api/v1/status", []string{"X-Forwarded-For: 192.0.2.1"}, 401},
		{"metrics from this machine", func(c *config.HTTP) { c.Directory, c.WithoutLogin = auth.Directory{}, auth.Viewer }, "GET", "/metrics", nil, 200},
		{"metrics without a login, which may nothing", func(c *config.HTTP) { c.Directory = auth.Directory{} }, "GET", "/metrics", nil, 401},
		{"metrics from this machine, with users", nil, "GET", "/metrics", nil, 401},
		{"metrics by a proxy", func(c *config.HTTP) { c.Directory, c.WithoutLogin = auth.Directory{}, auth.Viewer }, "GET", "/metrics", []string{"X-Forwarded-For: 192.0.2.1"}, 401},
		{"metrics by a proxy that tells the scheme alone", func(c *config.HTTP) { c.Directory, c.WithoutLogin = auth.Directory{}, auth.Viewer }, "GET", "/metrics", []string{"X-Forwarded-Proto: https"}, 401},
		{"metrics that have a token", func(c *config.HTTP) { c.Metrics = &hash }, "GET", "/metrics", nil, 401},
		{"metrics with their token", func(c *config.HTTP) { c.Metrics = &hash }, "GET", "/metrics", []string{"Authorization: Bearer " + metricsWord}, 200},
		{"metrics with a viewer's", func(c *config.HTTP) { c.Metrics = &hash }, "GET", "/metrics", []string{bearing("viewer")}, 200},
		{"the metrics' token reads", func(c *config.HTTP) { c.Metrics = &hash }, "GET", "/api/v1/status", []string{"Authorization: Bearer " + metricsWord}, 401},
		{"metrics are only read", nil, "POST", "/metrics", nil, 405},
		{"below a base path", func(c *config.HTTP) { c.BasePath = "/x" }, "GET", "/x/-/healthy", nil, 200},
		{"beside a base path", func(c *config.HTTP) { c.BasePath = "/x" }, "GET", "/xx/-/healthy", nil, 404},
		{"without the base path", func(c *config.HTTP) { c.BasePath = "/x" }, "GET", "/-/healthy", nil, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, tt.change)
			body := ""
			if tt.method == "POST" {
				body = pause
			}
			if res, text := s.ask(tt.method, tt.path, body, tt.headers...); res.StatusCode != tt.want {
				t.Errorf("%d %s, want %d", res.StatusCode, text, tt.want)
			}
		})
	}
}

// A login would give nothing, or a cookie that scripts, other sites or plain
// connections get to see.
func TestLogin(t *testing.T) {
	c, pool := certificate(t, 1)
	for _, secure := range []bool{false, true} {
		s := open(t, func(cfg *config.HTTP) {
			if secure {
				cfg.TLS = encrypted(c)
			}
		})
		if secure {
			s.pool = pool
		}
		res, text := s.ask("POST", "/api/v1/login", `{"user": "alice", "password": "wrong"}`)
		if res.StatusCode != 401 || len(res.Cookies()) > 0 {
			t.Errorf("a wrong password: %d %s %v", res.StatusCode, text, res.Cookies())
		}
		res, text = s.ask("POST", "/api/v1/login", `{"user": "alice", "password": "`+password+`"}`)
		if res.StatusCode != 200 || len(res.Cookies()) != 1 {
			t.Fatalf("%d %s %v", res.StatusCode, text, res.Cookies())
		}
		cookie := res.Cookies()[0]
		if !cookie.HttpOnly || cookie.Secure != secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" ||
			strings.HasPrefix(cookie.Name, "__Host-") != secure {
			t.Errorf("the cookie %+v", cookie)
		}
		with := "Cookie: " + cookie.Name + "=" + cookie.Value
		var told, who api.SessionView
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Errorf("%v %s", err, text)
		}
		_, text = s.ask("GET", "/api/v1/session", "", with)
		if err := json.Unmarshal([]byte(text), &who); err != nil || who.Name != "alice" || who.Role != "admin" || who.Expires.IsZero() {
			t.Errorf("%v %s", err, text)
		}
		if told.Name != who.Name || told.Role != who.Role || told.Expires.Sub(who.Expires).Abs() > time.Second {
			t.Errorf("the login tells of %+v, the session of %+v", told, who)
		}
		if _, text := s.ask("POST", "/api/v1/commands", pause, with); !strings.Contains(text, "Done.") || s.ctl.commands[0].By != "alice" {
			t.Errorf("%s %+v", text, s.ctl.commands)
		}
		if res, _ := s.ask("POST", "/api/v1/logout", "", with); res.StatusCode != 200 || res.Cookies()[0].MaxAge >= 0 {
			t.Errorf("the cookie stays: %v", res.Cookies())
		}
		if res, _ := s.ask("GET", "/api/v1/status", "", with); res.StatusCode != 401 {
			t.Errorf("after the logout: %d", res.StatusCode)
		}
		tries := 0
		for res.StatusCode != 429 && tries < 60 { // the sixth, if it comes within a second
			res, text = s.ask("POST", "/api/v1/login", `{"user": "alice", "password": "wrong"}`)
			tries++
		}
		if tries < 6 || res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("wrong password %d: %d %s", tries, res.StatusCode, text)
		}
		if log := s.log.String(); strings.Contains(log, "canary") || strings.Contains(log, "$2a$") || strings.Contains(log, cookie.Value) {
			t.Errorf("a secret is in the log: %s", log)
		}
	}
}

// Who asks below a base path for a path with a slash too many would be led out of it, to
// what the proxy serves beside it.
func TestRedirectsStayBelowTheBasePath(t *testing.T) {
	s := open(t, func(c *config.HTTP) { c.BasePath = "/x" })
	for path, want := range map[string]string{
		"/x//api/v1/status?a=b":      "/x/api/v1/status?a=b",
		"/x/api/v1/../v1/status":     "/x/api/v1/status",
		"/x//evil.example/":          "/x/evil.example",
		"/x/../../etc":               "/x/etc",
		"/x/-/healthy/":              "",
		"/x/api/v1/history/a%2f%2fb": "",
		"/x":                         "",
		"/x//":                       "/x/",
	} {
		res, text := s.ask("GET", path, "", bearing("viewer"))
		if got := res.Header.Get("Location"); got != want {
			t.Errorf("%s: %d to %q, want %q: %s", path, res.StatusCode, got, want, text)
		}
	}
	if res, _ := s.ask("POST", "/x//api/v1/commands", pause, bearing("operator")); res.Header.Get("Location") != "/x/api/v1/commands" {
		t.Errorf("a command: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
}

// Behind a proxy everybody would have the proxy's address, and a stranger could
// take any other by a header.
func TestProxies(t *testing.T) {
	s := open(t, func(c *config.HTTP) {
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	tests := []struct{ name, peer, forwarded, want string }{
		{"no proxy", "192.0.2.9:1", "203.0.113.5", "192.0.2.9"},
		{"a proxy", "127.0.0.1:1", "203.0.113.5", "203.0.113.5"},
		{"a client that makes one up", "127.0.0.1:1", "1.1.1.1, 203.0.113.5", "203.0.113.5"},
		{"two proxies", "127.0.0.1:1", "203.0.113.5, 10.0.0.7", "203.0.113.5"},
		{"with a port", "127.0.0.1:1", "1.1.1.1, 203.0.113.5:4711", "203.0.113.5"},
		{"IPv6 with a port", "127.0.0.1:1", "[2001:db8::5]:4711", "2001:db8::5"},
		{"IPv6 in brackets", "127.0.0.1:1", "[2001:db8::5]", "2001:db8::5"},
		{"nonsense", "127.0.0.1:1", "x, y", "127.0.0.1"},
		{"none said", "127.0.0.1:1", "", "127.0.0.1"},
	}
	for _, tt := range tests {
		r, err := http.NewRequest(http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = tt.peer
		r.Header.Set("X-Forwarded-For", tt.forwarded)
		r.Header.Set("X-Forwarded-Proto", "https")
		c := s.guard.caller(s.guard.state.Load(), r)
		if c.Source.String() != tt.want || c.Secure != strings.HasPrefix(tt.peer, "127") {
			t.Errorf("%s: %s, secure %v", tt.name, c.Source, c.Secure)
		}
	}
}

// Who was shut out would go on to follow what happens.
func TestStreamsEndWithTheirSession(t *testing.T) {
	s := open(t, nil)
	res, _ := s.ask("POST", "/api/v1/login", `{"user": "alice", "password": "`+password+`"}`)
	cookie := res.Cookies()[0]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.addr()+"/api/v1/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(cookie)
	stream, err := s.client().Do(r)
	if err != nil || stream.StatusCode != 200 {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.use(&config.HTTP{Listen: s.cfg.Listen}) // alice has left the configuration
	if rest, err := io.ReadAll(lines); err != nil || strings.Contains(string(rest), "data:") {
		t.Errorf("%q %v", rest, err)
	}
}

// A certificate that was renewed would not be used until a restart, and a
// connection without TLS would go on under a configuration that wants it.
func TestCertificatesChange(t *testing.T) {
	first, pool := certificate(t, 1)
	second, pool2 := certificate(t, 2)
	s := open(t, func(c *config.HTTP) { c.TLS = encrypted(first) })
	s.pool = pool
	if res, _ := s.ask("GET", "/-/healthy", ""); res.TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Error("another certificate")
	}
	renewed := *s.cfg
	renewed.TLS = encrypted(second)
	s.use(&renewed)
	s.pool = pool2
	if res, _ := s.ask("GET", "/-/healthy", ""); res.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Error("the old certificate")
	}
	plain := *s.cfg
	plain.TLS = nil
	s.use(&plain)
	s.pool = nil
	conn, err := net.Dial("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	s.use(&renewed)
	_, _ = io.WriteString(conn, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
	rest, _ := io.ReadAll(in)
	if strings.Contains(string(rest), "HTTP/1.1 200") {
		t.Error("a plain connection goes on")
	}
}

// HTTP/2 without TLS lets a request be smuggled past what stands in front.
func TestHTTP2IsForTLSAlone(t *testing.T) {
	c, pool := certificate(t, 1)
	s := open(t, func(cfg *config.HTTP) { cfg.TLS = encrypted(c) })
	conn, err := tls.Dial("tcp", s.addr(), &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("over TLS: %q", got)
	}
	conn.Close()
	if _, err := tls.Dial("tcp", s.addr(), &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	plain := open(t, nil)
	raw, err := net.Dial("tcp", plain.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := io.WriteString(raw, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(raw); !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
		t.Errorf("HTTP/2 without TLS is answered with %q", answer)
	}
	res, _ := plain.ask("GET", "/-/healthy", "", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")
	if res.StatusCode != 200 || res.ProtoMajor != 1 {
		t.Errorf("an upgrade to h2c: %d %s", res.StatusCode, res.Proto)
	}
}

// One who opens connections and says nothing would keep everybody else out, or
// hold the file descriptors that DNS needs.
func TestConnectionsAreBounded(t *testing.T) {
	s := open(t, nil)
	var conns []net.Conn
	for n := range maxConns + 20 {
		c, err := net.Dial("tcp", s.addr())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		// Who was let in is told to go on, and does not: that is no connection that waits for
		// a request, which would give way.
		_, _ = io.WriteString(c, "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n") // it may be over already
		if _, err := c.Read(make([]byte, 1)); (err == nil) != (n < maxConns) {
			t.Fatalf("connection %d, of at most %d: %v", n+1, maxConns, err)
		}
	}
	for _, c := range conns {
		c.Close()
	}
	limit := time.Now().Add(2 * time.Minute)
	for {
		res, err := s.client().Get("http://" + s.addr() + "/-/healthy")
		if err == nil {
			res.Body.Close()
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("nobody is let in afterwards: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A body or a header without end would fill the memory. The answer may be lost with
// the connection, which ends while the client still sends.
func TestSizes(t *testing.T) {
	s := open(t, nil)
	for _, tt := range []struct {
		name, body, header string
		want               int
	}{
		{"a body of more than 1 MiB", `{"verb": "` + strings.Repeat("x", 1<<20) + `"}`, "", http.StatusRequestEntityTooLarge},
		{"a header of 24 KiB", pause, strings.Repeat("x", 24<<10), http.StatusRequestHeaderFieldsTooLarge},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addr()+"/api/v1/commands", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+tokenSecret+"operator")
		r.Header.Set("X", tt.header)
		res, err := s.client().Do(r)
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: %d", tt.name, res.StatusCode)
		}
	}
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	if len(s.ctl.commands) > 0 {
		t.Error("it is taken")
	}
}

// A reload whose address is taken must say by whom and leave the old one, and one
// that is right must move at once.
func TestAddressesChange(t *testing.T) {
	s := open(t, nil)
	before := s.addr()
	at := daemontest.Addr(t) // nobody gets it by chance, not even who dials it
	taken, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := s.Prepare(&config.HTTP{Listen: []netip.AddrPort{at}}); err == nil || !strings.Contains(err.Error(), "is taken by") {
		t.Errorf("a taken port: %v", err)
	}
	if res, _ := s.ask("GET", "/-/healthy", ""); res.StatusCode != 200 {
		t.Error("the old address is gone")
	}
	taken.Close()
	s.use(&config.HTTP{Listen: []netip.AddrPort{at}})
	if got := s.addr(); got != at.String() {
		t.Errorf("it listens on %s, want %s", got, at)
	}
	if res, _ := s.ask("GET", "/-/healthy", ""); res.StatusCode != 200 {
		t.Error("the new address does not answer")
	}
	all := netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())
	if _, err := s.Prepare(&config.HTTP{Listen: []netip.AddrPort{all}}); err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Errorf("the wildcard of the address: %v", err)
	}
	s.use(nil)
	if _, err := net.Dial("tcp", at.String()); err == nil || len(s.Addrs()) > 0 {
		t.Error("it listens although nothing is configured")
	}
	_ = before
}

// A stop would hang on a client that follows events.
func TestShutdownEndsStreams(t *testing.T) {
	s := open(t, nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.addr()+"/api/v1/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokenSecret+"viewer")
	res, err := s.client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// The client of the commands must reach a controller over TLS with its token, and
// send that nowhere else.
func TestRemoteClient(t *testing.T) {
	c, pool := certificate(t, 1)
	s := open(t, func(cfg *config.HTTP) { cfg.TLS, cfg.BasePath = encrypted(c), "/x" })
	client, err := api.NewRemoteClient(api.Remote{URL: "https://" + s.addr() + "/x/", Token: tokenSecret + "viewer", TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if st, err := client.Status(t.Context()); err != nil || st.Version != "1" {
		t.Errorf("%+v, %v", st, err)
	}
	stranger, err := api.NewRemoteClient(api.Remote{URL: "https://" + s.addr() + "/x", Token: tokenSecret + "viewer"})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "--ca-file") || strings.Contains(err.Error(), "canary") {
		t.Errorf("an unknown authority: %v", err)
	}
	for _, url := range []string{"http://dnsteer.example.lan", "https://alice:hush@localhost", "ftp://localhost", "localhost:8053", "https://localhost?x"} {
		if _, err := api.NewRemoteClient(api.Remote{URL: url, Token: "secret"}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
