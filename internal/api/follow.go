package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// silence is how long a stream may say nothing, not even that it is there.
const silence = 3 * heartbeat

// maxEventSize bounds one event of a stream, in bytes.
const maxEventSize = 1 << 20

// ErrStreamEnded is the end of a stream: the controller stops, or the reader
// was too slow. Who wants to go on asks again with the last ID.
var ErrStreamEnded = errors.New("the stream of events has ended")

// Follow gives the events of the query's kinds, site and node behind q.After,
// first those that are stored and then each as it comes. It returns each's
// error, ctx's, or why the stream has ended ([ErrStreamEnded],
// [*UnreachableError], [*Problem]).
func (c *Client) Follow(ctx context.Context, q EventQuery, each func(sites.Event) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errors.New("nothing is heard of it any more")) })
	defer timer.Stop()

	path := "/api/v1/events/stream"
	header := http.Header{"Accept": {streamMedia}, "Last-Event-Id": {strconv.FormatUint(q.After, 10)}}
	q.After = 0
	if query := q.Encode(); query != "" {
		path += "?" + query
	}
	res, err := c.send(inner, http.MethodGet, path, nil, header)
	if err == nil {
		defer res.Body.Close()
		err = readEvents(res.Body, func() { timer.Reset(silence) }, each)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case inner.Err() != nil:
		return c.unreachable(context.Cause(inner))
	default:
		return err
	}
}

// readEvents reads a stream (SSE) to its end. alive is called for every line.
func readEvents(r io.Reader, alive func(), each func(sites.Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEventSize)
	var data strings.Builder
	for lines.Scan() {
		alive()
		line := lines.Text()
		switch field, value, _ := strings.Cut(line, ":"); {
		case line == "" && data.Len() > 0:
			var e sites.Event
			if err := json.Unmarshal([]byte(data.String()), &e); err != nil {
				return fmt.Errorf("read the stream of events: %w", err)
			}
			data.Reset()
			if err := each(e); err != nil {
				return err
			}
		case field == "data":
			if data.Len()+len(value) > maxEventSize {
				return errors.New("read the stream of events: an event is too large")
			}
			if data.Len() > 0 {
				data.WriteByte('\n')
			}
			data.WriteString(strings.TrimPrefix(value, " "))
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("read the stream of events: %w", lines.Err())
	}
	return ErrStreamEnded
}
