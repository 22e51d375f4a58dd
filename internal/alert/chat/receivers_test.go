package chat

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// chats plays the service: what each chat has taken, and what it answers otherwise.
type chats struct {
	got    []string
	answer map[string]int
}

func (g *chats) RoundTrip(req *http.Request) (*http.Response, error) {
	var body struct {
		Chat string `json:"chat_id"`
	}
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	status, text := 200, `{"ok": true, "result": {}}`
	if code := g.answer[body.Chat]; code != 0 {
		status, text = code, `{"ok": false, "description": "no"}`
	} else {
		g.got = append(g.got, body.Chat)
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// One chat that has thrown the bot out would keep each message from the chats behind it in
// the URL, and have those before it told the same every quarter of an hour, for two days.
func TestOneReceiverOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{URL: "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@ops,@boss,@night"})
		if err != nil {
			t.Fatal(err)
		}
		g := &chats{answer: map[string]int{"@ops": 403}}
		s.way = g
		m := alert.Sample(alert.Firing, noon)
		var partial *alert.Partial
		send := func(id string, want ...string) error {
			t.Helper()
			g.got, m.ID = nil, id
			err := s.Send(t.Context(), &m, nil)
			if diff := cmp.Diff(want, g.got); diff != "" {
				t.Errorf("%s went to (-want +got):\n%s", id, diff)
			}
			return err
		}
		if err := send("thrown out", "@boss", "@night"); !errors.As(err, &partial) {
			t.Errorf("%v", err)
		}
		g.answer = map[string]int{"@boss": 503}
		for range 3 { // a fault that may pass is waited for, and nobody is told twice
			want := []string{"@ops", "@night"}
			if s.has("busy", 0) {
				want = nil
			}
			if err := send("busy", want...); err == nil || errors.As(err, &partial) {
				t.Errorf("%v", err)
			}
			time.Sleep(time.Minute)
		}
		g.answer = nil
		if err := send("busy", "@boss"); err != nil {
			t.Error(err)
		}
		g.answer = map[string]int{"@night": 503}
		if err := send("busy for long", "@ops", "@boss"); err == nil || errors.As(err, &partial) {
			t.Errorf("%v", err)
		}
		time.Sleep(patience)
		if err := send("busy for long"); !errors.As(err, &partial) {
			t.Errorf("%v", err)
		}
		if err := send("the next", "@ops", "@boss"); !errors.As(err, &partial) {
			t.Errorf("%v", err)
		}
		g.answer = map[string]int{"@ops": 401, "@boss": 401, "@night": 401}
		if err := send("the token is wrong"); err == nil || errors.As(err, &partial) {
			t.Errorf("%v", err)
		}
	})
}

// A receiver would be left out, or called by what is no name of it.
func TestReceivers(t *testing.T) {
	for in, want := range map[string][]string{
		"telegram://1:a@telegram?chats=@a,-5&preview=no": {"telegram://1:a@telegram?chats=%40a&preview=no", "telegram://1:a@telegram?chats=-5&preview=no"},
		"telegram://1:a@telegram?Channels=@a,@b":         {"telegram://1:a@telegram?chats=%40a", "telegram://1:a@telegram?chats=%40b"},
		"telegram://1:a@telegram?channels=@a&chats=5,6":  {"telegram://1:a@telegram?chats=%40a", "telegram://1:a@telegram?chats=5", "telegram://1:a@telegram?chats=6"},
		"telegram://1:a@telegram?chats=@a":               {"telegram://1:a@telegram?chats=%40a"},
		"telegram://1:a@telegram?chats=@a,":              {"telegram://1:a@telegram?chats=%40a"},
		"telegram://1:a@telegram?chats=":                 {"telegram://1:a@telegram?chats="},
		"twilio://sid:t@+15550001/+15550002/+15550003":   {"twilio://sid:t@+15550001/+15550002", "twilio://sid:t@+15550001/+15550003"},
		"pushbullet://token/device/a@example.com":        {"pushbullet://token/device", "pushbullet://token/a@example.com"},
		"pushbullet://token/device#tag":                  {"pushbullet://token/device#tag"},
		"pushbullet://token":                             {"pushbullet://token"},
		"ntfy://ntfy.example.com/a":                      {"ntfy://ntfy.example.com/a"},
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range each(u) {
			got = append(got, one.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", in, got)
		}
	}
}
