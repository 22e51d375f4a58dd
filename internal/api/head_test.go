package api

import (
	"bufio"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Who looks with HEAD whether the stream of events is there, as monitors do, would hold
// one of its few places for as long as the connection lasts, and wait for the answer to
// what they ask next.
func TestHeadOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{follow: make(chan sites.Event)}
		p := newPipes()
		s := serve(p, f.handler())
		conn := p.dial()
		r := bufio.NewReader(conn)
		for _, request := range []string{"HEAD /api/v1/events/stream", "HEAD /-/healthy"} {
			go func() { _, _ = conn.Write([]byte(request + " HTTP/1.1\r\nHost: x\r\n\r\n")) }()
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			res, err := http.ReadResponse(r, &http.Request{Method: http.MethodHead})
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			_ = res.Body.Close()
			if want := map[bool]string{true: streamMedia, false: "application/json"}[request == "HEAD /api/v1/events/stream"]; res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != want {
				t.Errorf("%s: %d %s", request, res.StatusCode, res.Header.Get("Content-Type"))
			}
			synctest.Wait()
			if n := len(s.handler.streams); n != 0 {
				t.Errorf("%s holds %d places", request, n)
			}
		}
		_ = conn.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
