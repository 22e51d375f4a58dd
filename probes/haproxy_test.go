package probes

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// statsPage writes rows of "proxy,server,scur,slim,bin,bout,status".
func statsPage(rows ...string) string {
	return "# pxname,svname,scur,slim,bin,bout,status,\n" + strings.Join(rows, ",\n") + ",\n"
}

var usualPage = statsPage(
	"web,FRONTEND,1,200,500,9000,OPEN",
	"app,s1,3,50,82,376,UP", "app,s2,0,50,0,0,DOWN 1/2", "app,BACKEND,3,20,82,376,UP",
	"tv,s1,4,0,1000,2000,no check", "tv,BACKEND,4,20,1000,2000,UP",
	"old,s1,0,10,0,0,DOWN", "old,BACKEND,0,20,0,0,DOWN",
	"stats,FRONTEND,1,200,114,3079,OPEN", "stats,BACKEND,0,20,114,3079,UP",
)

// A proxy whose backends are all gone must be found, one that still serves must
// not be, and its figures must be those of the traffic that it carries.
func TestHAProxy(t *testing.T) {
	tests := []struct {
		name     string
		page     string
		status   int
		backends []string
		want     want
		text     string
		figures  string
	}{
		{"some are up", usualPage, 200, nil, want{sites.Up, ""}, "2 of 3 backends are up (down: old)", "7 sessions, load 0.05"},
		{"chosen ones", usualPage, 200, []string{"app"}, want{sites.Up, ""}, "1 of 1 backends are up", "3 sessions, load 0.03"},
		{"one without servers, by name", usualPage, 200, []string{"stats"}, want{sites.Up, ""}, "1 of 1 backends are up", "0 sessions, load 0.00"},
		{"chosen ones are down", usualPage, 200, []string{"old"}, want{sites.Down, CauseBackends}, "none of 1 backends is up (down: old)", "0 sessions, load 0.00"},
		{"a wrong name", usualPage, 200, []string{"appp"}, want{sites.Down, CauseBackends}, "none of 1 backends is up (not there: appp)", "0 sessions"},
		{"a wrong name beside a right one", usualPage, 200, []string{"appp", "tv"}, want{sites.Up, ""}, "1 of 2 backends are up (not there: appp)", "4 sessions, load 0.20"},
		{"only a frontend", statsPage("web,FRONTEND,1,200,500,9000,OPEN"), 200, nil, want{sites.Down, CauseBackends}, "it has no backend with a server", "0 sessions"},
		{"unauthorized", "", 401, nil, want{sites.Down, CauseStatus}, "status 401: the page wants another username or password", ""},
		{"not there", "", 404, nil, want{sites.Down, CauseStatus}, "status 404", ""},
		{"a redirect", "", 302, nil, want{sites.Down, CauseStatus}, "status 302", ""},
		{"not in CSV", "<html>", 200, nil, want{sites.Down, CauseProtocol}, `this is no statistics page of HAProxy in CSV: it does not begin with "# pxname,svname"`, ""},
		{"a column is missing", "# pxname,svname,scur\n", 200, nil, want{sites.Down, CauseProtocol}, `this is no statistics page of HAProxy in CSV: it has no column "slim"`, ""},
		{"no number", statsPage("app,BACKEND,x,20,0,0,UP"), 200, nil, want{sites.Down, CauseProtocol}, "this is no statistics page of HAProxy in CSV: line 2: scur is no number", ""},
		{"a negative number", statsPage("app,BACKEND,1,20,-5,0,UP"), 200, nil, want{sites.Down, CauseProtocol}, "this is no statistics page of HAProxy in CSV: line 2: bin is no number", ""},
		{"no name", statsPage(",BACKEND,1,20,5,0,UP"), 200, nil, want{sites.Down, CauseProtocol}, "this is no statistics page of HAProxy in CSV: line 2: it has no name", ""},
		{"a backend twice", statsPage("app,BACKEND,1,20,5,0,UP", "app,BACKEND,1,20,5,0,UP"), 200, nil, want{sites.Down, CauseProtocol}, `this is no statistics page of HAProxy in CSV: the backend "app" stands twice`, ""},
		{"a short row", "# pxname,svname,scur,slim,bin,bout,status,\napp,BACKEND\n", 200, nil, want{sites.Down, CauseProtocol}, "this is no statistics page of HAProxy in CSV: record on line 2: wrong number of fields", ""},
		{"too large", statsPage() + strings.Repeat("a", maxStats), 200, nil, want{sites.Down, CauseProtocol}, "the page is larger than 8 MiB", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/stats;csv" || r.Host != "proxy.example.lan" {
					t.Errorf("asked for %s at %s", r.URL.Path, r.Host)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.page)
			}))
			defer s.Close()
			p := NewHAProxy(HTTP{URL: strings.Replace(s.URL, "127.0.0.1", "{address}", 1) + "/stats", Host: "proxy.example.lan"})
			p.Backends = tt.backends
			c := ask(t, p, "127.0.0.1", soon)
			if diff := cmp.Diff(tt.want, verdict(c)); diff != "" || c.Text != tt.text || c.Figures.String() != tt.figures {
				t.Errorf("text %q, want %q; figures %q, want %q; verdict (-want +got):\n%s", c.Text, tt.text, c.Figures.String(), tt.figures, diff)
			}
		})
	}
}

// The page's password must be sent, and shown nowhere.
func TestHAProxyPassword(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.Header.Get("Authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte("probe:hush-hush")); got != want {
			t.Errorf("authorization %q", got)
		}
		fmt.Fprint(w, usualPage)
	}))
	defer s.Close()
	p := NewHAProxy(HTTP{URL: s.URL + "/;csv"})
	p.Username, p.Password = "probe", "hush-hush"
	if c := ask(t, p, "127.0.0.1", soon); c.Outcome != sites.Up {
		t.Errorf("%+v", c)
	}
	if text := fmt.Sprintf("%+v %#v", p, p); strings.Contains(text, "hush") {
		t.Errorf("prints %s", text)
	}
}

// A host that does not answer must be judged as any other.
func TestHAProxyUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	if c := ask(t, NewHAProxy(HTTP{URL: url}), "127.0.0.1", soon); verdict(c) != (want{sites.Down, CauseRefused}) {
		t.Errorf("%+v", c)
	}
}

// A counter that begins anew must not look like traffic of gigabytes, nor a
// second look at once like none.
func TestHAProxyRate(t *testing.T) {
	var r rate
	for i, s := range []struct {
		count float64
		at    int
		want  string
	}{{1000, 0, ""}, {6000, 5, "1 kB/s"}, {6000, 5, "1 kB/s"}, {6000, 10, "0 B/s"}, {10, 15, ""}, {5010, 20, "1 kB/s"}} {
		r.add(s.count, time.Duration(s.at)*time.Second)
		f := sites.Figures{BytesPerSecond: r.perSecond}
		if got := f.String(); got != s.want {
			t.Errorf("reading %d: %q, want %q", i, got, s.want)
		}
	}
}

// HAProxy counts in steps of five seconds: between two of them a busy node must
// not look quiet, nor many times as busy at each.
func TestHAProxyWindow(t *testing.T) {
	var w window
	for i, s := range []struct {
		count, at float64
		want      string
	}{
		{0, 0, ""},
		{0, 4, ""},
		{5000, 5, ""},
		{5000, 9.9, ""},
		{10_000, 10, "1 kB/s"},
		{10_000, 14.9, "917 B/s"},
		{15_000, 15, "1 kB/s"},
		{15_000, 15.1, "990 B/s"},
		{20_000, 20, "1.5 kB/s"},
		{20_000, 27, "826 B/s"},
		{20_000, 31, "0 B/s"},
		{20_000, 100, "0 B/s"},
		{300, 101, ""},
		{300, 111, "0 B/s"},
	} {
		f := sites.Figures{BytesPerSecond: w.add(s.count, time.Duration(s.at*float64(time.Second)), rateSpan)}
		if got := f.String(); got != s.want {
			t.Errorf("reading %d: %q, want %q", i, got, s.want)
		}
	}
	for i := range 1000 {
		w.add(300, 200*time.Second+time.Duration(i)*100*time.Millisecond, rateSpan)
	}
	if n := len(w.readings); n > 25 {
		t.Errorf("%d readings are kept", n)
	}
}

// The probe must not be brought down, or made to hang, by what another machine
// says it is.
func FuzzHAProxyStats(f *testing.F) {
	for _, page := range []string{usualPage, "", "# ", "# pxname", statsPage("a,BACKEND,9223372036854775807,9223372036854775807,1,1,UP", "a,s,1,9223372036854775807,1,1,UP"), statsPage("\"a,b\",BACKEND,,,,,UP")} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		list, err := parseStats(page)
		if err != nil {
			return
		}
		s := sum(list, nil)
		if s.sessions < 0 || s.limit < 0 || s.bytes < 0 {
			t.Errorf("%+v", s)
		}
		if c := s.check(); c.Text == "" || (c.Outcome == sites.Up) != (len(s.up) > 0) {
			t.Errorf("%+v of %+v", c, s)
		}
		if again := sum(list, []string{"a"}); len(again.up)+len(again.down)+len(again.missing) != 1 {
			t.Errorf("one backend: %+v", again)
		}
	})
}
