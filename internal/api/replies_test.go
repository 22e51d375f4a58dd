package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// post sends a command with a key, and gives status and body.
func post(h *Handler, key, body string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/commands", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	h.Socket().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const pauseBerlin = `{"verb":"pause","site":"berlin"}`

// A command whose answer was lost, and which is sent again, would be carried
// out twice.
func TestSameKeySameReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		f := &fake{onCommand: func(context.Context, sites.Command) (sites.Reply, error) {
			n++
			return sites.Reply{Text: fmt.Sprintf("The %d.", n), Refused: n == 3}, nil
		}}
		h := f.handler()
		want := func(key, body string, status int, text string) {
			t.Helper()
			if code, got := post(h, key, body); code != status || !strings.Contains(got, text) {
				t.Errorf("key %q: %d %s, want %d %s", key, code, got, status, text)
			}
		}
		want("k", pauseBerlin, 200, "The 1.")
		want("k", pauseBerlin, 200, "The 1.")
		want("other", pauseBerlin, 200, "The 2.")
		want("refused", pauseBerlin, 409, "The 3.")
		want("refused", pauseBerlin, 409, "The 3.")
		want("k", `{"verb":"resume","site":"berlin"}`, 422, "another command had this key")
		want("", pauseBerlin, 200, "The 4.")
		want("", pauseBerlin, 200, "The 5.")
		want(strings.Repeat("k", maxKey+1), pauseBerlin, 400, "longer than")
		time.Sleep(replyTime - time.Second)
		want("k", pauseBerlin, 200, "The 1.")
		time.Sleep(time.Second)
		want("k", pauseBerlin, 200, "The 6.")
	})
}

// The same when both are under way at once.
func TestSameKeyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		f := &fake{onCommand: func(context.Context, sites.Command) (sites.Reply, error) {
			time.Sleep(time.Second)
			n++
			return sites.Reply{Text: "Done."}, nil
		}}
		h := f.handler()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if code, got := post(h, "k", pauseBerlin); code != 200 {
					t.Errorf("%d %s", code, got)
				}
			})
		}
		all.Wait()
		if n != 1 {
			t.Errorf("carried out %d times", n)
		}
	})
}

// A command that failed could never be sent again with its key.
func TestErrorsAreForgotten(t *testing.T) {
	n := 0
	f := &fake{onCommand: func(context.Context, sites.Command) (sites.Reply, error) {
		n++
		switch n {
		case 1:
			return sites.Reply{}, errors.New("the loop has stopped")
		case 2:
			panic("out of cheese")
		}
		return sites.Reply{Text: "Done."}, nil
	}}
	h := f.handler()
	for i, want := range []int{500, 500, 200} {
		if code, body := post(h, "k", pauseBerlin); code != want {
			t.Errorf("time %d: %d %s, want %d", i+1, code, body, want)
		}
	}
}

// Whoever sends a new key each time would fill the memory.
func TestRepliesAreBounded(t *testing.T) {
	r := newReplies(nil)
	do := func() (sites.Reply, error) { return sites.Reply{}, nil }
	for i := range 3 * maxReplies {
		if _, err := r.once(t.Context(), fmt.Sprint(i), sites.Command{}, do); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.byKey) > maxReplies || len(r.order) > maxReplies {
		t.Errorf("%d keys, %d in order, want at most %d", len(r.byKey), len(r.order), maxReplies)
	}
}

// A command that was begun is carried out also when its sender hangs up: the
// loop has it already.
func TestCommandOutlivesItsSender(t *testing.T) {
	f := &fake{onCommand: func(ctx context.Context, _ sites.Command) (sites.Reply, error) {
		return sites.Reply{Text: "Done."}, ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/commands", strings.NewReader(pauseBerlin))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.handler().Socket().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
