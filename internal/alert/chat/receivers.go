package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// patience is how long a receiver that takes nothing, while others do, keeps the channel
// from its next message.
const patience = 15 * time.Minute

// each gives a URL once for each of its receivers, where the library calls them one after
// the other: it ends at the first that does not take the message, and begins with all of
// them again.
func each(u *url.URL) (list []*url.URL) {
	name, _, _ := strings.Cut(u.Scheme, "+")
	switch strings.ToLower(name) {
	case "telegram":
		query := u.Query()
		var chats []string
		for _, key := range slices.Sorted(maps.Keys(query)) { // of the two names the library takes either, by chance
			if k := strings.ToLower(key); k == "chats" || k == "channels" {
				chats = append(chats, strings.Split(query.Get(key), ",")...)
				query.Del(key)
			}
		}
		for _, chat := range chats {
			if chat != "" {
				query.Set("chats", chat)
				one := *u
				one.RawQuery = query.Encode()
				list = append(list, &one)
			}
		}
	case "pushbullet", "twilio":
		if u.Fragment != "" { // a channel of Pushbullet, which the library takes behind another receiver alone
			break
		}
		for part := range strings.SplitSeq(strings.Trim(u.Path, "/"), "/") {
			if part != "" {
				one := *u
				one.Path, one.RawPath = "/"+part, ""
				list = append(list, &one)
			}
		}
	}
	if len(list) == 0 {
		return []*url.URL{u}
	}
	return list
}

// share gives a receiver its share of the time that is left.
func share(ctx context.Context, receivers int) (context.Context, context.CancelFunc) {
	at, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(at)/time.Duration(receivers))
}

// round is how a message fares with all receivers.
type round struct {
	took, failed []int
	faults       []error
	// forGood says which of those that failed will not take it later either.
	forGood []bool
	after   time.Duration
}

func (r *round) add(i int, c *client, err error) {
	if err == nil {
		r.took = append(r.took, i)
		return
	}
	r.failed, r.faults, r.forGood = append(r.failed, i), append(r.faults, err), append(r.forGood, c.forGood())
	r.after = max(r.after, c.after())
}

// judge makes an error of what has failed. A receiver that takes nothing is left out after
// a while where others have the message: they would get it again and again, and the
// next ones never.
func (s *Service) judge(id string, r *round) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range r.took {
		delete(s.failing, i)
	}
	delete(s.taken, id)
	if len(r.faults) == 0 {
		return nil
	}
	err := fmt.Errorf("%s: %w", s.scheme, errors.Join(r.faults...))
	if len(r.took) > 0 {
		wait := false
		for n, i := range r.failed {
			if s.failing[i].IsZero() {
				s.failing[i] = time.Now()
			}
			wait = wait || !r.forGood[n] && time.Since(s.failing[i]) < patience
		}
		if !wait {
			return &alert.Partial{Err: err}
		}
		s.note(id, r.took)
	}
	return &alert.RefusedError{Err: err, After: r.after}
}

// maxNoted bounds the messages of which is known who has them.
const maxNoted = 16

func (s *Service) note(id string, took []int) {
	if len(s.taken) >= maxNoted { // of tests, or of a channel whose messages were given up
		clear(s.taken)
	}
	s.taken[id] = make(map[int]bool)
	for _, i := range took {
		s.taken[id][i] = true
	}
}

func (s *Service) has(id string, i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[id][i]
}

// forGood says whether the service has said that it will never take it.
func (c *client) forGood() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status >= 400 && c.status < 500 && c.status != http.StatusTooManyRequests && c.status != http.StatusRequestTimeout
}
