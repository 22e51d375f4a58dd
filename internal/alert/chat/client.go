package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// client carries the library's requests within the time of one message.
type client struct {
	ctx context.Context
	way http.RoundTripper // nil where a URL is only checked

	mu     sync.Mutex // the library may still be at work when its time is over
	lines  []string
	wait   time.Duration
	asked  bool
	status int // of the last answer
}

// http is the client as the library wants it. Redirects are not followed.
func (c *client) http() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// said gives what was sent and answered.
func (c *client) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// after is how long the service asks to be left alone.
func (c *client) after() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wait
}

// refusedText says whether it is the text that was not taken: the service said so, or
// the library has not even asked it.
func (c *client) refusedText() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	default:
		return !c.asked
	}
}

const maxAnswer = 64 << 10

// RoundTrip carries out a request.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.way == nil {
		return nil, errors.New("the network is not used to check a URL")
	}
	c.mu.Lock()
	c.asked, c.status = true, 0
	c.mu.Unlock()
	res, err := c.way.RoundTrip(req.WithContext(c.ctx)) // the library's own may end never
	if err != nil {
		return nil, err
	}
	body, wait := io.LimitReader(res.Body, maxAnswer), time.Duration(0)
	if res.StatusCode == http.StatusTooManyRequests {
		data, err := io.ReadAll(body)
		if err != nil {
			return nil, errors.Join(err, res.Body.Close())
		}
		wait, body = asked(res.Header.Get("Retry-After"), data), bytes.NewReader(data)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait, c.status = wait, res.StatusCode
	c.lines = append(c.lines, "> "+req.Method+" "+req.URL.Host, "< "+res.Status)
	res.Body = &limited{body, res.Body}
	return res, nil
}

// asked is how long a service asks to be left alone: in seconds by a header, or as
// Telegram, Discord and Matrix say it in the answer.
func asked(header string, body []byte) time.Duration {
	var said struct {
		Parameters struct {
			Seconds float64 `json:"retry_after"`
		} `json:"parameters"`
		Seconds      float64 `json:"retry_after"`
		Milliseconds float64 `json:"retry_after_ms"`
	}
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil && json.Unmarshal(body, &said) == nil {
		seconds = max(said.Parameters.Seconds, said.Seconds, said.Milliseconds/1000)
	}
	if !(seconds > 0) { // no number too
		return 0
	}
	const day = 24 * 60 * 60
	return time.Duration(min(seconds, day) * float64(time.Second))
}

type limited struct {
	io.Reader
	io.Closer
}
