package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// clientOf asks over pipes.
func clientOf(p *pipes) *Client {
	return &Client{where: "pipes", base: "http://dnsteer", http: &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil },
	}}}
}

// room is what a test has in virtual time.
type room struct {
	*testing.T
	pipes  *pipes
	server *Server
	client *Client
}

// bubble runs a test in virtual time with a server and a client.
func bubble(t *testing.T, f *fake, test func(r room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.follow = make(chan sites.Event)
		p := newPipes()
		s := serve(p, f.handler())
		c := clientOf(p)
		test(room{t, p, s, c})
		c.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

var errEnough = errors.New("enough")

// Who comes back after a broken connection would miss what happened meanwhile,
// or be told all of it again.
func TestStreamResumes(t *testing.T) {
	tests := []struct {
		name        string
		target      string
		lastEventID string
		want        uint64
	}{
		{"from now on", "/api/v1/events/stream", "", 41},
		{"behind a parameter", "/api/v1/events/stream?after=7", "", 7},
		{"from the start", "/api/v1/events/stream?after=0", "", 0},
		{"the header is newer", "/api/v1/events/stream?after=7", "9", 9},
		{"what it had was not stored", "/api/v1/events/stream", "43", 41},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{events: []sites.Event{{ID: 41}}}
			bubble(t, f, func(in room) {
				t, c := in.T, in.client
				header := http.Header{}
				if tt.lastEventID != "" {
					header.Set("Last-Event-ID", tt.lastEventID)
				}
				res, err := c.send(t.Context(), http.MethodGet, tt.target, nil, header)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if f.after != tt.want {
					t.Errorf("follows behind %d, want %d", f.after, tt.want)
				}
				go func() { f.follow <- sites.Event{ID: 42, Kind: sites.SiteUp, Site: "berlin", Text: "two\nlines"} }()
				got := make([]string, 0, 5)
				for r := bufio.NewScanner(res.Body); len(got) < 5 && r.Scan(); {
					got = append(got, r.Text())
				}
				want := []string{"retry: 2000", "", "id: 42", `data: {"id":42,"time":"0001-01-01T00:00:00Z","kind":"site_up","severity":"","site":"berlin","text":"two\nlines"}`, ""}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("stream (-want +got):\n%s", d)
				}
			})
		})
	}
}

// Followers of one site would be told of others; a stream that lives longer
// than any time limit of the server would break.
func TestFollow(t *testing.T) {
	f := &fake{events: []sites.Event{{ID: 9}}}
	bubble(t, f, func(in room) {
		t, c := in.T, in.client
		go func() {
			for id := range uint64(4) {
				time.Sleep(5 * time.Minute)
				f.follow <- sites.Event{ID: id + 10, Kind: sites.SiteUp, Site: [...]string{"berlin", "hamburg"}[id%2]}
			}
		}()
		var got []uint64
		err := c.Follow(t.Context(), EventQuery{After: 9, Site: "hamburg", Kinds: []sites.Kind{sites.SiteUp}}, func(e sites.Event) error {
			got = append(got, e.ID)
			if len(got) == 2 {
				return errEnough
			}
			return nil
		})
		if !errors.Is(err, errEnough) || f.after != 9 {
			t.Errorf("error %v, behind %d", err, f.after)
		}
		if d := cmp.Diff([]uint64{11, 13}, got); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
}

// Who follows a controller to which nothing has happened yet would miss what
// happens while the connection is broken.
func TestFollowFromTheStart(t *testing.T) {
	f := &fake{events: []sites.Event{{ID: 41}}, after: 7}
	bubble(t, f, func(in room) {
		close(f.follow)
		if err := in.client.Follow(in.Context(), EventQuery{}, nil); !errors.Is(err, ErrStreamEnded) {
			in.Error(err)
		}
		if f.after != 0 {
			in.Errorf("follows behind %d, want 0", f.after)
		}
	})
}

// A stop of the controller would wait for those who follow, and they would wait
// for ever for what does not come any more.
func TestStreamsEndWithTheServer(t *testing.T) {
	f := &fake{}
	bubble(t, f, func(in room) {
		t, s, c := in.T, in.server, in.client
		ended := make(chan error, 1)
		go func() { ended <- c.Follow(t.Context(), EventQuery{}, func(sites.Event) error { return nil }) }()
		synctest.Wait()
		start := time.Now()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, ErrStreamEnded) {
			t.Errorf("the follower is told %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}

// The same when the source of events lets a slow reader go.
func TestStreamEndsWithItsSource(t *testing.T) {
	f := &fake{}
	bubble(t, f, func(in room) {
		t, c := in.T, in.client
		close(f.follow)
		if err := c.Follow(t.Context(), EventQuery{}, nil); !errors.Is(err, ErrStreamEnded) {
			t.Errorf("the follower is told %v", err)
		}
	})
}

// A reader that stops reading would hold its place, and what is kept for it,
// for ever.
func TestSlowReaderIsLetGo(t *testing.T) {
	f := &fake{}
	bubble(t, f, func(in room) {
		t, p, s := in.T, in.pipes, in.server
		conn := p.dial()
		defer conn.Close()
		go conn.Write([]byte("GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\n\r\n"))
		synctest.Wait()
		if n := len(s.handler.streams); n != 1 {
			t.Fatalf("%d streams, want 1", n)
		}
		time.Sleep(writeTime + time.Second) // it has read not even the header
		synctest.Wait()
		if n := len(s.handler.streams); n != 0 {
			t.Errorf("%d streams, want 0", n)
		}
	})
}

// A controller that hangs would look like one to which nothing happens.
func TestSilentStreamIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		defer p.Close()
		go func() {
			conn, _ := p.Accept()
			defer conn.Close()
			http.ReadRequest(bufio.NewReader(conn))
			conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1\n\n"))
			http.ReadRequest(bufio.NewReader(conn)) // until it hangs up
		}()
		c := clientOf(p)
		defer c.Close()
		start := time.Now()
		err := c.Follow(t.Context(), EventQuery{}, nil)
		var lost *UnreachableError
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), "nothing is heard") {
			t.Errorf("told %v", err)
		}
		if took := time.Since(start); took != silence {
			t.Errorf("after %s, want %s", took, silence)
		}
	})
}

// Readers without number would take the memory and the time of the decisions.
func TestStreamsAreCounted(t *testing.T) {
	f := &fake{}
	bubble(t, f, func(in room) {
		t, s, c := in.T, in.server, in.client
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, maxStreams)
		for range maxStreams {
			go func() { ended <- c.Follow(ctx, EventQuery{}, nil) }()
		}
		synctest.Wait()
		var p *Problem
		if err := c.Follow(ctx, EventQuery{}, nil); !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
			t.Errorf("one too many is told %v", err)
		}
		cancel()
		for range maxStreams {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("a stream ends with %v", err)
			}
		}
		synctest.Wait()
		if n := len(s.handler.streams); n != 0 {
			t.Errorf("%d places are still taken", n)
		}
	})
}

// What claims to be a controller must not bring the commands down.
func FuzzReadEvents(f *testing.F) {
	f.Add("retry: 2000\n\nid: 1\ndata: {\"id\":1}\n\n: still there\n\n")
	f.Add("data: {\ndata: }\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		err := readEvents(strings.NewReader(in), func() {}, func(sites.Event) error { return nil })
		if err == nil {
			t.Fatal("a stream ends without a word")
		}
	})
}

// An event of several data lines is one event.
func TestReadEvents(t *testing.T) {
	var got []string
	err := readEvents(strings.NewReader("data: {\"id\":1,\ndata: \"text\":\"x\"}\n\nevent: y\n\n:\ndata:{\"id\":2}\n\ndata: {\"id\":3}"), func() {}, func(e sites.Event) error {
		got = append(got, fmt.Sprint(e.ID, e.Text))
		return nil
	})
	if d := cmp.Diff([]string{"1x", "2"}, got); d != "" || !errors.Is(err, ErrStreamEnded) {
		t.Errorf("%v\n%s", err, d)
	}
}
