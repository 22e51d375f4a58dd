package web

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"testing"

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
