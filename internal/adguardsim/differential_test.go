package adguardsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/adguardsim/genuine"
)

// What is tested with the simulator would be something that no AdGuard Home
// does.
func TestSimulatorIsLikeTheRealOne(t *testing.T) {
	programs := genuine.Programs()
	if len(programs) == 0 {
		t.Skip("no real AdGuard Home: " + genuine.Variable + " names none")
	}
	for _, program := range programs {
		up := startUpstream(t)
		real, err := genuine.Start(t.Context(), program, t.TempDir(), up)
		if err != nil {
			t.Fatal(err)
		}
		defer real.Stop()
		theirs := newTalk(t, real.URL, real.DNS)
		version := theirs.version()
		t.Run(version, func(t *testing.T) {
			profile := profileOf(t, version)
			sim, err := Start(Options{Profile: profile, Username: genuine.Username, Password: genuine.Password, Upstream: upstream})
			if err != nil {
				t.Fatal(err)
			}
			defer sim.Close()
			ours := newTalk(t, sim.URL(), sim.DNS())
			count := 0
			for _, step := range script() {
				want, got := theirs.say(step), ours.say(step)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-real +simulated):\n%s", step, d)
				}
				count++
			}
			t.Logf("%d steps", count)
		})
	}
}

func profileOf(t *testing.T, version string) Profile {
	for _, p := range Profiles() {
		if p.Version == version {
			return p
		}
	}
	t.Fatalf("there is no profile for %s", version)
	return Profile{}
}

// upstream knows every name, with an A and an AAAA record.
func upstream(q dns.Question) []dns.RR {
	switch q.Qtype {
	case dns.TypeA:
		return []dns.RR{&dns.A{Hdr: header(q.Name, q.Qtype, 300), A: net.IPv4(198, 51, 100, 1).To4()}}
	case dns.TypeAAAA:
		return []dns.RR{&dns.AAAA{Hdr: header(q.Name, q.Qtype, 300), AAAA: net.ParseIP("2001:db8:ff::1")}}
	default:
		return nil
	}
}

func startUpstream(t *testing.T) netip.AddrPort {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable = true
		m.Answer = upstream(q.Question[0])
		w.WriteMsg(m)
	})}
	done := make(chan struct{})
	go func() { defer close(done); s.ActivateAndServe() }()
	t.Cleanup(func() { pc.Close(); <-done })
	return netip.MustParseAddrPort(pc.LocalAddr().String())
}

// talk sends steps to one of both.
type talk struct {
	t      *testing.T
	url    string
	at     netip.AddrPort
	cookie string
	http   *http.Client
}

func newTalk(t *testing.T, url string, at netip.AddrPort) *talk {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	return &talk{t: t, url: url, at: at, http: c}
}

func (k *talk) version() string {
	k.say("login")
	text := k.say("GET /control/status")
	_, rest, _ := strings.Cut(text, `"version":"`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// say carries out a step: "login", "logoff", "basic USER:PASSWORD METHOD PATH",
// "METHOD PATH [TYPE] BODY" or "? NAME TYPE". It gives all of the answer that is
// the same at each try.
func (k *talk) say(step string) string {
	words := strings.SplitN(step, " ", 4)
	switch words[0] {
	case "login":
		return k.request("POST", "/control/login", "application/json", fmt.Sprintf(`{"name":%q,"password":%q}`, genuine.Username, genuine.Password), "")
	case "forget":
		k.cookie = ""
		return ""
	case "stale":
		k.cookie = "agh_session=00112233445566778899aabbccddeeff"
		return ""
	case "?":
		return k.ask(words[1], dns.StringToType[words[2]])
	case "basic":
		return k.request(words[2], words[3], "", "", words[1])
	}
	words = strings.SplitN(step, " ", 3)
	body, of := "", ""
	if len(words) == 3 {
		of, body, _ = strings.Cut(words[2], " ")
		switch of {
		case "json":
			of = "application/json"
		case "charset":
			of = "application/json; charset=utf-8"
		case "none":
			of = ""
		}
		if body == "big" {
			body = `{"domain":"` + strings.Repeat("a", 70000) + `","answer":"192.0.2.1"}`
		}
	}
	return k.request(words[0], words[1], of, body, "")
}

func (k *talk) request(method, path, of, body, basic string) string {
	req, err := http.NewRequestWithContext(k.t.Context(), method, k.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		k.t.Fatal(err)
	}
	if of != "" {
		req.Header.Set("Content-Type", of)
	}
	if basic != "" {
		name, password, _ := strings.Cut(basic, ":")
		req.SetBasicAuth(name, password)
	}
	if k.cookie != "" {
		req.Header.Set("Cookie", k.cookie)
	}
	resp, err := k.http.Do(req)
	if err != nil {
		return "no answer"
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	for _, c := range resp.Cookies() {
		k.cookie = c.Name + "=" + c.Value
	}
	text := string(data)
	// Names of its own types, and times, are no part of what is compared.
	for _, own := range []string{" json: ", " unmarshalling json data"} {
		text, _, _ = strings.Cut(text, own)
	}
	switch path {
	case "/control/status":
		if i := strings.Index(text, `"version":"`); i >= 0 {
			text = text[i : i+len(`"version":"v0.107.00"`)]
		}
	case "/control/dns_info":
		if i := strings.Index(text, `"blocked_response_ttl":`); i >= 0 {
			text, _, _ = strings.Cut(text[i:], ",")
		}
	case "/control/filtering/status":
		text = fmt.Sprint(strings.Contains(text, `"enabled":true`))
	}
	if i := strings.Index(text, "blocked for"); i >= 0 {
		text = text[:i]
	}
	return fmt.Sprintf("%d type=%q location=%q retry=%v nosniff=%q %s", resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Location"), resp.Header.Get("Retry-After") != "", resp.Header.Get("X-Content-Type-Options"), text)
}

func (k *talk) ask(name string, of uint16) string {
	var texts []string
	for _, network := range []string{"udp", "tcp"} {
		q := new(dns.Msg).SetQuestion(name, of)
		ctx, cancel := context.WithTimeout(k.t.Context(), 10*time.Second)
		in, _, err := (&dns.Client{Net: network, Timeout: 10 * time.Second}).ExchangeContext(ctx, q, k.at.String())
		cancel()
		if err != nil {
			texts = append(texts, err.Error())
			continue
		}
		text := fmt.Sprintf("%s aa=%v rd=%v ra=%v question=%s", dns.RcodeToString[in.Rcode], in.Authoritative, in.RecursionDesired, in.RecursionAvailable, in.Question[0].Name)
		for _, rr := range in.Answer {
			text += "\n" + rr.String()
		}
		for _, rr := range in.Ns {
			text += "\nNS " + rr.String()
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}
