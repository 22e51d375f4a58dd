package web

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// longLog is one of so many events, of which those before fault cannot be read.
type longLog struct {
	*fake
	events, fault uint64
	most          int // that were asked for at a time
}

func (l *longLog) Events(_ context.Context, q api.EventQuery) (list []sites.Event, err error) {
	l.most = max(l.most, q.Limit)
	id := l.events
	if q.Before > 0 {
		id = q.Before - 1
	}
	if id < l.fault {
		return nil, errors.New("the disk is gone")
	}
	for ; id > 0 && len(list) < q.Limit; id-- {
		list = append(list, sites.Event{ID: id, Kind: sites.SiteUp, Site: "berlin", Text: "berlin is seen."})
	}
	return list, nil
}

// If this fails, an export ends after the newest events without a word, holds all of them
// in memory, or one that was cut off is taken for whole.
func TestExportIsWhole(t *testing.T) {
	for _, count := range []uint64{0, 1, exportPiece, 3*exportPiece + 7, 20_000} {
		l := &longLog{fake: &fake{}, events: count}
		h := pagesOf(t, l.fake)
		h.Reader = l
		rows, err := csv.NewReader(ask(h, auth.Viewer, http.MethodGet, "/events.csv", "").Body).ReadAll()
		if err != nil || uint64(len(rows)) != count+1 || l.most > exportPiece {
			t.Fatalf("of %d events %d rows, %d at a time (%v)", count, len(rows), l.most, err)
		}
		for i, row := range rows[1:] {
			if want := fmt.Sprint(count - uint64(i)); row[0] != want {
				t.Fatalf("of %d events: row %d is %s, want %s", count, i, row[0], want)
			}
		}
	}
	l := &longLog{fake: &fake{}, events: 3 * exportPiece, fault: exportPiece}
	h := pagesOf(t, l.fake)
	h.Reader = l
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("what is cut off ends with %v", v)
		}
	}()
	ask(h, auth.Viewer, http.MethodGet, "/events.csv", "")
	t.Error("what is cut off ends as if it were whole")
}

// If this fails, who is at the end of a slow line never gets the events: the time for a page
// is over before all are sent, however often they try.
func TestExportOverASlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 5*exportPiece + 7
		l := &longLog{fake: &fake{}, events: count}
		h := pagesOf(t, l.fake)
		h.Reader = l
		server := &http.Server{WriteTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), &api.Caller{Name: "bob", Role: auth.Viewer})))
		})}
		ours, theirs := net.Pipe()
		at := once{make(chan net.Conn, 1), make(chan struct{})}
		at.conn <- theirs
		go func() { _ = server.Serve(at) }()
		go func() {
			_, _ = io.WriteString(ours, "GET /events.csv HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}()
		res, err := http.ReadResponse(bufio.NewReader(slowly{ours}), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(res.Body).ReadAll()
		if err != nil || len(rows) != count+1 {
			t.Errorf("of %d events %d rows: %v", count, len(rows), err)
		}
		_ = res.Body.Close()
		_ = server.Close()
	})
}

// slowly reads as a line of 2 kB/s does.
type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.Reader.Read(p[:min(len(p), 2048)])
}
