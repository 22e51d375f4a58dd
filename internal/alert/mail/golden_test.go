package mail

import (
	"flag"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/sites"
)

var update = flag.Bool("update", false, "write the golden files anew")

// read shows a mail as its reader gets it: the subject and both parts.
func read(t *testing.T, text []byte) string {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	out := "Subject: " + subject + "\n"
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return strings.ReplaceAll(strings.ReplaceAll(out, "\r\n", "\n"), "dnsteer "+version.Version+",", "dnsteer VERSION,")
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		out += "\n=== " + p.Header.Get("Content-Type") + "\n" + string(body)
	}
}

// People read these at night: a mail that does not say what happened, what was
// done and what helps, in its subject already, is one that is not understood.
func TestMailsAsTheyAreRead(t *testing.T) {
	ev := func(k sites.Kind, site, node, text string) sites.Event {
		return sites.Event{Kind: k, Severity: k.Severity(), Site: site, Node: node, Text: text}
	}
	out := ev(sites.FailoverOutage, "berlin", "a", "berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.")
	back := ev(sites.FailoverFailback, "berlin", "a", "berlin/a is back in DNS: it has answered for 5m (grace 5m).")
	back.Resolves = 1
	drill := out
	drill.Drill, drill.By = true, "ops"
	push := ev(sites.PublishFailed, "berlin", "", "router-berlin could not be brought to what it should hold: 10.1.0.1:8729: connection refused. It is tried again. Until then clients get app.example.lan A 10.1.0.11.")
	push.Severity, push.Target = sites.Critical, "router-berlin"
	var mass []sites.Event
	for i := range 200 {
		name := fmt.Sprintf("n%03d", i+1)
		mass = append(mass, ev(sites.FailoverOutage, "berlin", name, "berlin/"+name+" was taken out of DNS: it has not answered for 30s."))
	}
	for _, tt := range []struct {
		name   string
		events []sites.Event
	}{
		{"failover", []sites.Event{out}},
		{"resolved", []sites.Event{out, back}},
		{"drill", []sites.Event{drill}},
		{"site-down", []sites.Event{ev(sites.SiteDown, "berlin", "", "berlin cannot be seen for 30s: neither its resolver 10.1.0.1 nor any of its 2 nodes answers.")}},
		{"mass-failure", mass},
		{"publish-failed", []sites.Event{push}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			book := alert.NewBook([]alert.Route{{Name: "1", Match: alert.Match{Least: sites.Warning}, To: []string{"mail"}, Wait: 2 * time.Minute}}, 10*time.Second, 0)
			now := noon
			var last alert.Message
			for i, e := range tt.events {
				e.ID, e.Time = uint64(i+1), now
				book.Take(e, nil, now)
				if e.Resolves == 0 && len(tt.events) > 2 {
					continue // all of them at once
				}
				now = now.Add(5 * time.Minute)
				if list, _ := book.Due(now); len(list) > 0 {
					last = list[len(list)-1].Message
				}
			}
			now = now.Add(5 * time.Minute)
			if list, _ := book.Due(now); len(list) > 0 {
				last = list[len(list)-1].Message
			}
			last.Instance = "hq"
			s := New(Options{From: netmail.Address{Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}}})
			text, err := s.Compose(&last, now)
			if err != nil {
				t.Fatal(err)
			}
			got, file := read(t, text), filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the mail (-want +got):\n%s", diff)
			}
		})
	}
}
