package acceptance

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// If this fails, a password, a token or a key stands in a log, a page, a metric, an
// event or a file where others read it: also where a device refuses it and says what it
// was sent.
func TestNoSecretIsSeen(t *testing.T) {
	c := newCanary(t, "", mirror(t, mirrorMail))
	c.refused()
	c.says("alert", "test")
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
		{"target", "pin", "adguard"},
		{"alert", "status"},
		{"check", c.path},
		{"dnssec", "ds", "signed.lan"},
		{"reload"},
	} {
		c.says(args...)
	}
	c.bundle()
	c.pages()
	// A faulty configuration is quoted without its secrets too.
	text, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	daemontest.File(t, c.path, strings.ReplaceAll(string(text), "timeout: 30s", "timeout: oops"))
	c.says("reload")
	c.says("check", c.path)
	c.signal(os.Interrupt)
	c.stopped()
	c.bundle("check.error.txt")
	c.logged()
	filesOfOwner(t, filepath.Join(c.dir, "state"))
	c.kept()
}

// bundle holds the files of a support bundle against the secrets; some must be there.
func (c *canary) bundle(want ...string) {
	c.t.Helper()
	dir := c.t.TempDir()
	path := filepath.Join(dir, "bundle.tar.gz")
	c.says("support", path)
	if out, err := exec.CommandContext(c.t.Context(), "tar", "-xzf", path, "-C", dir, "--strip-components", "1").CombinedOutput(); err != nil {
		c.t.Fatalf("unpack the support bundle: %v %s", err, out)
	}
	if want == nil {
		want = []string{
			"about.txt", "program.json", "status.json", "events.json", "targets.json", "alerts.json", "metrics.txt", "goroutines.txt",
			"configuration/01-dnsteer.yaml",
		}
	}
	for _, name := range want {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) < 50 {
			c.t.Errorf("%s of the support bundle: %d bytes, %v", name, len(text), err)
		}
		for _, place := range c.secret.seenIn(text) {
			c.t.Errorf("%s of the support bundle shows %s:\n%s", name, place, text)
		}
	}
}

// pages reads all that the HTTP listener shows: the pages, and each operation of the
// API that reads.
func (c *canary) pages() {
	c.t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	get := func(page string) (status int, body []byte) {
		c.t.Helper()
		req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "https://"+c.web+page, http.NoBody)
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		res, err := client.Do(req)
		if err != nil {
			c.t.Fatal(err)
		}
		body, err = io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read to its end
		if err != nil {
			c.t.Errorf("GET %s: %v", page, err)
		}
		for _, place := range c.secret.seenIn(append(fmt.Append(nil, res.Header), body...)) {
			c.t.Errorf("GET %s shows %s", page, place)
		}
		return res.StatusCode, body
	}
	_, body := get("/api/v1/openapi.json")
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(body, &api); err != nil {
		c.t.Fatal(err)
	}
	pages := []string{
		"/", "/sites/berlin", "/sites/berlin/a", "/sites/berlin/b", "/services", "/events", "/events.csv", "/targets", "/targets/certificates?target=adguard",
		"/targets/act?target=router&verb=disable", "/act?verb=maintenance&site=berlin&node=a", "/alerts", "/configuration", "/login", "/metrics",
		"/api/v1/explain?what=berlin", "/api/v1/events?limit=1000",
	}
	for path, operations := range api.Paths {
		if _, reads := operations["get"]; reads && !strings.HasSuffix(path, "/stream") { // the stream has no end, and the events are read
			pages = append(pages, strings.NewReplacer("{site}", "berlin", "{node}", "a", "{name}", "router").Replace(path))
		}
	}
	for _, page := range pages {
		switch status, body := get(page); status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
			c.t.Errorf("GET %s: %d, so nothing was seen of it: %.200s", page, status, body)
		default:
		}
	}
	get("/nowhere")
}

// kept holds that in the state folder secrets are in the files that are for them: the
// store has the last good configuration, and each DNSSEC key has a file of its own.
func (c *canary) kept() {
	c.t.Helper()
	for _, path := range c.files() {
		data, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		store := strings.HasPrefix(filepath.Base(path), "dnsteer.db")
		for _, place := range c.secret.seenIn(data) {
			ofZone := strings.Contains(place, "DNSSEC")
			if ofZone && filepath.Ext(path) != ".private" || !ofZone && !store {
				c.t.Errorf("the file %s has %s", path, place)
			}
		}
	}
}

// If this fails, a mail or a webhook carries a password to whoever reads it, be it that
// of a device which quotes it; or the stacks of a program that is made to end do.
func TestNoSecretIsSent(t *testing.T) {
	t.Parallel()
	r := &received{}
	c := newCanary(t, receiver(t, r), mirror(t, r.mailbox))
	c.refused()
	c.says("alert", "test")
	// What is told of each of those who were sent a secret, and quote it.
	subjects := []string{"berlin/a", "berlin/b", "router", "adguard"}
	missing := func(list []string) (names []string) {
		for _, s := range subjects {
			if !slices.ContainsFunc(list, func(text string) bool { return strings.Contains(text, s) }) {
				names = append(names, s)
			}
		}
		return names
	}
	told := func() string {
		calls, mails := r.all()
		return fmt.Sprintf("of %q are missing: by webhooks %q, by mail %q", subjects, missing(calls), missing(mails))
	}
	nothing := fmt.Sprintf("of %q are missing: by webhooks %q, by mail %q", subjects, missing(subjects), missing(subjects))
	// Alerts that are not critical are a minute apart, and one that was not taken in time
	// waits longer and longer.
	for end := time.Now().Add(10 * time.Minute); told() != nothing; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(told())
		}
	}
	if err := c.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if err := <-c.ended; err == nil {
		t.Error("it has ended as if it had been told to")
	}
	c.await(`goroutine \d+`)
	c.logged()
	calls, mails := r.all()
	for _, text := range append(calls, mails...) {
		if seen := c.secret.seenIn([]byte(text)); len(seen) > 0 {
			t.Errorf("what was sent shows %s:\n%s", strings.Join(seen, ", "), text)
		}
	}
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
