package api

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/probes"
)

var samples = filepath.Join("..", "..", "deploy", "heartbeat")

// keeping takes reports and keeps the last.
type keeping struct {
	*probes.Heartbeats
	last []probes.Report
}

func (k *keeping) Report(site, node string, token probes.Token, r probes.Report) error {
	err := k.Heartbeats.Report(site, node, token, r)
	if err == nil {
		k.last = append(k.last, r)
	}
	return err
}

// The script that people copy to their nodes must report all that it can find
// out, over TLS that it verifies, with a token that no list of processes shows.
func TestHeartbeatScript(t *testing.T) {
	h, beats, _ := beating(t)
	k := &keeping{Heartbeats: beats}
	h.Heartbeats = k
	s := httptest.NewTLSServer(h)
	defer s.Close()
	dir := t.TempDir()
	ca, tokenFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token")
	for name, data := range map[string][]byte{
		ca:        pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		tokenFile: []byte(token + "\n"),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(url, ca string) (string, error) {
		cmd := exec.Command("sh", filepath.Join(samples, "dnsteer-heartbeat"))
		cmd.Env = append(os.Environ(), "URL="+url, "TOKEN_FILE="+tokenFile, "CURL_CA_BUNDLE="+ca, "NO_PROXY=127.0.0.1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	url := s.URL + "/api/v1/heartbeat/berlin/a"
	if out, err := run(url, ca); err != nil || out != "" {
		t.Fatalf("%v: %s", err, out)
	}
	if len(k.last) != 1 || k.last[0].Load == nil || k.last[0].Bytes == nil || k.last[0].Sessions == nil {
		t.Errorf("reports: %+v", k.last)
	}
	if out, err := run(s.URL+"/api/v1/heartbeat/berlin/b", ca); err == nil || !strings.Contains(out, "own token") {
		t.Errorf("with another's token: %v: %s", err, out)
	}
	if _, err := run(url, "/dev/null"); err == nil || len(k.last) != 1 {
		t.Errorf("with a certificate that nobody knows: %v", err)
	}
	if out, err := exec.Command("sh", filepath.Join(samples, "dnsteer-heartbeat")).CombinedOutput(); err == nil || !strings.Contains(string(out), "URL") {
		t.Errorf("without a URL: %v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(samples, "dnsteer-heartbeat"))
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?s)curl[^|]*TOKEN`).Match(text) {
		t.Error("the token is an argument of curl")
	}
}

// The units that people copy must be such as systemd takes.
func TestHeartbeatUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("install the package systemd: %v", err)
	}
	dir := t.TempDir()
	program, err := filepath.Abs(filepath.Join(samples, "dnsteer-heartbeat"))
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, name := range []string{"dnsteer-heartbeat.service", "dnsteer-heartbeat.timer"} {
		text, err := os.ReadFile(filepath.Join(samples, name))
		if err != nil {
			t.Fatal(err)
		}
		unit := filepath.Join(dir, name)
		text = []byte(strings.ReplaceAll(string(text), "/usr/local/bin/dnsteer-heartbeat", program))
		if err := os.WriteFile(unit, text, 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	cmd := exec.Command(analyze, append([]string{"verify", "--man=no", "--recursive-errors=no"}, units...)...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// No RouterOS device runs in tests: what can be held is that the script's quotes
// and brackets close, and that what it would send is a report.
func TestHeartbeatRouterOS(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(samples, "dnsteer-heartbeat.rsc"))
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?s)source="\n(.*?[^\\])"\n`).FindSubmatch(text)
	if source == nil {
		t.Fatal("the script has no end")
	}
	inner := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`).Replace(string(source[1]))
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(inner, pair[:1]) != strings.Count(inner, pair[1:]) {
			t.Errorf("%s do not close in\n%s", pair, inner)
		}
	}
	body := regexp.MustCompile(`:local body \((.*)\)`).FindStringSubmatch(inner)
	if body == nil {
		t.Fatalf("no body in\n%s", inner)
	}
	var sent strings.Builder
	for part := range strings.SplitSeq(body[1], " . ") {
		switch {
		case strings.HasPrefix(part, "$load"):
			sent.WriteString("0.07")
		case strings.HasPrefix(part, "$"):
			sent.WriteString("12")
		default:
			sent.WriteString(strings.ReplaceAll(strings.Trim(part, `"`), `\"`, `"`))
		}
	}
	got := strings.ReplaceAll(sent.String(), `\`, `"`)
	r, err := ParseReport([]byte(got))
	if err != nil || r.Load == nil || *r.Load != 0.07 || r.Bytes == nil || r.Sessions == nil {
		t.Errorf("it would send %s: %v", got, err)
	}
}
