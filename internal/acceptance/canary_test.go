package acceptance

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// canaries are secrets that must not be seen anywhere, by their places.
type canaries map[string]string

// plant gives a secret for a place. It holds nothing that YAML, URLs or templates
// would change.
func (c canaries) plant(place string) string {
	c[place] = fmt.Sprintf("canary%02dx%x", len(c), sha256.Sum256([]byte(place)))[:24]
	return c[place]
}

// plant64 gives a secret in base64, as those of TSIG are.
func (c canaries) plant64(place string) string {
	c[place] = base64.StdEncoding.EncodeToString([]byte(c.plant(place) + "-sixteen-and-more"))
	return c[place]
}

// seenIn lists the places whose secrets a text shows, as they are or in another form.
func (c canaries) seenIn(text []byte) (list []string) {
	for place, secret := range c {
		forms := []string{secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
		if raw, err := base64.StdEncoding.DecodeString(secret); err == nil && len(raw) > 16 {
			forms = append(forms, string(raw), hex.EncodeToString(raw))
		}
		for shift := range 3 { // base64 of a longer text that holds it
			whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
			forms = append(forms, whole[4:len(whole)-4])
		}
		for _, form := range forms {
			if bytes.Contains(text, []byte(form)) {
				list = append(list, fmt.Sprintf("%s (as %s)", place, form))
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// mirror is a server that refuses whatever it is asked, and says in its answer all
// that it was sent, as a page for faults may: over HTTP, or as a mail server.
func mirror(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	if serve == nil {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // as much as comes
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, "no: %s %s %v %s", r.Method, r.RequestURI, r.Header, body)
		})}
		go func() { _ = srv.Serve(ln) }()
		t.Cleanup(func() { _ = srv.Close() })
		return ln.Addr().String()
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// mirrorMail refuses a login with what it was sent.
func mirrorMail(c net.Conn) {
	_, _ = fmt.Fprint(c, "220 mirror\r\n")
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		switch line := strings.TrimSpace(string(buf[:n])); {
		case strings.HasPrefix(line, "EHLO"):
			_, _ = fmt.Fprint(c, "250-mirror\r\n250 AUTH PLAIN LOGIN\r\n")
		default:
			_, _ = fmt.Fprintf(c, "535 5.7.8 no: %s\r\n", line)
		}
	}
}

// mirrorRouter refuses a login with the words that it was sent.
func mirrorRouter(c net.Conn) {
	word := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		said := strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, string(buf[:n]))
		var out []byte
		for _, w := range []string{"!trap", "=message=no: " + said[:min(len(said), 100)], "", "!done", ""} {
			out = append(out, word(w)...)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// witness answers as a resolver does.
func witness(t *testing.T) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetReply(q)) // who has gone asks no more
	})}
	begun := make(chan struct{})
	s.NotifyStartedFunc = func() { close(begun) }
	go func() { _ = s.ActivateAndServe() }()
	<-begun
	t.Cleanup(func() { _ = s.Shutdown() })
	return pc.LocalAddr().String()
}

// canaryFiles writes a configuration with a secret wherever there may be one, and
// gives its path and the address of its HTTP listener.
func canaryFiles(t *testing.T, dir string, c canaries) (path, listen, token string) {
	t.Helper()
	web, mail, router := mirror(t, nil), mirror(t, mirrorMail), mirror(t, mirrorRouter)
	listen = daemontest.Addr(t).String()
	text, err := os.ReadFile(filepath.Join("testdata", "canary.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	made := func(name string) (secret, hash string) { // by the program itself
		t.Helper()
		out, err := command(t, dir, "token", name).Output()
		found := regexp.MustCompile(`dnst_\S+`).FindString(string(out))
		hashed := regexp.MustCompile(`sha256:[0-9a-f]+`).FindString(string(out))
		if err != nil || found == "" || hashed == "" {
			t.Fatalf("make a token: %v %q", err, out)
		}
		return found, hashed
	}
	token, hash := made("reader")
	c["a token for the API"] = token
	host, port, _ := net.SplitHostPort(mail)
	pairs := []string{"MAILHOST", host, "MAILPORT", port, "ROUTER", router, "WEBPORT", web[strings.LastIndexByte(web, ':')+1:], "WEB", web, "LISTEN", listen, "RESOLVER", witness(t), "TOKENHASH", hash}
	for _, m := range regexp.MustCompile(`SECRET(64)?<([^>]*)>`).FindAllStringSubmatch(string(text), -1) {
		if m[1] == "" {
			pairs = append(pairs, m[0], c.plant(m[2]))
		} else {
			pairs = append(pairs, m[0], c.plant64(m[2]))
		}
	}
	path = daemontest.File(t, filepath.Join(dir, "dnsteer.yaml"), strings.NewReplacer(pairs...).Replace(string(text)))
	for _, name := range []string{"password", "secret", "token", "url", "heartbeat"} {
		value := c.plant("the file " + name)
		if name == "url" {
			value = "http://" + web + "/file/" + value
		}
		daemontest.File(t, filepath.Join(dir, name+".txt"), value+"\n")
	}
	return path, listen, token
}

// If this fails, a password, a token or a key stands in a log, a page, a metric, an
// event or a file where others read it: also where a device refuses it and says what it
// was sent.
func TestNoSecretIsSeen(t *testing.T) {
	dir, c := folder(t), canaries{}
	path, listen, token := canaryFiles(t, dir, c)
	p := run(t, command(t, dir, "serve", "--config", path, "--log-level", "debug"))
	p.await("dnsteer serves")
	for _, what := range []string{"router", "adguard", "zone"} { // each target has been refused
		p.await(`(?i)level=(WARN|ERROR|DEBUG)[^\n]*` + what)
	}
	p.await("has never answered")
	ask := func(args ...string) {
		t.Helper()
		out, err := command(t, dir, append(args, "--config", path)...).CombinedOutput()
		if len(out) == 0 {
			t.Errorf("%v says nothing: %v", args, err)
		}
		for _, place := range c.seenIn(out) {
			t.Errorf("dnsteer %s shows %s:\n%s", strings.Join(args, " "), place, out)
		}
	}
	ask("alert", "test")
	for _, args := range [][]string{
		{"status"},
		{"status", "-o", "json"},
		{"events", "-o", "json"},
		{"explain", "berlin"},
		{"explain", "app.example.lan"},
		{"probe", "berlin/a"},
		{"probe", "berlin/b"},
		{"probe", "berlin/c"},
		{"history", "berlin/a"},
		{"plan"},
		{"target", "list"},
		{"alert", "status"},
		{"check", path},
		{"dnssec", "ds", "signed.lan"},
		{"reload"},
	} {
		ask(args...)
	}
	client := &http.Client{}
	for _, page := range []string{
		"/", "/sites/berlin", "/sites/berlin/a", "/sites/berlin/b", "/events", "/targets", "/alerts", "/config", "/metrics", "/api/v1/status", "/api/v1/events?limit=1000",
		"/api/v1/explain?what=berlin", "/api/v1/history/berlin/a", "/api/v1/targets", "/api/v1/targets/plan", "/api/v1/alerts", "/api/v1/openapi.json", "/-/ready", "/nowhere",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listen+page, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read to its end
		if err != nil || res.StatusCode == http.StatusUnauthorized {
			t.Errorf("GET %s: %s %v", page, res.Status, err)
		}
		for _, place := range c.seenIn(append(fmt.Append(nil, res.Header), body...)) {
			t.Errorf("GET %s shows %s", page, place)
		}
	}
	// A faulty configuration is quoted without its secrets too.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	daemontest.File(t, path, strings.ReplaceAll(string(text), "timeout: 2s", "timeout: oops"))
	ask("reload")
	ask("check", path)
	p.signal(os.Interrupt)
	p.stopped()
	p.mu.Lock()
	defer p.mu.Unlock()
	if seen := c.seenIn(p.said.Bytes()); len(seen) > 0 {
		t.Errorf("the log shows %s", strings.Join(seen, ", "))
	}
	filesOfOwner(t, filepath.Join(dir, "state"))
}

// filesOfOwner holds that nobody else can read what the program has written: the last
// good configuration, which is kept there with its secrets, and the keys.
func filesOfOwner(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		public := filepath.Ext(path) == ".key" // the part of a DNSSEC key that is in the zone
		if info.Mode().Perm()&0o077 != 0 && (info.Mode().IsRegular() && !public || d.IsDir()) {
			t.Errorf("%s has the mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
