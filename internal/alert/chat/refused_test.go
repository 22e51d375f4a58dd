package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// A message whose text a service never takes, as Telegram does one with a single
// underscore where it reads Markdown, would hold back all that come after it for days.
func TestATextThatIsRefused(t *testing.T) {
	for _, status := range []int{400, 413, 422} {
		var got []string
		s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Message string }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			got = append(got, body.Message)
			if strings.Contains(body.Message, "_") {
				w.WriteHeader(status)
			}
			_, _ = io.WriteString(w, `{"id": 1}`)
		})
		m := alert.Sample(alert.Firing, noon)
		m.Subject = "Taken out of DNS: berlin/node_1*"
		if err := s.Send(t.Context(), &m, nil); err != nil {
			t.Fatal(err)
		}
		if want := "hq Taken out of DNS: berlin/node 1"; len(got) != 2 || got[1] != want {
			t.Errorf("%d: sent %q, want %q at last", status, got, want)
		}
	}
}

// What the library itself finds too long is asked of no service: without plain words it
// would be tried for days.
func TestATextThatIsTooLongForTheLibrary(t *testing.T) {
	s, err := New(Options{URL: "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@ops"})
	if err != nil {
		t.Fatal(err)
	}
	way := &recorder{}
	s.way = way
	m := alert.Sample(alert.Firing, noon)
	m.What = []string{strings.Repeat("漢", 5000)}
	if err := s.Send(t.Context(), &m, nil); err != nil || len(way.asked) != 1 {
		t.Errorf("%v, asked %d times", err, len(way.asked))
	}
}

// A service that refuses for another reason, or does not answer, would get each message twice.
func TestWhatIsNotAboutTheText(t *testing.T) {
	for _, status := range []int{401, 403, 404, 429, 500, 503} {
		n := 0
		s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(w http.ResponseWriter, _ *http.Request) { n++; w.WriteHeader(status) })
		m := alert.Sample(alert.Firing, noon)
		if err := s.Send(t.Context(), &m, nil); err == nil || n != 1 {
			t.Errorf("%d: asked %d times, %v", status, n, err)
		}
	}
}

// recorder takes every request.
type recorder struct{ asked []*http.Request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.asked = append(r.asked, req)
	body := `{"ok": true, "result": {}, "access_token": "t", "joined_rooms": ["!a:b"], "home_server": "b", "flows": [{"type": "m.login.password"}], "type": "note", "active": true}`
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// A service would be called by another way than the configuration's, with no end to its
// time, or without its token, so that it never takes anything.
func TestServicesAreCalledByOurWay(t *testing.T) {
	const long = "o.abcdefghijklmnopqrstuvwxyz123456"
	for url, secret := range map[string]string{
		"pushbullet://" + long + "/device":                "Access-Token",
		"matrix://user:" + token + "@matrix.example.com/": "Authorization",
		"matrix://:" + token + "@matrix.example.com/":     "Authorization",
	} {
		way := &recorder{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := &client{ctx: ctx, way: way}
		service, err := open(alert.Secret(url), c)
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		_ = service.Send("text", &types.Params{}) // it holds the answer against what it has sent
		cancel()
		if len(way.asked) == 0 {
			t.Fatalf("%s: it is asked by a way of its own", url)
		}
		for _, req := range way.asked {
			if !errors.Is(req.Context().Err(), context.Canceled) {
				t.Errorf("%s: %s has no end", url, req.URL)
			}
		}
		if last := way.asked[len(way.asked)-1]; last.Header.Get(secret) == "" {
			t.Errorf("%s: %s bears no %s", url, last.URL, secret)
		}
	}
}
